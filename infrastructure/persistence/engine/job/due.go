package job

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// DueKeys implements repository.JobPlanReader. Without held groups it reads the index alone, so
// that a scan over what is held already costs next to nothing.
func (r *Plans) DueKeys(ctx context.Context, q repository.DueQuery) ([]repository.DueKey, error) {
	where, args, ok := dueWhere(q)
	if !ok {
		return nil, nil
	}
	return sqldb.Collect(ctx, r.c, "job.due", "SELECT id, due_time FROM scheduler_job_definition"+r.c.Dialect.ByDue+
		" WHERE "+where+" ORDER BY due_time, id LIMIT ?", args, func(rows *sql.Rows) (k repository.DueKey, err error) {
		var due sqlvalue.DBTime
		_, err = sqlvalue.ScanRow(rows, &k.ID, &due) // what cannot be read is told by who reads the job
		k.DueTime = due.Time()
		return k, err
	})
}

// ForPlanning implements repository.JobPlanReader.
func (r *Plans) ForPlanning(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return readPlans(ctx, r.c, "job.plan", ids, "due_time IS NOT NULL")
}

// readPlans reads what planning and running need of those jobs that meet the
// condition. Scans and claims read thousands of jobs at once, so it goes
// without GORM.
func readPlans(ctx context.Context, c *sqldb.Conn, name string, ids []string, condition string) ([]*entity.Job, error) {
	jobs, err := sqldb.CollectIn(ctx, c, name, "SELECT "+planColumns+" FROM scheduler_job_definition"+c.Dialect.ByPrimary+
		" WHERE {in} AND "+condition, "id", ids, newJobReader(planned).scan)
	if err != nil {
		return nil, err
	}
	return jobs, addOwners(ctx, c, jobs)
}
