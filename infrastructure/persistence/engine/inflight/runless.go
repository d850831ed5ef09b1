package inflight

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// RunlessFires implements repository.JobPlanReader. A fire costs a look at its first
// live row, and many fires are one statement.
func (r *Fires) RunlessFires(
	ctx context.Context,
	fires []entity.InFlightFire,
) (found []entity.InFlightFire, err error) {
	asked := make([]entity.InFlightFire, 0, len(fires))
	for _, f := range fires {
		if _, known := identity.MomentOf(f.FireKey); known && f.Active {
			asked = append(asked, f)
		}
	}
	from := ""
	if !r.c.Dialect.IsSQLite() {
		from = " FROM DUAL"
	}
	one := "SELECT ?" + from + " WHERE EXISTS (SELECT 1 FROM scheduler_job_execution" + r.c.Dialect.ByJob +
		" WHERE job_id = ? AND id >= ? AND id < ? AND fire_key = ? AND claim_key IS NOT NULL AND " +
		"status IN ('WAITING', 'RUNNING'))"
	for part := range slices.Chunk(asked, oldestTogether) {
		args := make([]any, 0, len(part)*5)
		for i, f := range part {
			at, _ := identity.MomentOf(f.FireKey)
			args = append(args, i, f.JobID, identity.FloorID(at), identity.FloorID(at.Add(time.Millisecond)), f.FireKey)
		}
		live, err := sqldb.Collect(ctx, r.c, "live-fire.with-runs", one+strings.Repeat(" UNION ALL "+one, len(part)-1), args,
			sqlvalue.ScanInt)
		if err != nil {
			return nil, err
		}
		for i, f := range part {
			if !slices.Contains(live, int64(i)) {
				found = append(found, f)
			}
		}
	}
	return found, nil
}
