package job

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// EnabledSchedules implements repository.ScheduleReader.
func (r *Plans) EnabledSchedules(ctx context.Context, q repository.ScheduleQuery) ([]*entity.Job, error) {
	if sqlvalue.HasTrailingSpace(q.Group) { // no group is named like that
		return nil, nil
	}
	where, args := " WHERE id > ? AND status = 'ENABLED' AND deleted = 0", []any{q.AfterID}
	if q.Group != "" {
		where, args = where+" AND group_name = ?", append(args, q.Group)
	}
	if q.Groups != nil {
		in, groups := r.c.Dialect.InAny("group_name", q.Groups)
		where, args = where+" AND "+in, append(args, groups...)
	}
	return sqldb.Collect(ctx, r.c, "job.schedules",
		"SELECT "+scheduleColumns+" FROM scheduler_job_definition"+r.c.Dialect.ByPrimary+
			where+" ORDER BY id LIMIT ?", append(args, q.Limit), newJobReader(timed).scanSchedule)
}

func (r *jobReader) scanSchedule(rows *sql.Rows) (*entity.Job, error) {
	err := rows.Scan(r.dest...)
	return &entity.Job{ID: r.row.ID, NextFireTime: r.row.NextFireTime, Schedule: r.row.Schedule}, err
}
