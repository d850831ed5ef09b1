package cronexpr_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// 2026-11-26 is a Thursday, the fourth of its month (ISO 8601 calendar).
func TestTheFieldThatSaysNoIsNamed(t *testing.T) {
	for _, c := range []struct {
		expression string
		dialect    cronexpr.Dialect
		at         string
		want       cronexpr.Refusal
	}{
		{
			"0 0 3 ? * MON-WED", cronexpr.Quartz, "2026-11-26 03:00:00",
			cronexpr.Refusal{"day-of-week", "THURSDAY", "MONDAY-WEDNESDAY"},
		},
		{
			"0 0 3 ? * SUN,SAT", cronexpr.Quartz, "2026-11-26 03:00:00",
			cronexpr.Refusal{"day-of-week", "THURSDAY", "SATURDAY, SUNDAY"},
		},
		{"0 0 3 ? * 5#3", cronexpr.Quartz, "2026-11-26 03:00:00", cronexpr.Refusal{"day-of-week", "THURSDAY", ""}},
		{"0 0 3 1,15 * ?", cronexpr.Quartz, "2026-11-26 03:00:00", cronexpr.Refusal{"day-of-month", "26", "1, 15"}},
		{"0 0 3 L * ?", cronexpr.Quartz, "2026-11-26 03:00:00", cronexpr.Refusal{"day-of-month", "26", ""}},
		{
			"0 0 3 * 1-6,9 ?", cronexpr.Quartz, "2026-11-26 03:00:00",
			cronexpr.Refusal{"month", "NOVEMBER", "JANUARY-JUNE, SEPTEMBER"},
		},
		{"0 0 9-17 * * ?", cronexpr.Quartz, "2026-11-26 18:00:00", cronexpr.Refusal{"hour", "18", "9-17"}},
		{"0 0/15 * * * ?", cronexpr.Quartz, "2026-11-26 18:20:00", cronexpr.Refusal{"minute", "20", "0, 15, 30, 45"}},
		{"10 0 * * * ?", cronexpr.Quartz, "2026-11-26 18:00:11", cronexpr.Refusal{"second", "11", "10"}},
		{"0 0 3 * * ? 2027", cronexpr.Quartz, "2026-11-26 03:00:00", cronexpr.Refusal{"year", "2026", "2027"}},
		{
			"0 0 3 ? * MON 2020,2027-2029,2199", cronexpr.Quartz, "2026-11-26 03:00:00",
			cronexpr.Refusal{"year", "2026", "2020, 2027-2029, 2199"},
		},
		{"0 0 3 ? 12 MON", cronexpr.Quartz, "2026-11-26 03:07:00", cronexpr.Refusal{"month", "NOVEMBER", "DECEMBER"}},
		{"0 3 * * 1-3", cronexpr.Unix, "2026-11-26 " +
			"03:00:00", cronexpr.Refusal{"day-of-week", "THURSDAY", "MONDAY-WEDNESDAY"}},
		{"0 3 1 * 1", cronexpr.Unix, "2026-11-26 03:00:00", cronexpr.Refusal{"day-of-week", "THURSDAY", "MONDAY"}},
		{"0 3 */2 * 4", cronexpr.Unix, "2026-11-26 03:00:00", cronexpr.Refusal{"day-of-month", "26", "1, 3, 5, 7, 9, 11, " +
			"13, 15, 17, 19, 21, 23, …"}},
	} {
		e, err := cronexpr.Parse(c.expression, c.dialect)
		require.NoError(t, err)
		at, err := time.Parse(time.DateTime, c.at)
		require.NoError(t, err)
		got, refused := e.Refuses(at)
		require.True(t, refused, c.expression)
		require.Equal(t, c.want, got, c.expression)
	}
	e, err := cronexpr.Parse("0 0/5 3 ? * THU", cronexpr.Quartz)
	require.NoError(t, err)
	_, refused := e.Refuses(time.Date(2026, 11, 26, 3, 5, 0, 0, time.UTC))
	require.False(t, refused)
}

// An expression names a minute exactly where no field refuses it.
func TestAMinuteIsRefusedExactlyWhereItIsNotNamed(t *testing.T) {
	for _, expression := range []string{
		"0 0 3 ? * MON-WED", "0 */7 9-17 1,15,L * ?", "30 5 0 15W * ?", "0 0 12 ? 2 6L", "0 0 0 29 2 ?", "0 1/2 4 ? * 2#1",
	} {
		e, err := cronexpr.Parse(expression, cronexpr.Quartz)
		require.NoError(t, err)
		for at := time.Date(2026, 1, 25, 0, 0, 0, 0, time.UTC); at.Month() < 4; at = at.Add(time.Minute) {
			next, ok := e.Next(at.Add(-time.Second), time.UTC, "", "")
			_, refused := e.Refuses(at)
			require.Equal(t, ok && next.Before(at.Add(time.Minute)), !refused, "%s at %s", expression, at)
		}
	}
}
