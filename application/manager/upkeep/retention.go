package upkeep

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// RetentionDays says how long rows are kept; zero or less keeps them for ever.
type RetentionDays struct {
	Executions int
	Logs       int
	Metrics    int
	Audit      int
	// Nodes counts from the last beat of a node that is DOWN.
	Nodes int
}

// purgeBatch is the number of rows deleted by one transaction: small, so that
// fires are not held up.
const purgeBatch = 200

// purgeBatches bounds the batches of one tick; the next tick goes on.
const purgeBatches = 50

// StoreClock tells the store's time.
type StoreClock interface {
	Now() time.Time
}

// OldRows is what Retention deletes from.
type OldRows interface {
	repository.Retention
	// ForgetNodes: see repository.Nodes.
	ForgetNodes(ctx context.Context, before time.Time) (int, error)
}

// Retention deletes old rows in small batches by primary key.
type Retention struct {
	store OldRows
	clock StoreClock
	days  RetentionDays
}

// NewRetention wires the parts.
func NewRetention(store OldRows, clock StoreClock, days RetentionDays) *Retention {
	return &Retention{store: store, clock: clock, days: days}
}

// RunOnce deletes what is due, up to a bound, and returns how many rows went.
func (r *Retention) RunOnce(ctx context.Context) (int, error) {
	total := 0
	for _, part := range []struct {
		what  string
		days  int
		purge func(ctx context.Context, before time.Time, limit int) (int, error)
	}{
		{"executions", r.days.Executions, r.store.PurgeExecutions},
		{"backfills", r.days.Executions, r.store.PurgeBackfills},
		{"logs", r.days.Logs, r.store.PurgeLogs},
		{"other records", r.days.Metrics, r.store.PurgeOthers},
		{"audit entries", r.days.Audit, r.store.PurgeAudit},
		{"nodes", r.days.Nodes, func(ctx context.Context, before time.Time, _ int) (int, error) {
			return r.store.ForgetNodes(ctx, before)
		}},
	} {
		if part.days <= 0 {
			continue
		}
		before := r.clock.Now().AddDate(0, 0, -part.days)
		for range purgeBatches {
			n, err := part.purge(ctx, before, purgeBatch)
			total += n
			if err != nil {
				return total, fmt.Errorf("delete old %s: %w", part.what, err)
			}
			if n < purgeBatch {
				break
			}
		}
	}
	return total, nil
}
