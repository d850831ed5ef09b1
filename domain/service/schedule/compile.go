package schedule

import (
	"errors"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Compile turns a Spec into a Schedule. It checks only what the computation needs.
// Validate checks that times lie ahead, so that a stored job compiles after its last fire.
// The error is a FieldError, joined with others if several fields are wrong.
func (c *Compiler) Compile(spec Spec) (*Schedule, error) {
	var wrong problems
	s := c.compile(&spec, &wrong)
	if len(wrong) == 0 {
		return s, nil
	}
	errs := convert.All(wrong, func(e FieldError) error { return e })
	return nil, errors.Join(errs...)
}

// problems collects the wrong fields of a Spec.
type problems []FieldError

func (p *problems) add(field, code, message string) {
	*p = append(*p, FieldError{Field: field, Code: code, Message: message})
}

// compile checks every field that the kind uses and builds the schedule,
// which is usable only if nothing was found wrong.
func (c *Compiler) compile(spec *Spec, wrong *problems) *Schedule {
	s := &Schedule{kind: spec.Kind, zone: time.UTC, gap: spec.DstGap, overlap: spec.DstOverlap, jitter: spec.JitterMs}
	if spec.isNone() {
		s.kind = None
		s.jitter = 0
		return s
	}
	checkBounds(spec, wrong)
	checkChoices(spec, wrong)
	s.zone = c.compileZone(spec.TimeZone, wrong)
	s.start, s.end = noStart, lastMoment
	if !spec.StartTime.IsZero() {
		s.start = ceilMilli(spec.StartTime)
	}
	if !spec.EndTime.IsZero() {
		s.end = min(floorMilli(spec.EndTime), lastMoment)
	}
	switch spec.Kind {
	case Cron:
		c.compileCron(s, spec, wrong)
	case FixedRate, FixedDelay:
		switch {
		case spec.IntervalMs == 0:
			wrong.add(fieldInterval, CodeRequired, "is missing; give the interval in milliseconds, at least 100")
		case spec.IntervalMs < MinIntervalMs || spec.IntervalMs > MaxIntervalMs:
			wrong.add(fieldInterval, CodeOutOfRange, "must be from 100 ms to 3,660 days (316,224,000,000 ms)")
		}
		s.every(spec, spec.IntervalMs)
	case Once:
		s.first = floorMilli(spec.At)
		switch {
		case spec.At.IsZero():
			wrong.add(fieldAt, CodeRequired, "is missing; give the instant at which the job is to run once")
		case outOfYears(spec.At):
			wrong.add(fieldAt, CodeOutOfRange, yearsMessage)
		}
	case "":
		wrong.add(fieldKind, CodeRequired, "is missing; use CRON, FIXED_RATE, FIXED_DELAY, ONCE or NONE")
	default:
		wrong.add(fieldKind, CodeUnknown, "is not known; use CRON, FIXED_RATE, FIXED_DELAY, ONCE or NONE")
	}
	if s.kind == FixedRate || s.kind == FixedDelay {
		if s.interval > 0 && s.jitter >= s.interval {
			wrong.add(fieldJitter, CodeOutOfRange, "must be smaller than the interval")
		}
	}
	return s
}

// every makes the schedule periodic; it does not change which of the two
// periodic kinds it is.
func (s *Schedule) every(spec *Spec, ms int64) {
	s.interval = ms
	if s.first = s.start; spec.StartTime.IsZero() {
		s.first = floorMilli(spec.Anchor) + ms
		if spec.Anchor.IsZero() {
			s.first = ms
		}
	}
}

func (c *Compiler) compileCron(s *Schedule, spec *Spec, wrong *problems) {
	s.expression = strings.TrimSpace(spec.CronExpression)
	if s.expression == "" {
		wrong.add(fieldExpression, CodeRequired,
			`is empty; write for example "0 0/5 * * * ?" (QUARTZ) or "*/5 * * * *" (UNIX)`)
		return
	}
	if period, ok := cutEvery(s.expression); ok && len(s.expression) <= cronexpr.MaxLength {
		ms, message := parseEvery(period)
		if message != "" {
			wrong.add(fieldExpression, CodeInvalid, message)
			return
		}
		s.kind = FixedRate
		s.every(spec, ms)
		return
	}
	switch spec.Dialect {
	case cronexpr.Quartz, cronexpr.Unix, "":
	default:
		return // reported by checkChoices
	}
	expr, err := c.expression(spec.CronExpression, spec.Dialect)
	switch {
	case errors.Is(err, cronexpr.ErrNeverFires):
		wrong.add(fieldExpression, CodeNeverFires, err.Error())
	case err != nil:
		wrong.add(fieldExpression, CodeInvalid, err.Error())
	}
	s.expr = expr
}

// cutEvery recognises "@every 10s" in any case.
func cutEvery(text string) (period string, ok bool) {
	const word = "@every"
	if len(text) < len(word) || !strings.EqualFold(text[:len(word)], word) {
		return "", false
	}
	rest := text[len(word):]
	return rest, rest == "" || rest[0] == ' ' || rest[0] == '\t'
}

// parseEvery reads the period of "@every"; message says why it is refused.
func parseEvery(text string) (ms int64, message string) {
	period, err := time.ParseDuration(strings.Trim(text, " \t"))
	switch {
	case err != nil:
		return 0, `@every takes a period such as "@every 10s", "@every 5m" or "@every 1h30m"`
	case period < MinEvery || period.Milliseconds() > MaxIntervalMs:
		return 0, "@every takes a period from 1s to 87840h (3,660 days)"
	case period%time.Millisecond != 0:
		return 0, "@every takes whole milliseconds"
	}
	return period.Milliseconds(), ""
}

func ceilMilli(t time.Time) int64 { return floorMilli(t.Add(time.Millisecond - 1)) }
