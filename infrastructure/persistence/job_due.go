package persistence

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// DueKeys implements repository.JobPlanReader. Without held groups it reads the index alone, so
// that a scan over what is held already costs next to nothing.
func (r *Plans) DueKeys(ctx context.Context, q repository.DueQuery) ([]repository.DueKey, error) {
	where, args, ok := dueWhere(q)
	if !ok {
		return nil, nil
	}
	return collect(ctx, r.c, "job.due", "SELECT id, due_time FROM scheduler_job_definition"+r.c.d.byDue+
		" WHERE "+where+" ORDER BY due_time, id LIMIT ?", args, func(rows *sql.Rows) (k repository.DueKey, err error) {
		var due stamp
		_, err = scanRow(rows, &k.ID, &due) // what cannot be read is told by who reads the job
		k.DueTime = due.time()
		return k, err
	})
}

// ForPlanning implements repository.JobPlanReader.
func (r *Plans) ForPlanning(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return plans(ctx, r.c, "job.plan", ids, "due_time IS NOT NULL")
}

// plans reads what planning and running need of those jobs that meet the
// condition. Scans and claims read thousands of jobs at once, so it goes
// without GORM.
func plans(ctx context.Context, c *conn, name string, ids []string, condition string) ([]*entity.Job, error) {
	var jobs []*entity.Job
	reader := newPlanReader()
	for _, part := range chunks(ids, c.d.maxRows) {
		in, args := c.d.in("id", part)
		more, err := collect(ctx, c, name, "SELECT "+planColumns+" FROM scheduler_job_definition"+c.d.byPrimary+
			" WHERE "+in+" AND "+condition, args, reader.scan)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, more...)
	}
	return jobs, addOwners(ctx, c, jobs)
}
