// Package schedule computes when a job fires. A schedule is a cron expression, a fixed
// rate, a fixed delay after the last run, one moment, or none.
//
// A Spec is what a person writes, a Schedule what it compiles to. Both speak of scheduled
// times, the times that a schedule names. The caller adds the constant jitter of a job,
// which never changes the named times.
package schedule

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Kind is the kind of a schedule.
type Kind string

// The kinds. An empty Kind is None if nothing else of the schedule is set.
const (
	// Cron fires by a cron expression in the schedule's zone.
	Cron Kind = "CRON"
	// FixedRate fires every interval, whatever the runs take.
	FixedRate Kind = "FIXED_RATE"
	// FixedDelay fires an interval after the end of the previous run.
	FixedDelay Kind = "FIXED_DELAY"
	// Once fires at one instant.
	Once Kind = "ONCE"
	// None never fires by itself: the job is started by hand or over the API.
	None Kind = "NONE"
)

// The bounds of a schedule.
const (
	// MinIntervalMs and MaxIntervalMs bound the interval of FIXED_RATE and
	// FIXED_DELAY: a tenth of a second to ten years.
	MinIntervalMs = 100
	MaxIntervalMs = 3_660 * 24 * 3_600_000
	// MinEvery is the shortest period of "@every".
	MinEvery = time.Second
	// MaxJitterMs is one day.
	MaxJitterMs = 24 * 3_600_000
	// MaxZoneLength bounds the name of a time zone, in bytes.
	MaxZoneLength = bounds.TimeZone
)

// Spec is a schedule as it is written and stored. Fields that its Kind does
// not use are ignored, so that a kind can be changed and changed back.
type Spec struct {
	Kind Kind
	// CronExpression is used by Cron. "@every 10s" is accepted there too and
	// makes a fixed rate.
	CronExpression string
	// Dialect is QUARTZ if empty.
	Dialect cronexpr.Dialect
	// IntervalMs is the period of FixedRate and the delay of FixedDelay.
	IntervalMs int64
	// At is the instant of Once.
	At time.Time
	// TimeZone is an IANA name; empty is UTC. Only Cron depends on it.
	TimeZone string
	// StartTime and EndTime bound the scheduled times, both inclusive; zero is
	// no bound. StartTime is also the first fire of FixedRate and FixedDelay.
	StartTime, EndTime time.Time
	// JitterMs is the greatest delay by which a job's fires are moved.
	JitterMs int64
	// DstGap and DstOverlap are the answers to changes of the clocks.
	DstGap     cronexpr.Gap
	DstOverlap cronexpr.Overlap
	// Anchor is the origin of FixedRate when StartTime is zero: the time at
	// which the job got this rhythm, see SameRhythm.
	Anchor time.Time
}

// SameTimes reports whether both name the same times, whenever they were made. A jitter moves due times alone.
func (s Spec) SameTimes(o Spec) bool {
	o.JitterMs = s.JitterMs
	return s.Same(o)
}

// SameRhythm reports whether times that count from an Anchor go on as they are: the bounds and the zone have nothing to
// do with them.
func (s Spec) SameRhythm(o Spec) bool {
	if s.Kind != o.Kind || !s.StartTime.Equal(o.StartTime) {
		return false
	}
	if s.Kind == Cron {
		return s.CronExpression == o.CronExpression
	}
	return s.IntervalMs == o.IntervalMs
}

// Same reports whether both mean the same fires, whenever they were made: the
// Anchor does not count.
func (s Spec) Same(o Spec) bool {
	if !s.At.Equal(o.At) || !s.StartTime.Equal(o.StartTime) || !s.EndTime.Equal(o.EndTime) {
		return false
	}
	o.At, o.StartTime, o.EndTime, o.Anchor = s.At, s.StartTime, s.EndTime, s.Anchor
	return s == o
}

// FieldError is one wrong field of a Spec.
type FieldError struct {
	// Field is the JSON path, such as "schedule.cronExpression".
	Field string
	// Code is stable and for programs; see the Code constants.
	Code string
	// Message says what is wrong and how to mend it.
	Message string
}

// Error implements error.
func (e FieldError) Error() string { return e.Field + ": " + e.Message }

// The codes of a FieldError.
const (
	CodeRequired    = "required"
	CodeInvalid     = "invalid"
	CodeOutOfRange  = "out_of_range"
	CodeUnknown     = "unknown_value"
	CodeUnknownZone = "unknown_time_zone"
	CodeNeverFires  = "never_fires"
	CodeInPast      = "in_the_past"
	CodeOrder       = "start_after_end"
)

// The fields of a FieldError.
const (
	fieldKind       = "schedule.kind"
	fieldExpression = "schedule.cronExpression"
	fieldDialect    = "schedule.dialect"
	fieldInterval   = "schedule.intervalMs"
	fieldAt         = "schedule.at"
	fieldZone       = "schedule.timeZone"
	fieldStart      = "schedule.startTime"
	fieldEnd        = "schedule.endTime"
	fieldJitter     = "schedule.jitterMs"
	fieldGap        = "schedule.dstGap"
	fieldOverlap    = "schedule.dstOverlap"
)

// isNone reports whether nothing is scheduled. Fields with a meaning of their
// own betray a forgotten kind.
func (s *Spec) isNone() bool {
	return s.Kind == None || s.Kind == "" &&
		s.CronExpression == "" && s.IntervalMs == 0 && s.At.IsZero()
}
