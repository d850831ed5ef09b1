// Package retry decides what follows an attempt: another one, after which
// wait, or which final state (engine rules 19, 20 and 28).
package retry

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// MaxNodeLosses is how often a run is started again because its node died. A
// run that kills its node must not kill all of them.
const MaxNodeLosses = 3

// Input is an attempt that ended, and what its run has been through.
type Input struct {
	Policy     entity.RetryPolicy
	OnNodeLoss entity.OnNodeLoss
	// Outcome of the attempt. A lost node is FAILED with reason NODE_LOST, a
	// stop of the node FAILED with reason SHUTDOWN.
	Outcome entity.Outcome
	// RetryCount and NodeLosses are those of the run so far.
	RetryCount int
	NodeLosses int
	// Random spreads the wait; it is in [0, 1).
	Random float64
}

// Decision is what follows.
type Decision struct {
	// Retry: the run goes back to WAITING for Wait; else Status is final.
	Retry  bool
	Wait   time.Duration
	Status entity.Status
	// Note says what the target of a call asked for, and what it gets.
	Note string
	// NodeLoss: the attempt is repeated because its node died, which counts
	// among the losses and not among the retries. After a stop of the node it is
	// false, and nothing is counted.
	NodeLoss bool
	// RetryCount and NodeLosses are the run's numbers after the decision.
	RetryCount int
	NodeLosses int
}

// Decide is a pure function of its input. CANCELLED is never repeated, and
// neither is what succeeded. A state that no attempt can end in, such as
// RUNNING, counts as FAILED.
//
// FAILED and TIMEOUT mean that no retry was due: none was asked for, or the
// reason or the handler forbade it. DEAD means that retries were asked for and
// are used up, whatever the last cause was. Attempts that a dead node took
// with it count apart, up to MaxNodeLosses, and a planned stop of a node
// counts nowhere.
func Decide(in Input) Decision {
	d := Decision{Status: final(in.Outcome.Status), RetryCount: in.RetryCount, NodeLosses: in.NodeLosses}
	if d.Status != entity.StatusFailed && d.Status != entity.StatusTimeout {
		return d
	}
	if in.Outcome.NoRetry || forbidden(in.Policy.NoRetryOn, in.Outcome) {
		return d
	}
	switch in.Outcome.Reason {
	case entity.ReasonNodeLost, entity.ReasonShutdown:
		return afterNode(in, d)
	}
	switch {
	case in.Policy.MaxRetries <= 0:
		return d
	case in.RetryCount >= in.Policy.MaxRetries:
		d.Status = entity.StatusDead
		return d
	}
	d.Retry, d.Status = true, entity.StatusWaiting
	d.RetryCount++
	d.Wait = Backoff(in.Policy, d.RetryCount, in.Random)
	switch asked := in.Outcome.Asked; {
	case in.Outcome.RetryAfter > 0:
		d.Wait = min(in.Outcome.RetryAfter, MaxWait)
	case asked > 0:
		d.Wait = max(d.Wait, min(asked, longest(in.Policy)))
		d.Note = fmt.Sprintf("the target asks for %s, the policy waits %s", span(asked), span(d.Wait))
	}
	return d
}

// span is a wait for people: 2 h, 90 s, 4.1 s, 50 ms.
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
}

// MaxHeld is how long the calls of a run are held back in all. After that each one that is held back counts.
const MaxHeld = 10 * time.Minute

// Hold decides how long a run waits whose call was held back, so that it needs no retry for that. It has waited for
// held so far, and is asked to wait on. ok is false where the call counts as a failed attempt: after MaxHeld, and
// where the policy repeats no such failure.
func Hold(p entity.RetryPolicy, held, wait time.Duration) (_ time.Duration, ok bool) {
	if p.MaxRetries <= 0 || slices.Contains(p.NoRetryOn, entity.ReasonError) || held >= MaxHeld {
		return 0, false
	}
	return min(wait, MaxHeld-held), true
}

// afterNode decides about an attempt that its node took with it.
func afterNode(in Input, d Decision) Decision {
	lost := in.Outcome.Reason == entity.ReasonNodeLost
	switch {
	case in.OnNodeLoss == entity.NodeLossFail:
		return d
	case lost && in.NodeLosses >= MaxNodeLosses:
		d.Status = entity.StatusDead
		return d
	}
	d.Retry, d.NodeLoss, d.Status = true, lost, entity.StatusWaiting
	if lost {
		d.NodeLosses++
	}
	return d
}

// final is the end that an attempt may come to.
func final(s entity.Status) entity.Status {
	if s.Final() && entity.StatusRunning.CanBecome(s) {
		return s
	}
	return entity.StatusFailed
}

// forbidden reports whether the policy names the cause of the outcome. An
// attempt without a stated reason counts as TIMEOUT or ERROR.
func forbidden(list []entity.Reason, o entity.Outcome) bool {
	if slices.Contains(list, entity.ReasonTimeout) && o.Status == entity.StatusTimeout {
		return true
	}
	reason := o.Reason
	if reason == entity.ReasonNone && o.Status != entity.StatusTimeout {
		reason = entity.ReasonError
	}
	return slices.Contains(list, reason)
}
