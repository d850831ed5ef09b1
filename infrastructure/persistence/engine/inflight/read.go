package inflight

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Fires answers the engine's scans of fires: a part of repository.JobPlanReader.
type Fires struct{ c *sqldb.Conn }

// NewFires gives the repository over the connections of c.
func NewFires(c *sqldb.Conn) *Fires { return &Fires{c} }

// CountFires implements repository.JobPlanReader.
func (r *Fires) CountFires(ctx context.Context, jobIDs []string) (map[string]repository.FireCount, error) {
	return countFires(ctx, r.c, jobIDs)
}

// CountExecutionsOf implements repository.JobPlanReader.
func (r *Fires) CountExecutionsOf(ctx context.Context, f entity.InFlightFire) (int, error) {
	rows, err := ofFire(ctx, r.c, f, "")
	return len(rows), err
}

// InFlightFires implements repository.JobPlanReader.
func (r *Fires) InFlightFires(ctx context.Context, after entity.InFlightFire, before time.Time,
	limit int,
) ([]entity.InFlightFire, error) {
	return sqldb.Collect(ctx, r.c, "live-fire.page",
		selectFires+r.c.Dialect.ByPrimary+" WHERE (job_id > ? OR job_id = ? AND fire_key > ?) AND create_time < ? ORDER BY "+
			"job_id, fire_key LIMIT ?",
		[]any{after.JobID, after.JobID, after.FireKey, sqlvalue.TimeArg(before), limit}, scan)
}
