package alerting

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const ofDeadline = " WHERE moment = ? AND job_id = ? AND fire_key = ?"

func keyOf(d entity.Deadline) []any { return []any{sqlvalue.TimeArg(d.Moment), d.JobID, d.FireKey} }

const selectDeadlines = "SELECT moment, job_id, fire_key, scheduled_time, told FROM scheduler_deadline WHERE "

func scanDeadline(rows *sql.Rows) (d entity.Deadline, err error) {
	var moment, scheduled sqlvalue.DBTime
	err = rows.Scan(&moment, &d.JobID, &d.FireKey, &scheduled, &d.Reported)
	d.Moment, d.ScheduledTime = moment.Time(), scheduled.Time()
	return d, err
}

// Deadlines implements repository.Alerts.
func (r *Alerts) Deadlines(ctx context.Context, after, until time.Time, limit int) ([]entity.Deadline, error) {
	return sqldb.Collect(ctx, r.s.Pool, "deadline.range",
		selectDeadlines+"moment > ? AND moment <= ? ORDER BY moment, job_id, fire_key LIMIT ?",
		[]any{sqlvalue.TimeArg(after), sqlvalue.TimeArg(until), limit}, scanDeadline)
}

// UnreportedDeadlines implements repository.Alerts.
func (r *Alerts) UnreportedDeadlines(ctx context.Context, after entity.Deadline, until time.Time, limit int,
) ([]entity.Deadline, error) {
	moment := sqlvalue.TimeArg(after.Moment)
	return sqldb.Collect(ctx, r.s.Pool, "deadline.untold",
		selectDeadlines+"moment >= ? AND moment <= ? AND told = 0 AND (moment > ? OR job_id > ? OR "+
			"job_id = ? AND fire_key > ?) ORDER BY moment, job_id, fire_key LIMIT ?",
		[]any{moment, sqlvalue.TimeArg(until), moment, after.JobID, after.JobID, after.FireKey, limit}, scanDeadline)
}

// AddDeadlines implements repository.AlertWriter.
func (w *writer) AddDeadlines(ctx context.Context, deadlines []entity.Deadline) error {
	return bulk.Insert(ctx, w.c, "deadline.insert",
		"scheduler_deadline (moment, job_id, fire_key, scheduled_time, told)", 5, w.c.Dialect.OnDuplicateKeep("told"),
		deadlines, func(args []any, d entity.Deadline) []any {
			return append(append(args, keyOf(d)...), sqlvalue.TimeArg(d.ScheduledTime), sqlvalue.Flag(d.Reported))
		})
}

// TakeDeadline implements repository.AlertWriter.
func (w *writer) TakeDeadline(ctx context.Context, d entity.Deadline) (bool, error) {
	n, err := w.c.Exec(ctx, "deadline.take", "DELETE FROM scheduler_deadline"+ofDeadline, keyOf(d)...)
	return n == 1, err
}

// MarkDeadline implements repository.AlertWriter.
func (w *writer) MarkDeadline(ctx context.Context, d entity.Deadline) (bool, error) {
	n, err := w.c.Exec(ctx, "deadline.mark", "UPDATE scheduler_deadline SET told = 1"+ofDeadline+" AND told = 0",
		keyOf(d)...)
	return n == 1, err
}
