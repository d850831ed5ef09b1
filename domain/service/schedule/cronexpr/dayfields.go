package cronexpr

import "strings"

// parseQuartzDays reads day-of-month and day-of-week, of which exactly one is
// "?": Quartz cannot combine them, and neither reading of both is obvious.
func parseQuartzDays(dayText, weekdayText string) (dayRule, error) {
	switch {
	case dayText == "?" && weekdayText == "?":
		return dayRule{}, wrong("day-of-week", "?",
			`only one of day-of-month and day-of-week may be "?"; write "*" or days in the other`)
	case dayText != "?" && weekdayText != "?":
		return dayRule{}, wrong("day-of-week", weekdayText,
			`one of day-of-month and day-of-week must be "?"; put "?" in the one that does not matter`)
	case weekdayText == "?":
		rule := dayRule{anyWeekday: true}
		err := rule.parseDays(dayText)
		return rule, err
	default:
		rule := dayRule{anyDay: true}
		err := rule.parseWeekdays(weekdayText)
		return rule, err
	}
}

// parseDays reads a Quartz day-of-month list with L, L-n, LW, L-nW and dW.
func (r *dayRule) parseDays(text string) error {
	if text == "*" {
		r.anyDay = true
		return nil
	}
	var plain field
	for item := range strings.SplitSeq(text, ",") {
		var err error
		switch {
		case strings.HasPrefix(item, "L"):
			err = r.parseLast(item)
		case strings.HasSuffix(item, "W"):
			day, ok := number(strings.TrimSuffix(item, "W"))
			if !ok || day < 1 || day > 31 {
				return wrong("day-of-month", item, "W follows a single day from 1 to 31 (15W), or L (LW)")
			}
			r.nearest |= 1 << day
		default:
			err = quartzDay.parseItem(item, &plain)
		}
		if err != nil {
			return err
		}
	}
	r.days = uint32(plain.set[0])
	return nil
}

// parseLast reads L, LW, L-n or L-nW.
func (r *dayRule) parseLast(item string) error {
	rest := strings.TrimPrefix(item, "L")
	into := &r.beforeLast
	if strings.HasSuffix(rest, "W") {
		rest, into = strings.TrimSuffix(rest, "W"), &r.nearestLast
	}
	distance := 0
	if rest != "" {
		n, ok := number(strings.TrimPrefix(rest, "-"))
		if !ok || rest[0] != '-' || n > 30 {
			return wrong("day-of-month", item, "write L, L-n with n from 0 to 30, LW or L-nW")
		}
		distance = n
	}
	*into |= 1 << distance
	return nil
}

// parseWeekdays reads a Quartz day-of-week field with L, dL and d#n.
func (r *dayRule) parseWeekdays(text string) error {
	if text == "*" {
		r.anyWeekday = true
		return nil
	}
	if strings.Contains(text, "#") || text == "L" || strings.HasSuffix(text, "L") || strings.Contains(text, "L,") {
		return r.parseSpecialWeekday(text)
	}
	parsed, err := quartzWeekday.parseField(text)
	if err != nil {
		return err
	}
	r.weekdays = uint8(parsed.set[0])
	return nil
}

// parseSpecialWeekday reads L, dL or d#n, which must stand alone: in a list
// Quartz applies them to the wrong days.
func (r *dayRule) parseSpecialWeekday(text string) error {
	if strings.Contains(text, ",") {
		return wrong("day-of-week", text,
			"# and L must stand alone: in a list Quartz applies them to the wrong day; make one job for each, or list plain "+
				"days only")
	}
	if text == "L" {
		r.weekdays = 1 << 6
		return nil
	}
	if dayText, ok := strings.CutSuffix(text, "L"); ok {
		day, _, err := quartzWeekday.value(dayText, text)
		if err != nil {
			return wrong("day-of-week", text,
				"L follows a single day from 1 to 7 or SUN to SAT (6L, FRIL), or stands alone for Saturday")
		}
		r.lastWeekdays = 1 << (day - 1)
		return nil
	}
	dayText, nthText, _ := strings.Cut(text, "#")
	day, _, err := quartzWeekday.value(dayText, text)
	nth, ok := number(nthText)
	if err != nil || !ok || nth < 1 || nth > 5 {
		return wrong("day-of-week", text,
			"# stands between a single day (1 to 7 or SUN to SAT) and a number from 1 to 5, as in 6#3 for the third Friday")
	}
	r.nthWeekdays[nth] = 1 << (day - 1)
	return nil
}

// parseUnixDays reads the two day fields of a crontab. Following Vixie's cron,
// a field that begins with "*" restricts by conjunction, otherwise a day that
// satisfies either field matches.
func parseUnixDays(dayText, weekdayText string) (dayRule, error) {
	days, err := unixDay.parseField(dayText)
	if err != nil {
		return dayRule{}, err
	}
	weekdays, err := unixWeekday.parseField(weekdayText)
	if err != nil {
		return dayRule{}, err
	}
	return dayRule{
		anyDay:     dayText == "*",
		anyWeekday: weekdayText == "*",
		either:     !days.star && !weekdays.star,
		days:       uint32(days.set[0]),
		weekdays:   uint8(weekdays.set[0]),
	}, nil
}
