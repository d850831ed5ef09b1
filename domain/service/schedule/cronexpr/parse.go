package cronexpr

import (
	"fmt"
	"strings"
)

// macro expands the names that stand for a whole expression, in Quartz terms.
func macro(name string) (string, bool) {
	switch name {
	case "@hourly":
		return "0 0 * * * ?", true
	case "@daily", "@midnight":
		return "0 0 0 * * ?", true
	case "@weekly":
		return "0 0 0 ? * 1", true
	case "@monthly":
		return "0 0 0 1 * ?", true
	case "@yearly", "@annually":
		return "0 0 0 1 1 ?", true
	}
	return "", false
}

// Parse reads an expression of the given dialect, or one of @hourly, @daily,
// @midnight, @weekly, @monthly, @yearly and @annually, which mean the same in
// both. The empty dialect is Quartz. Every error is a *SyntaxError; that of an
// expression no day can satisfy wraps ErrNeverFires. An expression whose years
// have all passed is not an error here: its Next finds nothing.
func Parse(expr string, dialect Dialect) (*Expr, error) {
	if err := checkText(expr); err != nil {
		return nil, err
	}
	text := strings.Trim(expr, " \t")
	if text == "" {
		return nil, wrong(wholeExpression, "", `is empty; write for example "0 0/5 * * * ?" (QUARTZ) or "*/5 * * * *" (UNIX)`)
	}
	if text[0] == '@' {
		expanded, ok := macro(strings.ToLower(text))
		if !ok {
			return nil, wrong(wholeExpression, text,
				"is not known; use @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually")
		}
		text, dialect = expanded, Quartz
	}
	fields := strings.Fields(strings.ToUpper(text))
	if strings.HasPrefix(fields[0], "TZ=") || strings.HasPrefix(fields[0], "CRON_TZ=") {
		return nil, wrong(wholeExpression, text, "a time zone is not part of the expression; set the schedule's timeZone")
	}
	var e *Expr
	var err error
	switch dialect {
	case Quartz, "":
		e, err = parseQuartz(fields, text)
	case Unix:
		e, err = parseUnix(fields, text)
	default:
		return nil, wrong(wholeExpression, string(dialect), "is not a dialect; use QUARTZ or UNIX")
	}
	if err != nil {
		return nil, err
	}
	if !e.everFires() {
		return nil, &SyntaxError{
			Field: "day-of-month", Value: text, cause: ErrNeverFires,
			Message: "never fires: no month that is chosen has such a day; change the day or the month",
		}
	}
	return e, nil
}

// checkText refuses what no dialect can contain before anything is split.
func checkText(expr string) error {
	if len(expr) > MaxLength {
		return wrong(wholeExpression, "",
			fmt.Sprintf("is longer than %d characters; use ranges and steps instead of long lists", MaxLength))
	}
	for i := range len(expr) {
		switch c := expr[i]; {
		case c >= 0x80:
			return wrong(wholeExpression, expr, "holds a character that is not ASCII; digits and letters must be plain ones")
		case c < ' ' && c != '\t' || c == 0x7f:
			return wrong(wholeExpression, expr, "holds a control character or a second line; write one line of plain text")
		}
	}
	return nil
}

func parseQuartz(fields []string, text string) (*Expr, error) {
	if len(fields) != 6 && len(fields) != 7 {
		hint := "second minute hour day-of-month month day-of-week, and a year if wanted"
		if len(fields) == 5 {
			hint += "; for the five fields of a crontab choose dialect UNIX"
		}
		return nil, wrong(wholeExpression, text, fmt.Sprintf("has %d fields; QUARTZ takes 6 or 7: %s", len(fields), hint))
	}
	second, err := quartzSecond.parseField(fields[0])
	if err != nil {
		return nil, err
	}
	year := "*"
	if len(fields) == 7 {
		year = fields[6]
	}
	years, err := quartzYear.parseField(year)
	if err != nil {
		return nil, err
	}
	e := &Expr{seconds: second.set[0], years: years.set}
	if e.days, err = parseQuartzDays(fields[3], fields[5]); err != nil {
		return nil, err
	}
	return e, e.parseCommon(second, fields[1], fields[2], fields[4], &quartzMinute, &quartzHour, &quartzMonth)
}

func parseUnix(fields []string, text string) (*Expr, error) {
	if len(fields) != 5 {
		hint := "minute hour day-of-month month day-of-week"
		if len(fields) == 6 || len(fields) == 7 {
			hint += "; for seconds or years choose dialect QUARTZ"
		}
		return nil, wrong(wholeExpression, text, fmt.Sprintf("has %d fields; UNIX takes 5: %s", len(fields), hint))
	}
	e := &Expr{seconds: 1, years: everyYear()}
	var err error
	if e.days, err = parseUnixDays(fields[2], fields[4]); err != nil {
		return nil, err
	}
	return e, e.parseCommon(field{}, fields[0], fields[1], fields[3], &unixMinute, &unixHour, &unixMonth)
}

// parseCommon reads the fields that both dialects have.
func (e *Expr) parseCommon(second field, minuteText, hourText, monthText string, minuteSpec, hourSpec,
	monthSpec *fieldSpec,
) error {
	minute, err := minuteSpec.parseField(minuteText)
	if err != nil {
		return err
	}
	hour, err := hourSpec.parseField(hourText)
	if err != nil {
		return err
	}
	month, err := monthSpec.parseField(monthText)
	if err != nil {
		return err
	}
	e.minutes, e.hours, e.months = minute.set[0], uint32(hour.set[0]), uint16(month.set[0])
	e.finish(second.stepped, minute.stepped, hour.stepped)
	return nil
}

func everyYear() bitset {
	var years bitset
	for year := MinYear; year <= MaxYear; year++ {
		years.add(year - MinYear)
	}
	return years
}
