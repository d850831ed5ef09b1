package statistics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

func zone(t require.TestingT, name string) *time.Location {
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}

func at(t require.TestingT, text string) time.Time {
	moment, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return moment.UTC()
}

// nextDay is the begin of the day after that of a moment.
func nextDay(t time.Time, z *time.Location) time.Time {
	begin, next := statistics.DayOf(t, z), statistics.HourOf(t)
	for statistics.DayOf(next, z).Equal(begin) {
		next = next.Add(time.Hour)
	}
	return next
}

func TestDaysBeginAndEndByTheClocksOfTheirZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, within, begin, next string }{
		{"UTC", "2026-11-22T10:00:00Z", "2026-11-22T00:00:00Z", "2026-11-23T00:00:00Z"},
		{"Asia/Shanghai", "2026-11-22T15:59:59Z", "2026-11-21T16:00:00Z", "2026-11-22T16:00:00Z"},
		{"Asia/Shanghai", "2026-11-22T16:00:00Z", "2026-11-22T16:00:00Z", "2026-11-23T16:00:00Z"},
		// Clocks change: 23 and 25 hours.
		{"Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"},
		{"America/New_York", "2026-11-01T06:30:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		// Midnight did not exist, and was there twice.
		{"America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"America/Havana", "2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"},
		// A day was left out.
		{"Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"},
		// Parts of an hour are rounded.
		{"Asia/Kolkata", "2026-11-22T10:00:00Z", "2026-11-21T18:00:00Z", "2026-11-22T18:00:00Z"},
		{"Asia/Kathmandu", "2026-11-22T10:00:00Z", "2026-11-21T18:00:00Z", "2026-11-22T18:00:00Z"},
		{"Australia/Eucla", "2026-11-22T10:00:00Z", "2026-11-21T15:00:00Z", "2026-11-22T15:00:00Z"},
	} {
		z := zone(t, c.zone)
		require.Equal(t, at(t, c.begin), statistics.DayOf(at(t, c.within), z), "%s of %s", c.within, c.zone)
		require.Equal(t, at(t, c.next), nextDay(at(t, c.within), z), "%s of %s", c.within, c.zone)
	}
}

var zones = []string{
	"UTC", "Asia/Shanghai", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu",
	"America/Sao_Paulo", "Pacific/Apia", "Pacific/Kiritimati", "Africa/Casablanca", "Asia/Tehran",
}

func TestEveryHourBelongsToOneDay(t *testing.T) {
	t.Parallel()
	first := time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		hour := first.Add(time.Duration(rapid.IntRange(0, 50*366*24).Draw(t, "hour")) * time.Hour)
		begin, next := statistics.DayOf(hour, z), nextDay(hour, z)
		require.False(t, begin.After(hour))
		require.True(t, next.After(hour))
		require.LessOrEqual(t, next.Sub(begin), 49*time.Hour)
		require.Equal(t, next, statistics.DayOf(next, z), "days follow each other")
		for h := begin; h.Before(next); h = h.Add(time.Hour) {
			require.Equal(t, begin, statistics.DayOf(h, z))
		}
	})
}

// However the rows of hours have been merged, a range finds each row that lies in it
// once.
func TestARangeFindsEachRowOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t, rapid.SampledFrom(zones).Draw(t, "zone"))
		today := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), 15, 10, 20, 0, 0, time.UTC)
		kept := statistics.Mergeable(today, z)
		require.Equal(t, kept, statistics.DayOf(kept, z), "whole days are merged")
		require.GreaterOrEqual(t, today.Sub(kept), statistics.HoursKept)
		require.LessOrEqual(t, today.Sub(kept), statistics.HoursKept+26*time.Hour)

		from := today.Add(-time.Duration(rapid.IntRange(0, 20*24*60).Draw(t, "from")) * time.Minute)
		to := from.Add(time.Duration(rapid.IntRange(1, 10*24*60).Draw(t, "span")) * time.Minute)
		hours, days := statistics.Covering(from, to, z)
		last := to.Add(72 * time.Hour)
		for hour := statistics.HourOf(from.Add(-72 * time.Hour)); hour.Before(last); hour = hour.Add(time.Hour) {
			period, start, in := statistics.Hour, hour, hours
			if hour.Before(kept) {
				period, start, in = statistics.Day, statistics.DayOf(hour, z), days
			}
			found := !start.Before(in.From) && start.Before(in.To)
			if wanted := hour.Add(time.Hour).After(from) && hour.Before(to); wanted {
				require.True(t, found, "%v of %v", period, start)
			} else if period == statistics.Hour {
				require.False(t, found, "%v of %v", period, start)
			} else if found { // its day reaches into the range
				require.True(t, nextDay(start, z).After(from) && start.Before(to))
			}
		}
	})
	hours, days := statistics.Covering(now, now, time.UTC)
	require.Zero(t, hours)
	require.Zero(t, days)
}

func TestLinesOfAnAnswer(t *testing.T) {
	t.Parallel()
	shanghai, berlin := zone(t, "Asia/Shanghai"), zone(t, "Europe/Berlin")
	hour := at(t, "2026-11-22T16:00:00Z")
	require.Equal(t, hour, statistics.LineOf(statistics.Hour, hour, statistics.Hour, shanghai))
	require.Equal(t, hour, statistics.LineOf(statistics.Hour, hour, statistics.Day, shanghai))
	require.Equal(t, at(t, "2026-11-21T23:00:00Z"), statistics.LineOf(statistics.Hour, hour, statistics.Day, berlin))
	day := at(t, "2026-11-21T16:00:00Z") // 22 November in Shanghai
	require.Equal(t, day, statistics.LineOf(statistics.Day, day, statistics.Day, shanghai))
	require.Equal(t, at(t, "2026-11-21T23:00:00Z"), statistics.LineOf(statistics.Day, day, statistics.Day, berlin),
		"most of it is the 22nd there")
	require.Equal(t, day, statistics.LineOf(statistics.Day, day, statistics.Hour, berlin), "a day is not divided")

	require.False(t, statistics.Rounded(hour, shanghai))
	require.True(t, statistics.Rounded(hour, zone(t, "Asia/Kolkata")))
}
