package schedule

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

const yearsMessage = "must lie in the years 1970 to 2199"

// Validate checks a Spec that somebody has just written and returns all its
// wrong fields at once, none if it is good. Beyond what Compile asks it wants
// a fire after now. It is not for a stored Spec that is left unchanged: that
// of a finished job is right, and past.
func Validate(spec Spec, now time.Time) []FieldError {
	return (*Compiler)(nil).Validate(spec, now)
}

// Validate is the function of the same name, with the Compiler's memory.
func (c *Compiler) Validate(spec Spec, now time.Time) []FieldError {
	var wrong problems
	s := c.compile(&spec, &wrong)
	if spec.Kind == None {
		// Nothing of it is used, but what is written is to be right.
		checkChoices(&spec, &wrong)
		c.compileZone(spec.TimeZone, &wrong)
	}
	if len(wrong) > 0 || s.kind == None {
		return wrong
	}
	if spec.Kind == Once && !spec.At.After(now) {
		wrong.add(fieldAt, CodeInPast, "lies in the past; give a time to come, or start the job by hand")
		return wrong
	}
	if !spec.EndTime.IsZero() && !spec.EndTime.After(now) {
		wrong.add(fieldEnd, CodeInPast, "lies in the past; give a later one or leave it out")
		return wrong
	}
	if _, ok := s.Next(now); ok {
		return nil
	}
	switch field := neverField(&spec); {
	case !spec.EndTime.IsZero():
		wrong.add(fieldEnd, CodeNeverFires,
			"the schedule never fires: no time that it names lies between now (or startTime) and endTime")
	case field == fieldExpression:
		wrong.add(field, CodeNeverFires, "the schedule never fires: every time that it names has passed; change the year")
	default:
		wrong.add(field, CodeNeverFires, "the schedule never fires up to the year 2199")
	}
	return wrong
}

// neverField is the field to blame for a schedule that names no time to come.
func neverField(spec *Spec) string {
	switch spec.Kind {
	case Cron:
		return fieldExpression
	case Once:
		return fieldAt
	default:
		return fieldInterval
	}
}

// checkBounds checks the fields that hold instants and amounts.
func checkBounds(spec *Spec, wrong *problems) {
	inYears := true
	if !spec.StartTime.IsZero() && outOfYears(spec.StartTime) {
		wrong.add(fieldStart, CodeOutOfRange, yearsMessage)
		inYears = false
	}
	if !spec.EndTime.IsZero() && outOfYears(spec.EndTime) {
		wrong.add(fieldEnd, CodeOutOfRange, yearsMessage)
		inYears = false
	}
	if inYears && !spec.StartTime.IsZero() && !spec.EndTime.IsZero() && spec.StartTime.After(spec.EndTime) {
		wrong.add(fieldStart, CodeOrder, "lies after endTime; exchange the two or change one")
	}
	if spec.JitterMs < 0 || spec.JitterMs > MaxJitterMs {
		wrong.add(fieldJitter, CodeOutOfRange, "must be from 0 to 86,400,000 ms (one day)")
	}
}

// checkChoices checks the fields that take one of a few words.
func checkChoices(spec *Spec, wrong *problems) {
	switch spec.Dialect {
	case "", cronexpr.Quartz, cronexpr.Unix:
	default:
		wrong.add(fieldDialect, CodeUnknown, "is not known; use QUARTZ or UNIX")
	}
	switch spec.DstGap {
	case "", cronexpr.NextValid, cronexpr.Skip:
	default:
		wrong.add(fieldGap, CodeUnknown, "is not known; use NEXT_VALID or SKIP")
	}
	switch spec.DstOverlap {
	case "", cronexpr.First, cronexpr.Both:
	default:
		wrong.add(fieldOverlap, CodeUnknown, "is not known; use FIRST or BOTH")
	}
}

func outOfYears(t time.Time) bool {
	year := t.UTC().Year()
	return year < cronexpr.MinYear || year > cronexpr.MaxYear
}
