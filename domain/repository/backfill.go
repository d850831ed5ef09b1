package repository

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// BackfillWriter changes backfills inside a transaction that holds the lock of
// their job.
type BackfillWriter interface {
	// Add stores a new backfill, at version 1.
	Add(ctx context.Context, b entity.Backfill) error
	// Get returns apperror.KindNotFound for an unknown id.
	Get(ctx context.Context, id string) (entity.Backfill, error)
	// Save stores cursor, status, counts and open times of an active backfill
	// that still has the version given, and raises it; else apperror.KindConflict.
	Save(ctx context.Context, b entity.Backfill) error
	// FiresAt is Backfills.FiresAt inside the transaction.
	FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error)
	// MadeGood is Backfills.MadeGood inside the transaction.
	MadeGood(ctx context.Context, ids []string) (map[string]bool, error)
}

// Backfills reads committed backfills.
type Backfills interface {
	// Backfill returns apperror.KindNotFound for an unknown id.
	Backfill(ctx context.Context, id string) (entity.Backfill, error)
	// ListBackfills are those of a job, newest first.
	ListBackfills(ctx context.Context, jobID string, p Page) (backfills []entity.Backfill, next string, err error)
	// ActiveBackfills are the oldest that are ACTIVE.
	ActiveBackfills(ctx context.Context, limit int) ([]entity.Backfill, error)
	// FiresAt returns id, fire key and status of the job's runs whose ids begin with one
	// of the times. These are its planned and backfilled runs, and others that were made
	// in the same milliseconds.
	FiresAt(ctx context.Context, jobID string, times []time.Time) ([]*entity.Execution, error)
	// MadeGood returns those of some executions, which repeat none, of which a retry by
	// hand is live or succeeded, also a retry of a retry.
	MadeGood(ctx context.Context, ids []string) (map[string]bool, error)
}
