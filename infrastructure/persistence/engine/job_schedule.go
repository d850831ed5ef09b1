package engine

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// setSchedule writes the schedule's columns.
func (r *jobRow) setSchedule(s schedule.Spec) {
	r.ScheduleKind = string(s.Kind)
	r.CronExpression = s.CronExpression
	r.Dialect = string(s.Dialect)
	r.IntervalMs = s.IntervalMs
	r.RunAt = sqldb.DBTime(s.At)
	r.TimeZone = s.TimeZone
	r.StartAt = sqldb.DBTime(s.StartTime)
	r.EndAt = sqldb.DBTime(s.EndTime)
	r.JitterMs = s.JitterMs
	r.DstGap = string(s.DstGap)
	r.DstOverlap = string(s.DstOverlap)
	r.AnchorTime = sqldb.DBTime(s.Anchor)
}

// schedule reads the schedule's columns.
func (r *jobRow) schedule() schedule.Spec {
	return schedule.Spec{
		Kind:           schedule.Kind(r.ScheduleKind),
		CronExpression: r.CronExpression,
		Dialect:        cronexpr.Dialect(r.Dialect),
		IntervalMs:     r.IntervalMs,
		At:             r.RunAt.Time(),
		TimeZone:       r.TimeZone,
		StartTime:      r.StartAt.Time(),
		EndTime:        r.EndAt.Time(),
		JitterMs:       r.JitterMs,
		DstGap:         cronexpr.Gap(r.DstGap),
		DstOverlap:     cronexpr.Overlap(r.DstOverlap),
		Anchor:         r.AnchorTime.Time(),
	}
}

// EnabledSchedules implements repository.ScheduleReader.
func (r *Plans) EnabledSchedules(ctx context.Context, q repository.ScheduleQuery) ([]*entity.Job, error) {
	if sqldb.HasTrailingSpace(q.Group) { // no group is named like that
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
	return sqldb.Collect(ctx, r.c, "job.schedules", `SELECT id, next_fire_time, schedule_kind, COALESCE(cron_expression, ''), dialect, interval_ms,
		run_at, time_zone, start_at, end_at, jitter_ms, dst_gap, dst_overlap, anchor_time
		FROM scheduler_job_definition`+r.c.Dialect.ByPrimary+where+" ORDER BY id LIMIT ?", append(args, q.Limit), scanSchedule)
}

func scanSchedule(rows *sql.Rows) (*entity.Job, error) {
	var r jobRow
	err := rows.Scan(&r.ID, &r.NextFireTime, &r.ScheduleKind, &r.CronExpression, &r.Dialect, &r.IntervalMs,
		&r.RunAt, &r.TimeZone, &r.StartAt, &r.EndAt, &r.JitterMs, &r.DstGap, &r.DstOverlap, &r.AnchorTime)
	return &entity.Job{ID: r.ID, NextFireTime: r.NextFireTime.Time(), Schedule: r.schedule()}, err
}
