package persistence

import (
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// setSchedule writes the schedule's columns.
func (r *jobRow) setSchedule(s schedule.Spec) {
	r.ScheduleKind = string(s.Kind)
	r.CronExpression = s.CronExpression
	r.Dialect = string(s.Dialect)
	r.IntervalMs = s.IntervalMs
	r.RunAt = stamp(s.At)
	r.TimeZone = s.TimeZone
	r.StartAt = stamp(s.StartTime)
	r.EndAt = stamp(s.EndTime)
	r.JitterMs = s.JitterMs
	r.DstGap = string(s.DstGap)
	r.DstOverlap = string(s.DstOverlap)
	r.AnchorTime = stamp(s.Anchor)
}

// schedule reads the schedule's columns.
func (r *jobRow) schedule() schedule.Spec {
	return schedule.Spec{
		Kind:           schedule.Kind(r.ScheduleKind),
		CronExpression: r.CronExpression,
		Dialect:        cronexpr.Dialect(r.Dialect),
		IntervalMs:     r.IntervalMs,
		At:             r.RunAt.time(),
		TimeZone:       r.TimeZone,
		StartTime:      r.StartAt.time(),
		EndTime:        r.EndAt.time(),
		JitterMs:       r.JitterMs,
		DstGap:         cronexpr.Gap(r.DstGap),
		DstOverlap:     cronexpr.Overlap(r.DstOverlap),
		Anchor:         r.AnchorTime.time(),
	}
}
