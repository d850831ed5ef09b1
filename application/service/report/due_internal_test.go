package report

import (
	"testing"
	"time"

	_ "time/tzdata" // zones must load on a machine that has none installed

	"github.com/stretchr/testify/require"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

// The clocks of these zones leave out the hour of the report, or show it twice.
func TestTheReportIsDueWhereClocksFirstShowItsHourOrALaterOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone    string
		weekday time.Weekday
		hour    int
		now     string
		want    string
	}{
		{"America/Havana", time.Sunday, 0, "2026-03-08T05:00:00Z", "2026-03-08T05:00:00Z"}, // 00:00 became 01:00
		{"America/Havana", time.Sunday, 0, "2026-03-08T04:59:59Z", "2026-03-01T05:00:00Z"},
		{"America/Havana", time.Sunday, 0, "2026-11-01T04:30:00Z", "2026-11-01T04:00:00Z"}, // 00:00 came twice
		{"America/New_York", time.Sunday, 2, "2026-03-08T12:00:00Z", "2026-03-08T07:00:00Z"},
		{"Atlantic/Azores", time.Sunday, 0, "2026-03-30T12:00:00Z", "2026-03-29T01:00:00Z"},
		{"Pacific/Apia", time.Friday, 9, "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"}, // no such Friday
		{"Pacific/Apia", time.Saturday, 0, "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		{"Asia/Shanghai", time.Monday, 8, "2026-11-24T00:00:00Z", "2026-11-23T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		require.NoError(t, err)
		at, _ := Plan{Weekday: c.weekday, Hour: c.hour, Zone: zone(t, c.zone)}.due(now)
		require.Equal(t, c.want, at.UTC().Format(time.RFC3339), "%s %s", c.zone, c.now)
	}
}

// Whatever the clocks do, reports are due one after another, and each has the next number.
func TestReportsAreNumberedByTheWeek(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"America/Havana", "America/Santiago", "Atlantic/Azores", "Asia/Beirut", "Pacific/Apia"} {
		for _, weekday := range []time.Weekday{time.Thursday, time.Friday, time.Saturday, time.Sunday} {
			p := Plan{Weekday: weekday, Zone: zone(t, name)}
			at, number := p.due(time.Date(2010, time.January, 10, 0, 0, 0, 0, time.UTC))
			for now := at; now.Year() < 2026; now = now.Add(3 * time.Hour) {
				due, n := p.due(now)
				require.False(t, due.After(now))
				if n != number || !due.Equal(at) {
					require.Equal(t, number+1, n, "%s %s", name, now)
					require.Less(t, now.Sub(due), 3*time.Hour, "%s: the report of %s is seen at %s", name, due, now)
					at, number = due, n
				}
			}
		}
	}
}
