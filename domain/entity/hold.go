package entity

import (
	"fmt"
	"time"
)

// Hold is how often, and for how long in all, a call was held back before an attempt: several calls in a row could not
// connect to its target, and nothing was sent. Attempts that were not held back have none.
type Hold struct {
	ExecutionID string
	Attempt     int
	Count       int
	For         time.Duration
}

// String says it to people.
func (h Hold) String() string {
	times := "times"
	if h.Count == 1 {
		times = "time"
	}
	return fmt.Sprintf("%d %s, %s in all", h.Count, times, h.For.Round(time.Second))
}

// TotalHold is the hold of a run: that of all its attempts.
func TotalHold(holds []Hold) Hold {
	var sum Hold
	for _, h := range holds {
		sum.Count += h.Count
		sum.For += h.For
	}
	return sum
}

// HoldOf is the hold before one attempt; its Count is 0 where there was none.
func HoldOf(holds []Hold, attempt int) Hold {
	for _, h := range holds {
		if h.Attempt == attempt {
			return h
		}
	}
	return Hold{Attempt: attempt}
}

// HeldBack is an attempt that did not begin because its target cannot be reached, and others try that. The call may be
// made after wait. It counts as an attempt once the policy of the job lets it wait no more.
func HeldBack(wait time.Duration, message string) Outcome {
	return Outcome{Status: StatusWaiting, RetryAfter: wait, Message: message, held: true}
}

// IsHeldBack reports whether the outcome is HeldBack.
func (o Outcome) IsHeldBack() bool { return o.held }
