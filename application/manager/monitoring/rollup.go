package monitoring

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
)

const (
	// rollDelay is how long after its end a period is rolled up: nodes write the last minute a little later.
	rollDelay = 5 * time.Minute
	// rollAgain is how long after its end it is rolled up again, for rows of nodes that could not write in time.
	rollAgain = 65 * time.Minute
	// rollSteps bounds the periods of one turn; the next turn goes on.
	rollSteps = 24
	// purgedAfter is less than the time that retention leaves any row.
	purgedAfter = 46 * time.Hour
)

// RollUp merges rows of minutes into hours, and rows of hours into days of UTC. A repetition writes the same rows,
// so two nodes may do it at once. Its memory only saves work: a new leader reads from the store where to begin.
type RollUp struct {
	store repository.MetricRows
	clock clock.StoreClock
	// names are those of all series.
	names []string
	// hours and days are up to where periods are rolled up.
	hours, days level
}

// level is one step of the roll-up, from rows of one period to those of the next.
type level struct {
	from, to time.Duration
	// first and again are the begin of the next period that is due for the first time, and for the second.
	first, again time.Time
}

// NewRollUp wires the parts.
func NewRollUp(store repository.MetricRows, c clock.StoreClock) *RollUp {
	return &RollUp{
		store: store, clock: c, names: series.NewCatalogue().Names(),
		hours: level{from: series.Minute, to: series.Hour}, days: level{from: series.Hour, to: series.Day},
	}
}

// RunOnce rolls up what is due, at most some periods. It returns periodic.ErrIdle when nothing is due. Not safe for
// concurrent use.
func (r *RollUp) RunOnce(ctx context.Context) error {
	idle := true
	for _, l := range []*level{&r.hours, &r.days} {
		n, err := r.advance(ctx, l)
		if err != nil {
			return fmt.Errorf("roll up metrics to %s: %w", l.to, err)
		}
		idle = idle && n == 0
	}
	if idle {
		return periodic.ErrIdle
	}
	return nil
}

// advance rolls up the due periods of a level, and returns how many.
func (r *RollUp) advance(ctx context.Context, l *level) (n int, err error) {
	now := r.clock.Now()
	if l.first.IsZero() {
		if l.first, err = r.begin(ctx, l); err != nil || l.first.IsZero() {
			return 0, err
		}
		l.again = l.first
	}
	for ; n < rollSteps && !l.first.Add(l.to+rollDelay).After(now); n++ {
		if err := r.roll(ctx, l, l.first); err != nil {
			return n, err
		}
		l.first = l.first.Add(l.to)
	}
	for ; n < rollSteps && l.again.Before(l.first) && !l.again.Add(l.to+rollAgain).After(now); n++ {
		if err := r.roll(ctx, l, l.again); err != nil {
			return n, err
		}
		l.again = l.again.Add(l.to)
	}
	return n, nil
}

// begin returns the period to begin with: the newest that is rolled up already, as it may have been written in part, or
// that of the oldest row to roll up. It is zero when there are no rows.
func (r *RollUp) begin(ctx context.Context, l *level) (time.Time, error) {
	oldest, _, err := r.store.MetricsSpan(ctx, l.from)
	if err != nil || oldest.IsZero() {
		return time.Time{}, err
	}
	_, newest, err := r.store.MetricsSpan(ctx, l.to)
	if err != nil || newest.Before(oldest.Truncate(l.to)) {
		return oldest.Truncate(l.to), err
	}
	if newest.Before(oldest) && newest.Before(r.clock.Now().Add(-purgedAfter)) {
		return newest.Add(l.to), nil // retention has taken part of what it was made from
	}
	return newest, nil
}

// roll writes the rows of one period.
func (r *RollUp) roll(ctx context.Context, l *level, at time.Time) error {
	var all []series.Row
	for _, name := range r.names {
		rows, err := r.store.MergedMetrics(ctx, name, l.from, at, at.Add(l.to))
		if err != nil {
			return err
		}
		for _, row := range rows {
			row.Period, row.Time = l.to, at
			all = append(all, row)
		}
	}
	return r.store.PutMetrics(ctx, all)
}
