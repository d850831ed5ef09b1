// Package sqlvalue holds values as columns hold them, and reads rows into them.
package sqlvalue

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// layout is how times stand in both stores: UTC, milliseconds, and in text
// order the same as in time order. Times are bound and read as text, so that
// neither the server's nor the session's time zone can shift one.
const layout = "2006-01-02 15:04:05.000"

// DBTime is a column that holds a time. The zero time is NULL.
type DBTime time.Time

// Time is the time of the column, the zero time for NULL.
func (s DBTime) Time() time.Time { return time.Time(s) }

// Value implements driver.Valuer.
func (s DBTime) Value() (driver.Value, error) { return TimeArg(time.Time(s)), nil }

// Scan implements sql.Scanner.
func (s *DBTime) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s = DBTime{}
		return nil
	case []byte:
		return s.parse(string(v))
	case string:
		return s.parse(v)
	case time.Time:
		*s = DBTime(v.UTC())
		return nil
	default:
		return fmt.Errorf("read a time from %T", src)
	}
}

func (s *DBTime) parse(v string) error {
	if t, ok := parseFixed(v); ok {
		*s = DBTime(t)
		return nil
	}
	t, err := time.ParseInLocation("2006-01-02 15:04:05", v, time.UTC)
	if err != nil {
		return fmt.Errorf("read the time %q: %w", v, err)
	}
	*s = DBTime(t)
	return nil
}

// TimeArg is the argument for a time column: nil for the zero time.
func TimeArg(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return TimeText(t)
}

// TimeText writes layout. It is on the path of every fire, several times, so
// it does without the general formatter.
func TimeText(t time.Time) string {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	var b [len(layout)]byte
	put(b[0:4], year)
	b[4] = '-'
	put(b[5:7], int(month))
	b[7] = '-'
	put(b[8:10], day)
	b[10] = ' '
	put(b[11:13], hour)
	b[13] = ':'
	put(b[14:16], minute)
	b[16] = ':'
	put(b[17:19], second)
	b[19] = '.'
	put(b[20:23], t.Nanosecond()/int(time.Millisecond))
	return string(b[:])
}

// put writes n right-aligned with leading zeros.
func put(b []byte, n int) {
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
}

// parseFixed reads layout, and only layout.
func parseFixed(v string) (time.Time, bool) {
	if len(v) != len(layout) || v[4] != '-' || v[7] != '-' || v[10] != ' ' ||
		v[13] != ':' || v[16] != ':' || v[19] != '.' {
		return time.Time{}, false
	}
	var n [7]int
	for i, part := range [7]string{v[0:4], v[5:7], v[8:10], v[11:13], v[14:16], v[17:19], v[20:23]} {
		for j := range len(part) {
			c := part[j]
			if c < '0' || c > '9' {
				return time.Time{}, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC), true
}

// StorableTime reports whether a time can be kept: text order is time order only
// with four-digit years, and MySQL's range begins at 1000.
func StorableTime(t time.Time) bool {
	return t.IsZero() || (t.Year() >= 1000 && t.Year() <= 9999)
}

// ParseTime reads a text that TimeText wrote.
func ParseTime(v string) time.Time {
	t, _ := parseFixed(v)
	return t
}
