package job

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Plans answers the engine's scans: repository.JobPlanReader.
type Plans struct{ c *sqldb.Conn }

// NewPlans gives the repository over the connections of c.
func NewPlans(c *sqldb.Conn) *Plans { return &Plans{c} }

// dueWhere is the condition of a scan; ok is false when it can find nothing.
func dueWhere(q repository.DueQuery) (where string, args []any, ok bool) {
	if q.Partitions != nil && len(q.Partitions) == 0 {
		return "", nil, false
	}
	where, args = "due_time <= ?", []any{sqlvalue.TimeArg(q.Until)}
	if !q.AfterDue.IsZero() {
		where += " AND due_time >= ? AND (due_time > ? OR id > ?)"
		args = append(args, sqlvalue.TimeArg(q.AfterDue), sqlvalue.TimeArg(q.AfterDue), q.AfterID)
	}
	if q.Partitions != nil && len(q.Partitions) < entity.Partitions {
		where += " AND partition_id IN (" + dialect.Marks(len(q.Partitions)) + ")"
		for _, p := range q.Partitions {
			args = append(args, p)
		}
	}
	for _, g := range q.Without {
		ofGroup, named := "1 = 1", []any(nil)
		if g.Name != entity.AllJobs {
			ofGroup, named = "group_name = ?", []any{g.Name}
		}
		switch {
		case g.Paused:
			where += " AND NOT (" + ofGroup + ")"
		case !g.Converged && !g.ResumedAt.IsZero():
			where += " AND NOT (" + ofGroup + " AND next_fire_time <= ?)"
			named = append(named, sqlvalue.TimeArg(g.ResumedAt))
		default:
			continue
		}
		args = append(args, named...)
	}
	return where, append(args, q.Limit), true
}

// Unarmed implements repository.JobPlanReader.
func (r *Plans) Unarmed(ctx context.Context, after string, limit int) ([]string, error) {
	return sqldb.Collect(ctx, r.c, "job.unarmed", `SELECT j.id FROM scheduler_job_definition j
		WHERE j.schedule_kind = 'FIXED_DELAY' AND j.id > ? AND j.next_fire_time IS NULL AND j.status = 'ENABLED' AND j.deleted = 0
		AND NOT EXISTS (SELECT 1 FROM scheduler_live_fire f WHERE f.job_id = j.id)
		ORDER BY j.id LIMIT ?`, []any{after, limit}, sqlvalue.ScanText)
}

// unplanned is what a job is that should have a next time and has none.
const unplanned = `status = 'ENABLED' AND deleted = 0 AND next_fire_time IS NULL
	AND schedule_kind IN ('CRON', 'FIXED_RATE', 'ONCE')`

// Unplanned implements repository.JobPlanReader. It reads so many rows by the primary key,
// whatever they hold.
func (r *Plans) Unplanned(ctx context.Context, after string, limit int) (ids []string, next string, err error) {
	type row struct {
		id        string
		unplanned bool
	}
	rows, err := sqldb.Collect(ctx, r.c, "job.unplanned", "SELECT id, CASE WHEN "+unplanned+
		" THEN 1 ELSE 0 END FROM scheduler_job_definition WHERE id > ? ORDER BY id LIMIT ?", []any{after, limit},
		func(rows *sql.Rows) (v row, err error) { return v, rows.Scan(&v.id, &v.unplanned) })
	if err != nil {
		return nil, "", err
	}
	for _, v := range rows {
		if v.unplanned {
			ids = append(ids, v.id)
		}
	}
	if len(rows) == limit {
		next = rows[limit-1].id
	}
	return ids, next, nil
}

// StillUnplanned implements repository.JobPlanReader.
func (r *Plans) StillUnplanned(ctx context.Context, ids []string) (still []string, err error) {
	return sqldb.CollectIn(ctx, r.c, "job.still-unplanned",
		"SELECT id FROM scheduler_job_definition WHERE {in} AND "+unplanned, "id", sqlvalue.OnlyASCIIIDs(ids),
		sqlvalue.ScanText)
}
