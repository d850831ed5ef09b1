package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Row is what the store says of a run.
type Row struct {
	Fire   Fire
	Status entity.Status
	// start is the entry of its last attempt, in µs since the epoch.
	Start int64
}

// Rows are what the records in the store say of the planned fires.
type Rows struct {
	Rows int `json:"rows"`
	// Missing have no record, Twice more than one or a record of what nobody
	// had planned, Unfinished one that is no success.
	Missing    int `json:"missing"`
	Twice      int `json:"twice"`
	Unfinished int `json:"unfinished"`
	// Stale hold the result of an attempt that had been lost and retried.
	Stale int `json:"stale"`
	// Retried are fires of which more than one attempt was entered. Superseded are those of which
	// a former attempt was entered after a later one. A node that was frozen on the way there does
	// that. The store refuses its result, and targets refuse it by the fencing token.
	Retried    int `json:"retried"`
	Superseded int `json:"superseded"`
}

// Check compares records with the plan up to a moment, and with the entries.
func (l *Ledger) Check(rows []Row, until time.Time) *Rows {
	out := &Rows{Retried: l.retried()}
	l.mu.Lock()
	defer l.mu.Unlock()
	entries := map[Fire][]StartEvent{}
	for _, s := range l.starts {
		entries[Fire{s.Job, s.ScheduledTime}] = append(entries[Fire{s.Job, s.ScheduledTime}], s)
	}
	for _, of := range entries {
		if superseded(of) {
			out.Superseded++
		}
	}
	times := map[Fire]int{}
	for _, r := range rows {
		if r.Fire.ScheduledTime >= until.UnixMilli() {
			continue
		}
		out.Rows++
		times[r.Fire]++
		switch {
		case times[r.Fire] > 1 || !l.planned(r.Fire):
			out.Twice++
		case r.Status != entity.StatusSuccess:
			out.Unfinished++
		case stale(r.Start, entries[r.Fire]):
			out.Stale++
		}
	}
	l.each(until, func(f Fire) {
		if times[f] == 0 {
			out.Missing++
		}
	})
	return out
}

// last is the entry of the highest attempt.
func last(entries []StartEvent) StartEvent {
	return slices.MaxFunc(entries, func(a, b StartEvent) int { return cmp.Compare(a.Attempt, b.Attempt) })
}

// superseded reports whether the entry of the highest attempt is not the latest.
func superseded(entries []StartEvent) bool {
	of := last(entries)
	return slices.ContainsFunc(entries, func(s StartEvent) bool { return s.At > of.At && s.Attempt < of.Attempt })
}

// stale reports whether a record of that start is nearer to the entry of a
// former attempt than to that of the last.
func stale(start int64, entries []StartEvent) bool {
	if len(entries) == 0 {
		return false
	}
	of := last(entries)
	return slices.ContainsFunc(entries, func(s StartEvent) bool {
		return s.Attempt < of.Attempt && distance(start, s.At) < distance(start, of.At)
	})
}

func distance(a, b int64) int64 { return max(a-b, b-a) }
