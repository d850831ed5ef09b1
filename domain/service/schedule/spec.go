package schedule

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Kind says how a schedule names its times.
type Kind string

// The kinds of schedule. None has no times of its own: its job runs by hand,
// by API, by events.
const (
	Cron       Kind = "CRON"
	FixedRate  Kind = "FIXED_RATE"
	FixedDelay Kind = "FIXED_DELAY"
	Once       Kind = "ONCE"
	None       Kind = "NONE"
)

// Spec is a schedule as the user wrote it. It is comparable: two equal specs
// name the same times. Zero times mean "not given".
type Spec struct {
	Kind           Kind
	CronExpression string
	Dialect        cronexpr.Dialect
	IntervalMs     int64
	At             time.Time
	TimeZone       string
	StartTime      time.Time
	EndTime        time.Time
	JitterMs       int64
	DstGap         cronexpr.Gap
	DstOverlap     cronexpr.Overlap
	// Anchor is the origin of FIXED_RATE when StartTime is zero: the moment
	// the schedule was created or last edited.
	Anchor time.Time
}

// FieldError is one wrong field of a Spec, by its JSON name.
type FieldError struct {
	Field   string
	Code    string
	Message string
}
