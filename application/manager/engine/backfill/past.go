package backfill

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Past is what the store holds of the runs of some scheduled times, by the
// millisecond.
type Past struct{ ran, live map[int64]bool }

// Read sorts what repository.Backfills.FiresAt returned.
func Read(fires []*entity.Execution) Past {
	p := Past{ran: map[int64]bool{}, live: map[int64]bool{}}
	for _, e := range fires {
		at, scheduled := identity.ScheduledTimeOf(e.FireKey)
		if !scheduled {
			continue // by hand, or a skipped range
		}
		ms, backfilled := at.UnixMilli(), identity.IsBackfill(e.FireKey)
		if backfilled || e.Status != entity.StatusSkipped {
			p.ran[ms] = true
		}
		if backfilled && !e.Status.Final() {
			p.live[ms] = true
		}
	}
	return p
}

// Ran reports that a time must not run again: a run of its planned fire is live
// or over, or a backfill had it, whatever became of that.
func (p Past) Ran(at time.Time) bool { return p.ran[at.UnixMilli()] }

// open keeps the times whose backfilled runs are not all over.
func (p Past) open(times []time.Time) []time.Time {
	var out []time.Time
	for _, at := range times {
		if p.live[at.UnixMilli()] {
			out = append(out, at)
		}
	}
	return out
}
