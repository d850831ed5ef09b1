package schedule

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// Language is a language in which a schedule can be described.
type Language string

// The languages. Any other is read as English.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// Describe says in short, plain words when the schedule fires; an expression
// of an uncommon shape stands for itself. Bounds and jitter are left out.
func (s *Schedule) Describe(lang Language) string {
	var speak speaker = english{}
	if lang == Chinese {
		speak = chinese{}
	}
	switch s.kind {
	case Cron:
		return s.describeCron(speak)
	case FixedRate:
		return speak.every(s.interval)
	case FixedDelay:
		return speak.delay(s.interval)
	case Once:
		return speak.once(clock.Text(time.UnixMilli(s.first)))
	}
	return speak.never()
}

func (s *Schedule) describeCron(speak speaker) string {
	text := s.expression
	if d, ok := s.expr.Describe(); ok {
		text = speak.cron(&d)
	}
	if s.zone == time.UTC {
		return text
	}
	return text + speak.zone(s.zone.String())
}

// speaker makes the sentences of one language. Intervals are in ms.
type speaker interface {
	cron(d *cronexpr.Description) string
	zone(name string) string
	every(interval int64) string
	delay(interval int64) string
	once(at string) string
	never() string
}

// largestUnit counts an interval in the largest unit that divides it: a place
// in days, hours, minutes, seconds, milliseconds.
func largestUnit(ms int64) (n int64, unit int) {
	lengths := [...]int64{86_400_000, 3_600_000, 60_000, 1_000, 1}
	for ms%lengths[unit] != 0 {
		unit++
	}
	return ms / lengths[unit], unit
}

// list joins the names of items.
func list[T any](items []T, separator string, name func(T) string) string {
	names := convert.All(items, name)
	return strings.Join(names, separator)
}

// english tells the time, then the days, then the months.
type english struct{}

func (english) zone(name string) string { return " (" + name + ")" }
func (e english) every(ms int64) string { return "every " + strings.TrimPrefix(e.interval(ms), "1 ") }
func (e english) delay(ms int64) string { return e.interval(ms) + " after each run ends" }
func (english) once(at string) string   { return "once at " + at }
func (english) never() string {
	return "only when started by hand or over the API"
}

func (english) interval(ms int64) string {
	n, unit := largestUnit(ms)
	name := [...]string{"day", "hour", "minute", "second", "millisecond"}[unit]
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}

func (e english) cron(d *cronexpr.Description) string {
	if d.Every == 0 {
		return "at " + strings.Join(d.Clocks, ", ") + cmp.Or(e.days(d), " every day") + e.months(d)
	}
	text := e.every(d.Every.Milliseconds())
	if d.Minute != 0 {
		text += fmt.Sprintf(" at minute %d", d.Minute)
	}
	return text + e.days(d) + e.months(d)
}

// days is empty for every day.
func (english) days(d *cronexpr.Description) string {
	switch {
	case d.Workweek():
		return " from Monday to Friday"
	case len(d.Weekdays) > 0:
		return " on " + list(d.Weekdays, ", ", time.Weekday.String)
	case len(d.Days) == 1:
		return fmt.Sprintf(" on day %d", d.Days[0])
	case len(d.Days) > 1:
		return " on days " + list(d.Days, ", ", strconv.Itoa)
	case d.LastDay:
		return " on the last day"
	case d.LastWeekday:
		return " on the last weekday"
	}
	return ""
}

func (english) months(d *cronexpr.Description) string {
	names := list(d.Months, ", ", time.Month.String)
	switch {
	case d.MonthDays():
		return " of " + cmp.Or(names, "the month")
	case names != "":
		return " in " + names
	}
	return ""
}

// chinese tells the months, then the days, then the time.
type chinese struct{}

func (chinese) zone(name string) string { return "（" + name + "）" }
func (chinese) once(at string) string   { return "仅一次：" + at }
func (chinese) never() string           { return "仅由手动或 API 触发" }
func (c chinese) every(ms int64) string { return "每" + strings.TrimPrefix(c.interval(ms), " 1 ") }
func (c chinese) delay(ms int64) string { return "每次运行结束后" + c.interval(ms) }

// interval begins with the space that parts a number from a word.
func (chinese) interval(ms int64) string {
	n, unit := largestUnit(ms)
	return fmt.Sprintf(" %d %s", n, [...]string{"天", "小时", "分钟", "秒", "毫秒"}[unit])
}

func (c chinese) cron(d *cronexpr.Description) string {
	if d.Every == 0 {
		return cmp.Or(c.days(d), c.months(d)+"每天") + " " + strings.Join(d.Clocks, "、")
	}
	text := cmp.Or(c.days(d), c.months(d)) + c.every(d.Every.Milliseconds())
	if d.Minute != 0 {
		text += fmt.Sprintf("的第 %d 分钟", d.Minute)
	}
	return text
}

func (chinese) months(d *cronexpr.Description) string {
	return list(d.Months, "、", func(m time.Month) string { return fmt.Sprintf("%d月", m) })
}

// days begins with its months; it is empty for every day.
func (c chinese) days(d *cronexpr.Description) string {
	months := c.months(d)
	if months != "" {
		months += "的"
	} else if d.MonthDays() {
		months = "每月"
	}
	switch {
	case d.Workweek():
		return months + "周一至周五"
	case len(d.Weekdays) > 0:
		return months + list(d.Weekdays, "、", chineseWeekday)
	case len(d.Days) > 0:
		return months + " " + list(d.Days, " 日、", strconv.Itoa) + " 日"
	case d.LastDay:
		return months + "最后一天"
	case d.LastWeekday:
		return months + "最后一个工作日"
	}
	return ""
}

func chineseWeekday(day time.Weekday) string {
	return [...]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}[day]
}

// Refuses tells which field of a cron expression does not name the minute of an instant; false
// where each does, and for other kinds.
func (s *Schedule) Refuses(at time.Time) (r cronexpr.Refusal, refused bool) {
	if s.kind != Cron {
		return r, false
	}
	return s.expr.Refuses(at.In(s.zone))
}

// Zone is the name of the time zone that a cron expression is read in.
func (s *Schedule) Zone() string { return s.zone.String() }

// NamesWall reports whether a cron expression names a time of the wall clock in [from, to), which
// are read as if the wall clock showed UTC.
func (s *Schedule) NamesWall(from, to time.Time) bool {
	if s.kind != Cron {
		return false
	}
	next, ok := s.expr.Next(from.Add(-time.Millisecond), time.UTC, s.gap, s.overlap)
	return ok && next.Before(to)
}
