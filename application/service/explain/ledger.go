package explain

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// minute is how exact people name the moment of a fire.
	minute = time.Minute
	// back is how far before a moment the ledger is looked through for what was before.
	back = 31 * 24 * time.Hour
	// pages and pageLines bound what is read of the ledger of one minute.
	pages     = 5
	pageLines = 200
	// grace is how long a fire that is due may take to be decided.
	grace = 5 * time.Second
)

// find is the line of the ledger for the moment: the fire of that very moment, a range that holds it, or the first fire
// of its minute; else the fire that its jitter moves there.
func (c *inquiry) find(ctx context.Context) (*entity.LedgerEntry, error) {
	found, err := c.of(ctx, c.At)
	if found == nil && err == nil {
		found, err = c.ofChain(ctx)
	}
	if found != nil || err != nil || c.jitter() == 0 {
		return found, err
	}
	found, err = c.of(ctx, c.At.Add(-c.jitter()))
	if found != nil && !found.RangeEnd.IsZero() {
		return nil, err
	}
	return found, err
}

// of is the line of the ledger for a moment.
func (c *inquiry) of(ctx context.Context, at time.Time) (*entity.LedgerEntry, error) {
	entries, _, err := c.Ledger(ctx, entity.LedgerQuery{
		JobID: c.job.ID, From: at, To: at.Add(time.Millisecond), Limit: pageLines,
	})
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if e.ScheduledTime.Equal(at) || !e.ScheduledTime.After(at) && at.Before(e.RangeEnd) {
			return e, nil
		}
	}
	q := entity.LedgerQuery{JobID: c.job.ID, From: at, To: at.Add(minute), Limit: pageLines}
	var first *entity.LedgerEntry
	for range pages {
		entries, next, err := c.Ledger(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range entries { // newest first
			if !entries[i].Moment.Before(at) {
				first = &entries[i]
			}
		}
		if q.Cursor = next; next == "" {
			break
		}
	}
	return first, nil
}

// latest is the newest line of the ledger that is not to come. A fire that is overdue comes before it.
func (c *inquiry) latest(ctx context.Context) (*entity.LedgerEntry, error) {
	if c.overdue(c.job.NextFireTime) {
		return &entity.LedgerEntry{ScheduledTime: c.job.NextFireTime, Outcome: entity.OutcomePlanned}, nil
	}
	return c.before(ctx, c.now.Add(time.Millisecond))
}

// overdue reports whether the fire of a scheduled time should have been decided.
func (c *inquiry) overdue(scheduled time.Time) bool {
	if c.job.DueTime.IsZero() || scheduled.Before(c.job.NextFireTime) {
		return false
	}
	return scheduled.Add(c.jitter() + grace).Before(c.now)
}

// jitter is how far the jitter of the job moves a start.
func (c *inquiry) jitter() time.Duration {
	if c.job.DueTime.IsZero() || c.job.NextFireTime.IsZero() {
		return 0
	}
	return c.job.DueTime.Sub(c.job.NextFireTime)
}

// before is the newest line of the ledger before a moment; nil where there is none.
func (c *inquiry) before(ctx context.Context, at time.Time) (*entity.LedgerEntry, error) {
	entries, _, err := c.Ledger(ctx, entity.LedgerQuery{
		JobID: c.job.ID, From: at.Add(-back), To: at, Limit: 20,
	})
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if entries[i].Outcome != entity.OutcomePlanned {
			return &entries[i], nil
		}
	}
	return nil, nil
}
