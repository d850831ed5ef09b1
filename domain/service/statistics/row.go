package statistics

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// LateAfter is how long after its due time a run of the schedule starts that counts as
// late.
const LateAfter = time.Second

// Row is what the ends of one job, group, node or cluster add up to in a period. Sums
// are the same in any order and grouping of the ends. The zero value has counted
// nothing. Not to be copied, and not safe for concurrent use.
type Row struct {
	// Runs are final executions other than SKIPPED; the next five are those by state.
	Runs, Success, Failed, Timeout, Cancelled, Dead int64
	// Skipped counts fires that did not run, each one of a range.
	Skipped int64
	// Retries are those by the engine within the runs.
	Retries int64
	// DurationMs and LatenessMs are sums; how many of each there are, their histograms
	// say. A run that never started has no duration, and what the schedule did not
	// start, or had to be retried, no lateness.
	DurationMs, LatenessMs int64
	// LateRuns were late by more than LateAfter.
	LateRuns           int64
	Duration, Lateness Histogram
}

// Add counts an end. That of a shard counts as a run of its own: see Sums.Add and
// ShardedFire for where that is meant.
func (r *Row) Add(e *End) {
	if e.Status == entity.StatusSkipped {
		r.Skipped = sum(r.Skipped, int64(e.Fires))
		return
	}
	r.Runs = sum(r.Runs, 1)
	switch e.Status {
	case entity.StatusSuccess:
		r.Success = sum(r.Success, 1)
	case entity.StatusFailed:
		r.Failed = sum(r.Failed, 1)
	case entity.StatusTimeout:
		r.Timeout = sum(r.Timeout, 1)
	case entity.StatusCancelled:
		r.Cancelled = sum(r.Cancelled, 1)
	case entity.StatusDead:
		r.Dead = sum(r.Dead, 1)
	}
	r.Retries = sum(r.Retries, int64(e.Retries))
	if e.Started {
		r.DurationMs = sum(r.DurationMs, millis(e.Duration))
		r.Duration.Add(e.Duration)
	}
	if e.Timed {
		r.LatenessMs = sum(r.LatenessMs, millis(e.Lateness))
		r.Lateness.Add(e.Lateness)
		if e.Lateness > LateAfter {
			r.LateRuns = sum(r.LateRuns, 1)
		}
	}
}

// Merge counts what another row has counted.
func (r *Row) Merge(o *Row) {
	from := o.counts()
	for i, to := range r.counts() {
		*to = sum(*to, *from[i])
	}
	r.Duration.Merge(&o.Duration)
	r.Lateness.Merge(&o.Lateness)
}

func (r *Row) counts() [11]*int64 {
	return [...]*int64{
		&r.Runs, &r.Success, &r.Failed, &r.Timeout, &r.Cancelled, &r.Dead,
		&r.Skipped, &r.Retries, &r.DurationMs, &r.LatenessMs, &r.LateRuns,
	}
}

// AppendHistograms adds the stored form of both histograms to dst, that of durations
// first. DecodeHistograms of the row reads it.
func (r *Row) AppendHistograms(dst []byte) []byte { return r.Lateness.Append(r.Duration.Append(dst)) }

// DecodeHistograms replaces both histograms by stored ones; see the function of this
// name.
func (r *Row) DecodeHistograms(data []byte) error {
	return DecodeHistograms(data, &r.Duration, &r.Lateness)
}

// StoredRow is a row as the store has it.
type StoredRow struct {
	Row
	// FoldSeq is the number of the last batch that the row has counted.
	FoldSeq int64
}

// Apply counts the part of batch seq once: it changes nothing and answers false when
// the row has counted that batch, or a later one, already.
func (s *StoredRow) Apply(seq int64, part *Row) bool {
	if s.FoldSeq >= seq {
		return false
	}
	s.Merge(part)
	s.FoldSeq = seq
	return true
}
