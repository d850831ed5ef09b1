package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Describe says in short, plain English when the schedule fires; an expression
// of an uncommon shape stands for itself. Bounds and jitter are left out.
func (s *Schedule) Describe() string {
	switch s.kind {
	case Cron:
		text, ok := s.expr.Describe()
		if !ok {
			text = s.expression
		}
		if s.zone == time.UTC {
			return text
		}
		return text + " (" + s.zone.String() + ")"
	case FixedRate:
		return "every " + strings.TrimPrefix(describeInterval(s.interval), "1 ")
	case FixedDelay:
		return describeInterval(s.interval) + " after each run ends"
	case Once:
		return "once at " + time.UnixMilli(s.first).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return "only when started by hand, over the API, by an event or by another job"
}

// describeInterval uses the largest unit that divides the interval.
func describeInterval(ms int64) string {
	units := [...]struct {
		ms   int64
		name string
	}{{86_400_000, "day"}, {3_600_000, "hour"}, {60_000, "minute"}, {1_000, "second"}, {1, "millisecond"}}
	for _, unit := range units {
		if ms%unit.ms != 0 {
			continue
		}
		if ms == unit.ms {
			return "1 " + unit.name
		}
		return fmt.Sprintf("%d %ss", ms/unit.ms, unit.name)
	}
	return ""
}
