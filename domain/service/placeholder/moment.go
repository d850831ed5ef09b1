package placeholder

import (
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

// moment is how ${scheduledTime} is shifted and written: ${scheduledTime},
// ${scheduledTime-1d}, ${scheduledTime+2M-1d:yyyyMMdd}.
type moment struct {
	shifts []shift
	format string
}

// shift moves a time by so many units of the calendar (d, w, M, y) or of the
// clock (s, m, h).
type shift struct {
	count int
	unit  byte
}

// The bounds of a moment.
const (
	maxShifts = 5
	maxShift  = 100_000
	maxFormat = 64
)

// The formats that are no pattern.
const (
	epochMs  = "epochMs"
	epochSec = "epochSec"
)

func parseMoment(text string) (m moment, err error) {
	shifts, format, given := strings.Cut(text, ":")
	if given && (format == "" || len(format) > maxFormat) {
		return m, wrong("${scheduledTime%.40s}: give a format after the colon, such as yyyy-MM-dd or epochMs, of at most "+
			"%d characters", text, maxFormat)
	}
	m.format = format
	for rest := shifts; rest != ""; {
		end := 1
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		count, convErr := strconv.Atoi(rest[:end])
		if rest[0] != '+' && rest[0] != '-' || convErr != nil || end == len(rest) ||
			!strings.Contains("smhdwMy", rest[end:end+1]) ||
			count > maxShift || count < -maxShift || len(m.shifts) == maxShifts {
			return m, wrong("${scheduledTime%.40s}: shift it by a sign, a number up to %d and one of s, m, h, d, w, M, y, "+
				"such as -1d, at most %d times", text, maxShift, maxShifts)
		}
		m.shifts = append(m.shifts, shift{count, rest[end]})
		rest = rest[end+1:]
	}
	if _, err := m.write(time.Unix(0, 0), time.UTC); err != nil {
		return m, err
	}
	return m, nil
}

// write gives the moment of a time in a zone. Without a format that is RFC 3339
// in UTC with milliseconds, as everywhere in the API.
func (m moment) write(at time.Time, zone *time.Location) (string, error) {
	at = at.In(zone)
	wall := civil.Of(at)
	for _, s := range m.shifts {
		at, wall = s.apply(at, wall)
	}
	switch m.format {
	case "":
		return clock.Text(at), nil
	case epochMs:
		return strconv.FormatInt(at.UnixMilli(), 10), nil
	case epochSec:
		return strconv.FormatInt(at.Unix(), 10), nil
	}
	if !wall.SameDate(civil.Of(at)) {
		// Clocks never showed this time, or not on its date. The calendar has the date, and
		// whoever asks for the day before means that one.
		_, offset := at.Zone()
		at = wall.UTC().Add(-time.Duration(offset) * time.Second).In(time.FixedZone("", offset))
	}
	return writePattern(m.format, at)
}

// apply moves an instant and what clocks show. Units of the clock move the instant. Those of the
// calendar move the civil time; several of them in a row do not stop where it does not exist.
func (s shift) apply(at time.Time, wall civil.Time) (time.Time, civil.Time) {
	switch s.unit {
	case 's':
		at = at.Add(time.Duration(s.count) * time.Second)
	case 'm':
		at = at.Add(time.Duration(s.count) * time.Minute)
	case 'h':
		at = at.Add(time.Duration(s.count) * time.Hour)
	case 'd':
		wall = wall.AddDays(s.count)
	case 'w':
		wall = wall.AddDays(7 * s.count)
	case 'M':
		wall = wall.AddMonths(s.count)
	default:
		wall = wall.AddMonths(12 * s.count)
	}
	if strings.IndexByte("smh", s.unit) >= 0 {
		return at, civil.Of(at)
	}
	return wall.In(at.Location()), wall
}

// fields are the letters of a pattern, after Java's DateTimeFormatter, which
// the users of most schedulers know.
var fields = []struct{ pattern, layout string }{
	{"yyyy", "2006"},
	{"yy", "06"},
	{"MM", "01"},
	{"dd", "02"},
	{"HH", "15"},
	{"mm", "04"},
	{"ss", "05"},
	{"SSS", ".000"},
	{"XXX", "Z07:00"},
	{"DDD", "002"},
}

// writePattern writes a time by a pattern. Letters that mean nothing are
// refused, so that a wrong pattern is found when the job is saved; text stands
// between quotes.
func writePattern(pattern string, at time.Time) (string, error) {
	var b strings.Builder
	for rest := pattern; rest != ""; {
		if rest[0] == '\'' {
			text, after, closed := strings.Cut(rest[1:], "'")
			if !closed {
				return "", wrong("${scheduledTime:%.40s}: a quote is not closed", pattern)
			}
			if text == "" {
				text = "'"
			}
			b.WriteString(text)
			rest = after
			continue
		}
		if c := rest[0]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			b.WriteByte(c)
			rest = rest[1:]
			continue
		}
		run := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		layout := ""
		for _, f := range fields {
			if f.pattern == rest[:run] {
				layout = f.layout
			}
		}
		if layout == "" {
			return "", wrong("${scheduledTime:%.40s}: %.10q means nothing here; use yyyy, yy, MM, dd, DDD, HH, mm, ss, SSS, "+
				"XXX, and quotes around text", pattern, rest[:run])
		}
		b.WriteString(strings.TrimPrefix(at.Format(layout), "."))
		rest = rest[run:]
	}
	return b.String(), nil
}
