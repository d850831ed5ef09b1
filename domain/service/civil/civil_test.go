package civil_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	_ "time/tzdata" // zones must load on a machine that has none installed

	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

const layout = "2006-01-02 15:04:05"

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func of(t testing.TB, text string) civil.Time {
	t.Helper()
	at, err := time.Parse(layout, text)
	require.NoError(t, err)
	return civil.Of(at)
}

// The values are those of the tz database: the rules that changed the clocks on these days.
func TestACivilTimeIsTheFirstInstantThatShowsItOrALaterTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, civil, want string }{
		{"UTC", "2026-03-08 02:30:00", "2026-03-08T02:30:00Z"},
		{"Asia/Shanghai", "2026-03-08 00:00:00", "2026-03-07T16:00:00Z"},
		{"America/New_York", "2026-03-08 01:59:59", "2026-03-08T06:59:59Z"},
		{"America/New_York", "2026-03-08 02:00:00", "2026-03-08T07:00:00Z"}, // a gap until 03:00
		{"America/New_York", "2026-03-08 02:59:59", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-03-08 03:00:00", "2026-03-08T07:00:00Z"},
		{"America/New_York", "2026-11-01 01:30:00", "2026-11-01T05:30:00Z"}, // twice; 06:30 is the later
		{"America/New_York", "2026-11-01 00:59:59", "2026-11-01T04:59:59Z"},
		{"America/New_York", "2026-11-01 02:00:00", "2026-11-01T07:00:00Z"},
		{"America/Havana", "2026-03-08 00:00:00", "2026-03-08T05:00:00Z"}, // a gap at midnight
		{"America/Havana", "2026-11-01 00:00:00", "2026-11-01T04:00:00Z"}, // midnight twice
		{"America/Santiago", "2024-09-08 00:00:00", "2024-09-08T04:00:00Z"},
		{"America/Sao_Paulo", "2017-10-15 00:30:00", "2017-10-15T03:00:00Z"},
		{"America/Asuncion", "2023-10-01 00:00:00", "2023-10-01T04:00:00Z"},
		{"Atlantic/Azores", "2026-03-29 00:00:00", "2026-03-29T01:00:00Z"},
		{"Australia/Lord_Howe", "2026-10-04 02:10:00", "2026-10-03T15:30:00Z"}, // a gap of half an hour
		{"Pacific/Apia", "2011-12-29 23:59:59", "2011-12-30T09:59:59Z"},
		{"Pacific/Apia", "2011-12-30 00:00:00", "2011-12-30T10:00:00Z"}, // no such day
		{"Pacific/Apia", "2011-12-30 18:00:00", "2011-12-30T10:00:00Z"},
		{"Pacific/Apia", "2011-12-31 00:00:00", "2011-12-30T10:00:00Z"},
		{"Pacific/Kwajalein", "1993-08-21 12:00:00", "1993-08-21T12:00:00Z"},   // 21 August was left out
		{"Asia/Pyongyang", "2018-05-04 23:40:00", "2018-05-04T15:00:00Z"},      // from 23:30 to midnight
		{"America/Nuuk", "2024-03-30 23:30:00", "2024-03-31T01:00:00Z"},        // from 23:00 to midnight
		{"Asia/Gaza", "2011-04-01 00:00:30", "2011-03-31T22:00:30Z"},           // just before a gap at 00:01
		{"Asia/Gaza", "2011-04-01 00:01:00", "2011-03-31T22:01:00Z"},           // in it
		{"Africa/Monrovia", "1972-01-07 00:30:00", "1972-01-07T00:44:30Z"},     // a gap of 44 min 30 s
		{"America/Los_Angeles", "2048-12-31 12:00:00", "2048-12-31T20:00:00Z"}, // a leap year past the table
		{"America/New_York", "2500-07-01 00:00:00", "2500-07-01T04:00:00Z"},    // far beyond it
		{"Antarctica/Troll", "2026-03-29 02:30:00", "2026-03-29T01:00:00Z"},    // a gap of two hours
		{"Pacific/Kiritimati", "1994-12-31 09:00:00", "1994-12-31T10:00:00Z"},  // 31 December was left out
		{"America/Juneau", "1867-10-18 00:00:00", "1867-10-17T08:57:41Z"},      // a date was there twice
	} {
		got := of(t, c.civil).In(zone(t, c.zone))
		require.Equal(t, c.want, got.UTC().Format(time.RFC3339), "%s %s", c.zone, c.civil)
		require.Equal(t, c.zone, got.Location().String())
	}
}

// midnights are the lines of the file: a zone, the date and the first instant of a midnight that
// the clocks left out.
func midnights(t *testing.T, each func(z *time.Location, date civil.Time, want time.Time)) {
	t.Helper()
	text, err := os.ReadFile("testdata/midnights.txt")
	require.NoError(t, err)
	var zones []*time.Location
	seen := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, "\t"):
			zones = nil
			for name := range strings.FieldsSeq(line) {
				zones = append(zones, zone(t, name))
			}
		default:
			date, instant, _ := strings.Cut(line[1:], " ")
			want, err := time.Parse("2006-01-02T15:04Z", instant)
			require.NoError(t, err)
			for _, z := range zones {
				each(z, of(t, date+" 00:00:00"), want)
				seen++
			}
		}
	}
	require.Greater(t, seen, 500)
}

func TestEachMidnightThatWasLeftOutIsTheInstantAfterIt(t *testing.T) {
	t.Parallel()
	midnights(t, func(z *time.Location, date civil.Time, want time.Time) {
		require.Equal(t, want, date.In(z).UTC(), "%s %s", z, date.UTC())
	})
}

// All days since 2000 in each zone that left out a midnight: a day later and a day before are the
// neighbours of the calendar, and each day begins where its clocks first show it.
func TestDaysFollowEachOtherInEachZoneThatLeftOutAMidnight(t *testing.T) {
	t.Parallel()
	lost := map[string]map[string]bool{}
	midnights(t, func(z *time.Location, date civil.Time, _ time.Time) {
		if lost[z.String()] == nil {
			lost[z.String()] = map[string]bool{}
		}
		lost[z.String()][date.UTC().Format(time.DateOnly)] = true
	})
	for name, left := range lost {
		z, found := zone(t, name), 0
		for day := range 26 * 365 {
			// The calendar is counted by seconds here, not by the program.
			today := time.Unix(int64(10_957+day)*86_400, 0).UTC()
			date, want := civil.Of(today), today.Format(layout)
			begin := date.In(z)
			shown := begin.Format(layout)
			if left[want[:10]] {
				found++
			}
			switch before := begin.Add(-time.Second).Format(layout); {
			case left[want[:10]] != (shown != want):
				t.Fatalf("%s: %s begins at %s", name, want, shown)
			case shown < want || before >= want:
				t.Fatalf("%s: %s begins at %s, and a second before that was %s", name, want, shown, before)
			case civil.Of(today.Add(24*time.Hour)).AddDays(-1) != date || civil.Of(today.Add(-24*time.Hour)).AddDays(1) != date:
				t.Fatalf("%s lies not between its neighbours", want)
			}
		}
		require.Len(t, left, found, name)
	}
}

func TestMonthsKeepTheDayOrTakeTheLastOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from string
		by   int
		want string
	}{
		{"2026-03-31 22:05:09", -1, "2026-02-28 22:05:09"},
		{"2026-03-31 00:00:00", -25, "2024-02-29 00:00:00"},
		{"2026-04-08 00:00:00", -1, "2026-03-08 00:00:00"},
		{"2024-02-29 12:00:00", 12, "2025-02-28 12:00:00"},
		{"2024-02-29 12:00:00", 48, "2028-02-29 12:00:00"},
		{"2026-01-31 00:00:00", 1, "2026-02-28 00:00:00"},
		{"2026-12-31 00:00:00", 2, "2027-02-28 00:00:00"},
		{"2026-05-31 00:00:00", 0, "2026-05-31 00:00:00"},
	} {
		require.Equal(t, of(t, c.want), of(t, c.from).AddMonths(c.by), "%s %d", c.from, c.by)
	}
}

func TestDatesAreCompared(t *testing.T) {
	t.Parallel()
	require.True(t, of(t, "2026-03-08 00:00:00").SameDate(of(t, "2026-03-08 23:59:59")))
	require.False(t, of(t, "2026-03-08 23:59:59").SameDate(of(t, "2026-03-09 00:00:00")))
	require.False(t, of(t, "2026-03-08 00:00:00").SameDate(of(t, "2027-03-08 00:00:00")))
	require.Equal(t, of(t, "2026-03-02 04:05:06"), civil.Date(2026, time.February, 30, 4, 5, 6))
}

// FuzzCivil holds arithmetic and instants against what clocks show from one instant to the next,
// which is asked without knowing where they change.
func FuzzCivil(f *testing.F) {
	zones := []string{
		"America/Havana", "America/Santiago", "Atlantic/Azores", "America/Asuncion", "America/Sao_Paulo",
		"Pacific/Apia", "Australia/Lord_Howe", "America/Nuuk", "Europe/Berlin", "Asia/Gaza", "UTC",
	}
	f.Add(int64(1_772_946_000), uint8(0), int16(-1), uint32(0))   // Havana, 2026-03-08
	f.Add(int64(1_325_250_000), uint8(5), int16(-1), uint32(999)) // Apia, 2011-12-30
	f.Add(int64(1_793_511_000), uint8(8), int16(12), uint32(0))
	f.Add(int64(2_493_000_000), uint8(7), int16(-400), uint32(5_000_000))
	f.Fuzz(func(t *testing.T, at int64, zoneAt uint8, days int16, nanos uint32) {
		at = max(min(at, 32_503_680_000), 0) // the years 1970 to 3000
		z := zone(t, zones[int(zoneAt)%len(zones)])
		instant := time.Unix(at, int64(nanos%1_000_000_000)).In(z)
		moved := civil.Of(instant).AddDays(int(days))
		require.Equal(t, instant.Format("15:04:05.999999999"), moved.UTC().Format("15:04:05.999999999"))
		shift := moved.UTC().Sub(civil.Of(instant).UTC())
		require.Equal(t, time.Duration(days)*24*time.Hour, shift, "each civil day has 24 hours")

		got := moved.In(z)
		require.False(t, civil.Of(got).UTC().Before(moved.UTC()), "clocks show it, or a later time")
		for before := time.Duration(1); before < 27*time.Hour; before = before*3/2 + time.Second {
			require.True(t, civil.Of(got.Add(-before)).UTC().Before(moved.UTC()), "clocks did not show it %s before", before)
		}
		if back := civil.Of(got); back.UTC().Equal(moved.UTC()) {
			require.Equal(t, got, back.In(z))
		}
		months := civil.Of(instant).AddMonths(int(days))
		y, m, d := months.UTC().Date()
		y0, m0, d0 := civil.Of(instant).UTC().Date()
		require.Equal(t, y0*12+int(m0)+int(days), y*12+int(m))
		require.True(t, d == d0 || d < d0 && months.AddDays(1).UTC().Day() == 1)
	})
}
