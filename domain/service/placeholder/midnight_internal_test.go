package placeholder

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each midnight since 2000 that the clocks of a zone left out: a shift by the calendar that leads to
// it gives its date, from any side. The file is written from the tz database by another program.
func TestShiftsReachEachDateWhoseMidnightWasLeftOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../civil/testdata/midnights.txt")
	require.NoError(t, err)
	shifts := map[string]func(at time.Time) time.Time{ // from where the shift leads to the date
		"-1d": func(at time.Time) time.Time { return at.AddDate(0, 0, 1) },
		"+1d": func(at time.Time) time.Time { return at.AddDate(0, 0, -1) },
		"-7d": func(at time.Time) time.Time { return at.AddDate(0, 0, 7) },
		"-1w": func(at time.Time) time.Time { return at.AddDate(0, 0, 7) },
		"-1M": func(at time.Time) time.Time { return at.AddDate(0, 1, 0) },
		"+1M": func(at time.Time) time.Time { return at.AddDate(0, -1, 0) },
		"-1y": func(at time.Time) time.Time { return at.AddDate(1, 0, 0) },
	}
	var names []string
	seen := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "\t") {
			names = strings.Fields(line)
			continue
		}
		date, _, _ := strings.Cut(line[1:], " ")
		noon, err := time.Parse(time.DateOnly+"T15", date+"T12")
		require.NoError(t, err)
		for shift, from := range shifts {
			start := from(noon)
			if start.Day() != noon.Day() && strings.HasSuffix(shift, "M") {
				continue // the other month is shorter
			}
			m, err := parseMoment(shift + ":yyyy-MM-dd")
			require.NoError(t, err)
			zone, err := time.LoadLocation(names[0])
			require.NoError(t, err)
			for _, hour := range []int{0, 12} {
				at := time.Date(start.Year(), start.Month(), start.Day(), hour, 0, 0, 0, zone)
				if at.Hour() != hour {
					continue // clocks left it out there, too
				}
				got, err := m.write(at, zone)
				require.NoError(t, err)
				require.Equal(t, date, got, "%s, %s of %s", names[0], shift, at)
				seen++
			}
		}
	}
	require.Greater(t, seen, 4000)
}
