package cronexpr

import (
	"fmt"
	"strings"
)

// fieldSpec is what is legal in one field.
type fieldSpec struct {
	name     string
	min, max int
	// base is subtracted from a value before it is stored.
	base int
	// names stand for the values from min on.
	names []string
	// wraps allows ranges that run over the end, as 22-2 does for hours.
	wraps bool
	// maxStep bounds what follows a slash.
	maxStep int
	dialect Dialect
}

var (
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

var (
	quartzSecond  = fieldSpec{name: "second", max: 59, maxStep: 59, wraps: true, dialect: Quartz}
	quartzMinute  = fieldSpec{name: "minute", max: 59, maxStep: 59, wraps: true, dialect: Quartz}
	quartzHour    = fieldSpec{name: "hour", max: 23, maxStep: 23, wraps: true, dialect: Quartz}
	quartzDay     = fieldSpec{name: "day-of-month", min: 1, max: 31, maxStep: 31, wraps: true, dialect: Quartz}
	quartzMonth   = fieldSpec{name: "month", min: 1, max: 12, maxStep: 12, wraps: true, names: monthNames, dialect: Quartz}
	quartzWeekday = fieldSpec{
		name: "day-of-week", min: 1, max: 7, base: 1, maxStep: 7, wraps: true, names: weekdayNames,
		dialect: Quartz,
	}
	quartzYear = fieldSpec{
		name: "year", min: MinYear, max: MaxYear, base: MinYear, maxStep: MaxYear - MinYear,
		dialect: Quartz,
	}

	unixMinute  = fieldSpec{name: "minute", max: 59, maxStep: 59, dialect: Unix}
	unixHour    = fieldSpec{name: "hour", max: 23, maxStep: 23, dialect: Unix}
	unixDay     = fieldSpec{name: "day-of-month", min: 1, max: 31, maxStep: 31, dialect: Unix}
	unixMonth   = fieldSpec{name: "month", min: 1, max: 12, maxStep: 12, names: monthNames, dialect: Unix}
	unixWeekday = fieldSpec{name: "day-of-week", max: 7, maxStep: 7, names: weekdayNames, dialect: Unix}
)

// field is a parsed field of plain values.
type field struct {
	set     bitset
	stepped bool // a step chose several values
	star    bool // the text begins with "*"
}

// parseField reads a list of values, ranges and steps.
func (s *fieldSpec) parseField(text string) (field, error) {
	parsed := field{star: strings.HasPrefix(text, "*")}
	for item := range strings.SplitSeq(text, ",") {
		if err := s.parseItem(item, &parsed); err != nil {
			return field{}, err
		}
	}
	return parsed, nil
}

// parseItem reads one of *, */n, /n, a, a/n, a-b, a-b/n.
func (s *fieldSpec) parseItem(item string, into *field) error {
	span, stepText, stepped := strings.Cut(item, "/")
	low, step := s.min, 1
	var high int
	star := span == "*" || span == "" && stepped && s.dialect == Quartz
	var named bool
	if star {
		high = s.last()
	} else {
		first, last, isRange := strings.Cut(span, "-")
		var err error
		if low, named, err = s.value(first, item); err != nil {
			return err
		}
		high = low
		if isRange {
			if high, _, err = s.value(last, item); err != nil {
				return err
			}
			if high < low && s.max == 7 && s.min == 0 && high == 0 {
				high = 7 // FRI-SUN of a crontab
			}
			if high < low && !s.wraps {
				return wrong(s.name, item,
					"the range runs backwards; write the smaller value first, or list the values separated by commas")
			}
		}
	}
	if stepped {
		n, err := s.step(stepText, item)
		if err != nil {
			return err
		}
		if named && s.dialect == Quartz {
			return wrong(s.name, item,
				"Quartz silently ignores a step after a name; write numbers (TUE/2 is 3/2) if the step is meant, or leave it out")
		}
		if n == 0 {
			// Quartz reads a/0 as the single value a; anything else with a
			// step of nothing has no meaning.
			if s.dialect != Quartz || star || strings.Contains(span, "-") {
				return wrong(s.name, item, fmt.Sprintf("a step of 0 never moves on; write a step from 1 to %d", s.maxStep))
			}
			stepped = false
		} else {
			step = n
			if !strings.Contains(span, "-") {
				high = max(low, s.last())
			}
		}
	}
	width := s.max - s.min + 1
	distance := high - low
	if distance < 0 {
		distance += width
	}
	for at := 0; at <= distance; at += step {
		s.add((low-s.min+at)%width+s.min, &into.set)
	}
	into.stepped = into.stepped || stepped && step <= distance
	return nil
}

// last is where "*" and a/n end. The 7 of a crontab's weekday is Sunday again:
// a step must not reach it a second time.
func (s *fieldSpec) last() int {
	if s.dialect == Unix && s.name == unixWeekday.name {
		return 6
	}
	return s.max
}

func (s *fieldSpec) add(value int, set *bitset) {
	if s.dialect == Unix && s.name == unixWeekday.name {
		value %= 7
	}
	set.add(value - s.base)
}

// value reads a number or a name; item is what the error shows.
func (s *fieldSpec) value(text, item string) (value int, named bool, err error) {
	if text == "" {
		return 0, false, s.unreadable(item)
	}
	if n, ok := number(text); ok {
		if n < s.min || n > s.max {
			return 0, false, wrong(s.name, item, fmt.Sprintf("must be from %d to %d", s.min, s.max))
		}
		return n, false, nil
	}
	for i, name := range s.names {
		if text == name {
			return i + s.min, true, nil
		}
	}
	return 0, false, s.unreadable(item)
}

func (s *fieldSpec) step(text, item string) (int, error) {
	n, ok := number(text)
	if !ok || n > s.maxStep {
		return 0, wrong(s.name, item, fmt.Sprintf("the step must be a number from 1 to %d", s.maxStep))
	}
	return n, nil
}

func (s *fieldSpec) unreadable(item string) error {
	if strings.Contains(item, "?") {
		if s.dialect == Unix {
			return wrong(s.name, item, `"?" belongs to the Quartz dialect; write "*"`)
		}
		return wrong(s.name, item, `"?" may only stand alone, in day-of-month or day-of-week`)
	}
	if s.dialect == Unix && strings.ContainsAny(item, "LW#") && s.names == nil {
		return wrong(s.name, item,
			"L, W and # belong to the Quartz dialect; choose dialect QUARTZ and put a field for seconds in front")
	}
	expected := fmt.Sprintf("a number from %d to %d", s.min, s.max)
	if s.names != nil {
		expected += fmt.Sprintf(" or a name from %s to %s", s.names[0], s.names[len(s.names)-1])
	}
	return wrong(s.name, item,
		"cannot be read; write "+expected+`, a range a-b, a step a/n, "*", or a list of these separated by commas`)
}

// number reads plain ASCII digits. Anything longer than nine digits is beyond
// every limit and comes back as the largest such number.
func number(text string) (int, bool) {
	if text == "" {
		return 0, false
	}
	n := 0
	for i := range len(text) {
		c := text[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), 999_999_999)
	}
	return n, true
}
