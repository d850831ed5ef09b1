package job

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
)

// CountFires implements repository.JobPlanReader.
func (r *Plans) CountFires(ctx context.Context, jobIDs []string) (map[string]repository.FireCount, error) {
	return execution.CountFires(ctx, r.c, jobIDs)
}

// CountExecutionsOf implements repository.JobPlanReader.
func (r *Plans) CountExecutionsOf(ctx context.Context, f entity.InFlightFire) (int, error) {
	rows, err := execution.OfFire(ctx, r.c, f, "")
	return len(rows), err
}

// InFlightFires implements repository.JobPlanReader.
func (r *Plans) InFlightFires(ctx context.Context, after entity.InFlightFire, before time.Time, limit int) ([]entity.InFlightFire, error) {
	return execution.InFlightFiresAfter(ctx, r.c, after, before, limit)
}
