// Package overlap decides what a fire of a coordinated job does while earlier
// fires are live (engine rule 16). It counts fires, not shards. The caller
// holds the job's lock, so that two decisions never see the same places free.
package overlap

import (
	"cmp"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Verdict is what a new fire does.
type Verdict int

// The verdicts. The zero value is none of them.
const (
	// Start: the fire takes a place and may run now.
	Start Verdict = iota + 1
	// Queue: the fire waits until Promote gives it a place.
	Queue
	// Skip: the fire is recorded as SKIPPED with the decision's reason.
	Skip
)

// Decision is the answer to one new fire.
type Decision struct {
	Verdict Verdict
	// Reason is set with Skip: OVERLAP or QUEUE_FULL.
	Reason entity.Reason
	// Replace are the active fires to cancel, oldest first. The new fire waits
	// until they are final; one that is cancelled already may be named again.
	Replace []entity.LiveFire
	// Supersede are the queued fires to end as SKIPPED(REPLACED), oldest first.
	Supersede []entity.LiveFire
}

// Admit decides about one new fire of a job. live are the job's fires that are
// not final, in any order, and is left as it is; limit is the number of fires
// that may be active, where 0 or less means unlimited under PARALLEL and one
// under every other policy; maxQueued bounds the queue of PARALLEL and SERIAL.
//
// Under PARALLEL and SERIAL a fire never overtakes queued ones: where a place
// is free although fires wait, which happens after a limit was raised, it
// queues behind them and Promote starts them in order. Whoever frees a place,
// or makes one by an edit, calls Promote in the same transaction.
func Admit(policy entity.OverlapPolicy, limit, maxQueued int, live []entity.LiveFire) Decision {
	limit = effective(policy, limit)
	active, queued := split(live)
	room := limit == 0 || len(active) < limit
	switch policy {
	case entity.OverlapDiscard:
		if limit == 0 || len(live) < limit {
			return Decision{Verdict: Start}
		}
		return Decision{Verdict: Skip, Reason: entity.ReasonOverlap}
	case entity.OverlapReplace:
		if room {
			return Decision{Verdict: Start, Supersede: queued}
		}
		return Decision{Verdict: Queue, Replace: active[:len(active)-limit+1], Supersede: queued}
	default:
		switch {
		case limit == 0, room && len(queued) == 0:
			return Decision{Verdict: Start}
		case len(queued) < maxQueued:
			return Decision{Verdict: Queue}
		default:
			return Decision{Verdict: Skip, Reason: entity.ReasonQueueFull}
		}
	}
}

// Free reports whether one more fire would start at once, and neither wait nor
// end another one. The arguments are those of Admit.
func Free(policy entity.OverlapPolicy, limit int, live []entity.LiveFire) bool {
	d := Admit(policy, limit, 0, live)
	return d.Verdict == Start && len(d.Supersede) == 0
}

// Promote lists the queued fires that may become active now, in the order of
// their Seq. live is what is left after a fire ended and is not changed; limit
// is the job's FireLimit, 0 or less for none.
func Promote(limit int, live []entity.LiveFire) []entity.LiveFire {
	active, queued := split(live)
	if limit <= 0 {
		return queued
	}
	free := max(limit-len(active), 0)
	return queued[:min(free, len(queued))]
}

func effective(policy entity.OverlapPolicy, limit int) int {
	switch {
	case limit > 0:
		return limit
	case policy == entity.OverlapSerial, policy == entity.OverlapDiscard, policy == entity.OverlapReplace:
		return 1
	default:
		return 0
	}
}

// split sorts the fires by Seq, the active ones apart from the queued.
func split(live []entity.LiveFire) (active, queued []entity.LiveFire) {
	for _, f := range live {
		if f.Active {
			active = append(active, f)
		} else {
			queued = append(queued, f)
		}
	}
	bySeq := func(a, b entity.LiveFire) int { return cmp.Compare(a.Seq, b.Seq) }
	slices.SortStableFunc(active, bySeq)
	slices.SortStableFunc(queued, bySeq)
	return active, queued
}
