// Package overlap decides what a fire of a coordinated job does while earlier
// fires are live (engine rule 16). It counts fires, not shards, and needs no
// more than their numbers: the work per fire does not grow with the queue. The
// caller holds the job's lock, so that two decisions never see the same places
// free.
package overlap

import "github.com/platform-scheduler/platform-scheduler/domain/entity"

// Action is what a new fire does.
type Action int

// The verdicts. The zero value is none of them.
const (
	// Start: the fire takes a place and may run now.
	Start Action = iota + 1
	// Queue: the fire waits until there is Room for it.
	Queue
	// Skip: the fire is recorded as SKIPPED with the decision's reason.
	Skip
)

// Decision is the answer to one new fire.
type Decision struct {
	Action Action
	// Reason is set with Skip: OVERLAP or QUEUE_FULL.
	Reason entity.Reason
	// Replace is how many of the active fires are to be cancelled, oldest first.
	// The new fire waits until they are final; one that is cancelled already may
	// be among them again.
	Replace int
	// Supersede: the queued fires end as SKIPPED(REPLACED).
	Supersede bool
}

// Admit decides about one new fire of a job. active and queued are the numbers of the
// job's fires that are not final. limit is the number of fires that may be active; 0 or
// less means unlimited under PARALLEL and one under every other policy. maxQueued bounds
// the queue of PARALLEL and SERIAL.
//
// Under PARALLEL and SERIAL a fire never overtakes queued ones. After a limit was raised,
// a slot may be free while fires wait. Then the fire queues behind them, and they start in
// order. A transaction that frees a place, or makes one by an edit, lets as many start
// as there is Room for.
func Admit(policy entity.OverlapPolicy, limit, maxQueued, active, queued int) Decision {
	limit = effective(policy, limit)
	room := limit == 0 || active < limit
	switch policy {
	case entity.OverlapDiscard:
		if limit == 0 || active+queued < limit {
			return Decision{Action: Start}
		}
		return Decision{Action: Skip, Reason: entity.ReasonOverlap}
	case entity.OverlapReplace:
		if room {
			return Decision{Action: Start, Supersede: queued > 0}
		}
		return Decision{Action: Queue, Replace: active - limit + 1, Supersede: queued > 0}
	default:
		switch {
		case limit == 0, room && queued == 0:
			return Decision{Action: Start}
		case queued < maxQueued:
			return Decision{Action: Queue}
		default:
			return Decision{Action: Skip, Reason: entity.ReasonQueueFull}
		}
	}
}

// Free reports whether one more fire would start at once, and neither wait nor
// end another one. The arguments are those of Admit.
func Free(policy entity.OverlapPolicy, limit, active, queued int) bool {
	d := Admit(policy, limit, 0, active, queued)
	return d.Action == Start && !d.Supersede
}

// FreeSlots is how many queued fires may become active now, the oldest first. limit
// is the job's FireLimit, 0 or less for none; most bounds the answer.
func FreeSlots(limit, active, most int) int {
	if limit <= 0 {
		return most
	}
	return min(max(limit-active, 0), most)
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
