package worker

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// CountWorkers implements repository.WorkerCounts.
func (r *Workers) CountWorkers(ctx context.Context) ([]repository.WorkerCount, error) {
	return count(ctx, r.s.Pool)
}

// CountWorkers implements repository.WorkerCounts.
func (r *Groups) CountWorkers(ctx context.Context) ([]repository.WorkerCount, error) {
	return count(ctx, r.s.Pool)
}

const counting = `SELECT g.name, g.job_groups, COALESCE(c.up, 0), COALESCE(c.draining, 0), COALESCE(c.down, 0)
	FROM scheduler_worker_group g LEFT JOIN (
		SELECT worker_group, COUNT(CASE WHEN status = 'UP' THEN 1 END) AS up,
			COUNT(CASE WHEN status = 'DRAINING' THEN 1 END) AS draining, COUNT(CASE WHEN status = 'DOWN' THEN 1 END) AS down
		FROM scheduler_worker GROUP BY worker_group
	) c ON c.worker_group = g.name ORDER BY g.name`

func count(ctx context.Context, c *sqldb.Conn) ([]repository.WorkerCount, error) {
	return sqldb.Collect(ctx, c, "worker.count", counting, nil, scanCount)
}

func scanCount(rows *sql.Rows) (n repository.WorkerCount, err error) {
	var g groupRow
	err = rows.Scan(&g.Name, &g.JobGroups, &n.Up, &n.Draining, &n.Down)
	n.Group, n.JobGroups = g.Name, g.entity().JobGroups
	return n, err
}
