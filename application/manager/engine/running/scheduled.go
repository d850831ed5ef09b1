package running

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// promoteInterval is how often scheduled runs are looked at although none is known to
// come due.
const promoteInterval = 5 * time.Second

// promoteLoop makes scheduled runs ready when their moment has come.
func (t *TaskManager) promoteLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(0)
	defer timer.Stop()
	trouble := faillog.OfTask("unpark", t.Clock, t.Logger)
	var next time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-t.scheduled:
			if !next.IsZero() && !at.Before(next) {
				continue
			}
			next = at
		case <-timer.C():
			var err error
			if next, err = t.Scheduled.PromoteScheduled(ctx); err != nil {
				next = t.StoreClock.Now().Add(time.Second)
			}
			if ctx.Err() != nil {
				return
			}
			trouble.Observe(err)
		}
		wait := promoteInterval
		if !next.IsZero() {
			wait = min(wait, max(next.Sub(t.StoreClock.Now()), 0))
		}
		timer.Reset(wait)
	}
}
