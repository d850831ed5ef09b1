package cronexpr_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// plan is a Quartz expression in the terms of a reader: it renders its own
// text and decides by itself, one wall-clock second at a time, whether it
// fires. It shares no code with the package, so that the two can disagree.
type plan struct {
	second, minute, hour, month values
	day                         func(date time.Time) bool
	dayText, weekdayText        string
}

// values is one field: its text and what it stands for.
type values struct {
	text    string
	member  map[int]bool
	stepped bool
}

func (p plan) text() string {
	return strings.Join([]string{p.second.text, p.minute.text, p.hour.text, p.dayText, p.month.text, p.weekdayText}, " ")
}

func (p plan) matches(wall int64) bool {
	t := time.Unix(wall, 0).UTC()
	return p.second.member[t.Second()] && p.minute.member[t.Minute()] && p.hour.member[t.Hour()] &&
		p.month.member[int(t.Month())] && p.day(t)
}

func (p plan) everyHour() bool { return len(p.hour.member) == 24 }

func (p plan) runsOn() bool {
	return p.second.stepped || p.minute.stepped || p.hour.stepped || p.everyHour() ||
		len(p.second.member) == 60 || len(p.minute.member) == 60
}

// walk lists the fires in (after, until] by visiting every second of the zone.
func (p plan) walk(after, until int64, loc *time.Location, gap cronexpr.Gap, overlap cronexpr.Overlap) []int64 {
	var fires []int64
	const memory = 26 * 3600
	latestWall := int64(-1 << 62)
	before := offset(after-memory-1, loc)
	for at := after - memory; at <= until; at++ {
		now := offset(at, loc)
		wall := at + now
		seen := wall <= latestWall
		latestWall = max(latestWall, wall)
		if at > after {
			fire := p.matches(wall) && (!seen || p.runsOn() || overlap == cronexpr.Both)
			if now > before && gap != cronexpr.Skip && !p.everyHour() {
				for lost := at + before; lost < wall && !fire; lost++ {
					fire = p.matches(lost)
				}
			}
			if fire {
				fires = append(fires, at)
			}
		}
		before = now
	}
	return fires
}

// source yields small numbers; it lets a fuzz target and rapid drive one
// generator.
type source func(n int) int

// bytesSource reads choices from fuzz data, zeros once it is used up.
func bytesSource(data []byte) source {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		v := int(data[0])
		data = data[1:]
		return v % n
	}
}

func newPlan(pick source) plan {
	p := plan{
		second: newValues(pick, 0, 59),
		minute: newValues(pick, 0, 59),
		hour:   newValues(pick, 0, 23),
		month:  newValues(pick, 1, 12),
	}
	if pick(3) > 0 { // most schedules fire in every month
		p.month = all(1, 12)
	}
	p.newDays(pick)
	return p
}

func all(low, high int) values {
	v := values{text: "*", member: map[int]bool{}}
	for i := low; i <= high; i++ {
		v.member[i] = true
	}
	return v
}

// newValues picks one of the shapes of a plain field.
func newValues(pick source, low, high int) values {
	v := values{member: map[int]bool{}}
	width := high - low + 1
	a, b := low+pick(width), low+pick(width)
	step := 1 + pick(high)
	switch pick(6) {
	case 0:
		return all(low, high)
	case 1:
		v.text = fmt.Sprintf("*/%d", step)
		for i := low; i <= high; i += step {
			v.member[i] = true
		}
		v.stepped = len(v.member) > 1
	case 2:
		v.text = fmt.Sprintf("%d/%d", a, step)
		for i := a; i <= high; i += step {
			v.member[i] = true
		}
		v.stepped = len(v.member) > 1
	case 3: // a range, over the end where a > b
		v.text = fmt.Sprintf("%d-%d", a, b)
		for i := a; ; i = (i-low+1)%width + low {
			v.member[i] = true
			if i == b {
				break
			}
		}
	case 4:
		v.text = fmt.Sprintf("%d,%d", a, b)
		v.member[a], v.member[b] = true, true
	default:
		v.text = fmt.Sprint(a)
		v.member[a] = true
	}
	return v
}

// newDays picks one of the shapes of the two day fields.
func (p *plan) newDays(pick source) {
	p.dayText, p.weekdayText = "*", "?"
	weekday := pick(7)
	n := pick(5)
	switch shape := pick(9); shape {
	case 0:
		days := newValues(pick, 1, 31)
		p.dayText = days.text
		p.day = func(t time.Time) bool { return days.member[t.Day()] }
	case 1:
		p.dayText = fmt.Sprintf("L-%d", n)
		p.day = func(t time.Time) bool { return t.Day() == monthLength(t)-n }
	case 2:
		day := 1 + pick(31)
		p.dayText = fmt.Sprintf("%dW", day)
		p.day = func(t time.Time) bool { return day <= monthLength(t) && t.Day() == closestWeekday(t, day) }
	case 3:
		p.dayText = fmt.Sprintf("L-%dW", n)
		p.day = func(t time.Time) bool { return t.Day() == closestWeekday(t, monthLength(t)-n) }
	case 4:
		days := newValues(pick, 1, 7)
		p.dayText, p.weekdayText = "?", days.text
		p.day = func(t time.Time) bool { return days.member[int(t.Weekday())+1] }
	case 5:
		p.dayText, p.weekdayText = "?", fmt.Sprintf("%dL", weekday+1)
		p.day = func(t time.Time) bool { return int(t.Weekday()) == weekday && t.Day()+7 > monthLength(t) }
	case 6:
		p.dayText, p.weekdayText = "?", fmt.Sprintf("%d#%d", weekday+1, n+1)
		p.day = func(t time.Time) bool { return int(t.Weekday()) == weekday && (t.Day()-1)/7 == n }
	default:
		p.day = func(time.Time) bool { return true }
	}
}

func monthLength(t time.Time) int {
	return time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// closestWeekday tries the days around a day in the order of their distance;
// a Saturday's Friday comes before its Monday, a Sunday's Monday before its
// Friday.
func closestWeekday(t time.Time, day int) int {
	for _, move := range []int{0, -1, 1, 2, -2} {
		date := time.Date(t.Year(), t.Month(), day+move, 0, 0, 0, 0, time.UTC)
		if date.Month() == t.Month() && !slices.Contains([]time.Weekday{time.Saturday, time.Sunday}, date.Weekday()) {
			return day + move
		}
	}
	return 0
}
