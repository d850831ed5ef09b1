package cronexpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

func parse(t testing.TB, text string, dialect cronexpr.Dialect) *cronexpr.Expr {
	t.Helper()
	e, err := cronexpr.Parse(text, dialect)
	require.NoError(t, err)
	return e
}

// localFires lists n fires after a local time, as local times with offset.
func localFires(t testing.TB, text, zoneName, after string, gap cronexpr.Gap, overlap cronexpr.Overlap,
	n int,
) []string {
	t.Helper()
	loc := zone(t, zoneName)
	at, err := time.Parse(time.RFC3339, after)
	require.NoError(t, err)
	var got []string
	for _, fire := range fires(parse(t, text, cronexpr.Quartz), at.Unix(), loc, gap, overlap, n) {
		got = append(got, time.Unix(fire, 0).In(loc).Format("2006-01-02T15:04:05-07:00"))
	}
	return got
}

func TestChangesOfTheClocks(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		expression, zone, after string
		gap                     cronexpr.Gap
		overlap                 cronexpr.Overlap
		want                    []string
	}{
		"a fixed time in the gap fires right after it": {
			"0 30 2 * * ?", "America/New_York", "2026-03-07T12:00:00Z", "", "",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"},
		},
		"or is skipped on demand": {
			"0 30 2 * * ?", "America/New_York", "2026-03-07T12:00:00Z", cronexpr.Skip, "",
			[]string{"2026-03-09T02:30:00-04:00"},
		},
		"several times in one gap fire once, also with the first after it": {
			"0 0,20,40 2,3 * * ?", "America/New_York", "2026-03-08T05:00:00Z", "", "",
			[]string{"2026-03-08T03:00:00-04:00", "2026-03-08T03:20:00-04:00"},
		},
		"an hourly job does not fire extra after the gap": {
			"0 50 * * * ?", "America/New_York", "2026-03-08T06:00:00Z", "", "",
			[]string{"2026-03-08T01:50:00-05:00", "2026-03-08T03:50:00-04:00"},
		},
		"a fixed time in the overlap fires at its first occurrence": {
			"0 30 1 * * ?", "America/New_York", "2026-11-01T04:00:00Z", "", "",
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		},
		"or at both on demand": {
			"0 30 1 * * ?", "America/New_York", "2026-11-01T04:00:00Z", "", cronexpr.Both,
			[]string{"2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-02T01:30:00-05:00"},
		},
		"an interval runs on through the repeated hour": {
			"0 0/30 * * * ?", "Europe/London", "2026-10-25T00:00:00Z", "", "",
			[]string{
				"2026-10-25T01:30:00+01:00", "2026-10-25T01:00:00+00:00", "2026-10-25T01:30:00+00:00",
				"2026-10-25T02:00:00+00:00",
			},
		},
		"asked in the second pass, a fixed time waits for tomorrow": {
			"0 30 1 * * ?", "America/New_York", "2026-11-01T06:10:00Z", "", "",
			[]string{"2026-11-02T01:30:00-05:00"},
		},
		"midnight that does not exist": {
			"0 0 0 * * ?", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "", "",
			[]string{"2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"},
		},
		"a gap of half an hour": {
			"0 10 2 * * ?", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "", "",
			[]string{"2026-10-04T02:30:00+11:00", "2026-10-05T02:10:00+11:00"},
		},
		"a repeated half hour": {
			"0 45 1 * * ?", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", "", cronexpr.Both,
			[]string{"2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30", "2026-04-06T01:45:00+10:30"},
		},
		"a day that does not exist fires once, as the next one begins": {
			"0 0 12 * * ?", "Pacific/Apia", "2011-12-29T00:00:00Z", "", "",
			[]string{"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00", "2011-12-31T12:00:00+14:00"},
		},
		"midnight of that day and of the next collapse": {
			"0 0 0 * * ?", "Pacific/Apia", "2011-12-29T00:00:00Z", "", "",
			[]string{"2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"},
		},
		"that day by its number": {
			"0 0 9 30 12 ? 2011", "Pacific/Apia", "2011-12-01T00:00:00Z", "", "",
			[]string{"2011-12-31T00:00:00+14:00"},
		},
		"Casablanca before Ramadan, clocks back": {
			"0 30 2 * * ?", "Africa/Casablanca", "2026-02-14T12:00:00Z", "", "",
			[]string{"2026-02-15T02:30:00+01:00", "2026-02-16T02:30:00+00:00"},
		},
		"Casablanca after Ramadan, clocks forward": {
			"0 30 2 * * ?", "Africa/Casablanca", "2026-03-21T12:00:00Z", "", "",
			[]string{"2026-03-22T03:00:00+01:00", "2026-03-23T02:30:00+01:00"},
		},
		"Cairo, midnight put forward": {
			"0 0 0 * * ?", "Africa/Cairo", "2026-04-23T12:00:00Z", "", "",
			[]string{"2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"},
		},
		"Monrovia's gap of 44 minutes and 30 seconds": {
			"0 10 0 7 1 ? 1972", "Africa/Monrovia", "1972-01-06T00:00:00Z", "", "",
			[]string{"1972-01-07T00:44:30+00:00"},
		},
		"the last day of a leap year beyond the zone's table": {
			"0 0 23 * * ?", "America/New_York", "2040-12-30T12:00:00Z", "", "",
			[]string{"2040-12-30T23:00:00-05:00", "2040-12-31T23:00:00-05:00", "2041-01-01T23:00:00-05:00"},
		},
		"the last fire of all is in the second pass": {
			"0 30 1 1 11 ? 2026", "America/New_York", "2026-11-01T05:30:00Z", "", cronexpr.Both,
			[]string{"2026-11-01T01:30:00-05:00"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, localFires(t, tt.expression, tt.zone, tt.after, tt.gap, tt.overlap, len(tt.want)))
		})
	}
}

func TestNextIsStrictlyAfterAndBounded(t *testing.T) {
	t.Parallel()
	second := parse(t, "* * * * * ?", cronexpr.Quartz)
	for after, want := range map[string]string{
		"2026-01-01T00:00:00Z":           "2026-01-01T00:00:01Z",
		"2026-01-01T00:00:00.000000001Z": "2026-01-01T00:00:01Z",
		"2025-12-31T23:59:59.999999999Z": "2026-01-01T00:00:00Z",
		"0001-01-01T00:00:00Z":           "1970-01-01T00:00:00Z",
		"1969-12-31T23:59:59.5Z":         "1970-01-01T00:00:00Z",
		"2199-12-31T23:59:58Z":           "2199-12-31T23:59:59Z",
	} {
		at, err := time.Parse(time.RFC3339Nano, after)
		require.NoError(t, err)
		next, ok := second.Next(at, nil, "", "")
		require.True(t, ok, after)
		require.Equal(t, want, next.Format(time.RFC3339Nano))
	}
	for _, text := range []string{"* * * * * ?", "0 0 0 1 1 ? 2020", "0 0 0 29 2 ? 2196"} {
		for _, loc := range []*time.Location{nil, zone(t, "America/New_York"), zone(t, "Pacific/Kiritimati")} {
			_, ok := parse(t, text, cronexpr.Quartz).Next(time.Date(2199, 12, 31, 23, 59, 59, 0, zoneOrUTC(loc)), loc, "", "")
			require.False(t, ok, text)
		}
	}
	_, ok := second.Next(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), zone(t, "Europe/Berlin"), "", "")
	require.False(t, ok)
}

func zoneOrUTC(loc *time.Location) *time.Location {
	if loc == nil {
		return time.UTC
	}
	return loc
}

func TestNextAllocatesNothing(t *testing.T) {
	for _, text := range []string{"0 0/5 * * * ?", "0 30 2 * * ?", "0 0 18 LW * ?", "0 0 0 29 2 ?", "0 0 0 1 1 ? 2020"} {
		for _, name := range []string{"UTC", "America/New_York"} {
			e, loc, at := parse(t, text, cronexpr.Quartz), zone(t, name), time.Unix(1_772_852_400, 0)
			require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = e.Next(at, loc, "", "") }), "%s in %s", text, name)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, text := range []string{
		"0 0/5 * * * ?", "*/10 * * * * ?", "0 30 2 * * ?", "0 15 10 ? * MON-FRI",
		"0 0 18 LW * ?", "0 0 18 ? * 6#3", "0 0 0 29 2 ?",
	} {
		for _, name := range []string{"UTC", "America/New_York"} {
			b.Run(text+"/"+name, func(b *testing.B) {
				e, loc := parse(b, text, cronexpr.Quartz), zone(b, name)
				start := time.Unix(1_768_472_243, 0)
				at := start
				b.ReportAllocs()
				for b.Loop() {
					next, ok := e.Next(at, loc, "", "")
					if at = next; !ok || at.Year() > 2036 {
						at = start
					}
				}
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = cronexpr.Parse("0 0/5 9-17 ? * MON-FRI", cronexpr.Quartz)
	}
}
