package backfill

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Source says what became of scheduled times.
type Source interface {
	// FiresAt is that of repository.Backfills, or of repository.BackfillWriter.
	FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error)
	// MadeGood is the one beside it.
	MadeGood(ctx context.Context, ids []string) (map[string]bool, error)
}

// Look reads what became of the times of a job. With includeFailed it also finds
// what of them is to be run again.
func Look(ctx context.Context, from Source, jobID string, times []time.Time, includeFailed bool) (Past, error) {
	fires, err := from.FiresAt(ctx, jobID, times)
	if err != nil {
		return Past{}, err
	}
	p := Read(fires)
	if !includeFailed {
		return p, nil
	}
	var ids []string
	for _, at := range times {
		ids = append(ids, p.failed(at)...)
	}
	good, err := from.MadeGood(ctx, ids)
	if err != nil {
		return Past{}, err
	}
	p.again = map[int64][]string{}
	for _, at := range times {
		left := slices.DeleteFunc(p.failed(at), func(id string) bool { return good[id] })
		if len(left) > 0 {
			p.again[at.UnixMilli()] = left
		}
	}
	return p, nil
}

// Past is what the store holds of the runs of some scheduled times, by the
// millisecond.
type Past struct {
	planned, backfilled map[int64][]*entity.Execution
	// again are the executions to be repeated.
	again map[int64][]string
	// live are the keys of the fires that are not over.
	live map[string]bool
}

// Read sorts what repository.Backfills.FiresAt returned.
func Read(fires []*entity.Execution) Past {
	p := Past{
		planned: map[int64][]*entity.Execution{}, backfilled: map[int64][]*entity.Execution{}, live: map[string]bool{},
	}
	for _, e := range fires {
		if !e.Status.Final() {
			p.live[e.FireKey] = true
		}
		at, scheduled := identity.ScheduledTimeOf(e.FireKey)
		if !scheduled {
			continue // by hand, or a skipped range
		}
		if ms := at.UnixMilli(); identity.IsBackfill(e.FireKey) {
			p.backfilled[ms] = append(p.backfilled[ms], e)
		} else if e.Status != entity.StatusSkipped {
			p.planned[ms] = append(p.planned[ms], e)
		}
	}
	return p
}

// Ran reports that a time must not run again: a run of its planned fire is live
// or over, or a backfill had it, whatever became of that.
func (p Past) Ran(at time.Time) bool { return len(p.runs(at)) > 0 }

// runs are those of a time: of its backfill, which came later, or of its planned fire.
func (p Past) runs(at time.Time) []*entity.Execution {
	if backfilled := p.backfilled[at.UnixMilli()]; len(backfilled) > 0 {
		return backfilled
	}
	return p.planned[at.UnixMilli()]
}

// Again are the ids of the executions of a time that are to be repeated: those that
// failed, and that no retry has made good or is about to. It is empty for a fire that is
// not over.
func (p Past) Again(at time.Time) []string { return p.again[at.UnixMilli()] }

// failed are the ids of the executions of a time that failed; none while it is not over.
func (p Past) failed(at time.Time) (ids []string) {
	for _, e := range p.runs(at) {
		switch {
		case !e.Status.Final():
			return nil
		case e.Status.Failed():
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// open keeps the times whose runs of a backfill are not all over.
func (p Past) open(b entity.Backfill) []time.Time {
	var out []time.Time
	for _, at := range b.Open {
		if p.live[identity.BackfillKey(at)] || p.live[identity.RepeatKey(at, b.ID)] {
			out = append(out, at)
		}
	}
	return out
}
