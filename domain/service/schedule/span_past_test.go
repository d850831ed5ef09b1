package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// A range of the past is named as if the schedule had always been in force.
func TestTheTimesOfAPastRange(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	daily := quartz("0 0 12 * * ?")
	daily.StartTime, daily.EndTime = day.AddDate(1, 0, 0), day.AddDate(2, 0, 0)
	ended := quartz("0 0 12 * * ?")
	ended.EndTime = day.Add(36 * time.Hour)
	hours := func(h ...int) (out []time.Time) {
		for _, n := range h {
			out = append(out, day.Add(time.Duration(n)*time.Hour))
		}
		return out
	}
	for name, c := range map[string]struct {
		spec schedule.Spec
		want []time.Time
	}{
		"cron before its start": {daily, hours(12, 36, 60)},
		"cron up to its end":    {ended, hours(12, 36)},
		"fixed rate before its anchor": {schedule.Spec{
			Kind: schedule.FixedRate, IntervalMs: 20 * 3_600_000,
			Anchor: day.Add(100 * time.Hour),
		}, hours(0, 20, 40, 60)},
		"fixed rate before its start": {schedule.Spec{
			Kind: schedule.FixedRate, IntervalMs: 20 * 3_600_000,
			StartTime: day.Add(101 * time.Hour),
		}, hours(1, 21, 41, 61)},
		"@every": {schedule.Spec{
			Kind: schedule.Cron, CronExpression: "@every 20h",
			Anchor: day.Add(105 * time.Hour),
		}, hours(5, 25, 45, 65)},
		"once":             {schedule.Spec{Kind: schedule.Once, At: day.Add(7 * time.Hour)}, hours(7)},
		"once, at the end": {schedule.Spec{Kind: schedule.Once, At: day.Add(72 * time.Hour)}, nil},
		"fixed delay":      {schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 3_600_000, Anchor: day}, nil},
		"none":             {schedule.Spec{Kind: schedule.None}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			past := compile(t, c.spec).Unstarted()
			require.Equal(t, texts(c.want), texts(past.Between(day, day.Add(72*time.Hour), 100)))
			require.Equal(t, texts(c.want[:min(len(c.want), 2)]), texts(past.Between(day, day.Add(72*time.Hour), 2)))
		})
	}
}

// Going back changes no time from the first one on.
func TestAFixedRateGoesBackOnItsOwnGrid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		anchor := time.UnixMilli(rapid.Int64Range(0, 2e12).Draw(t, "anchor")).UTC()
		spec := schedule.Spec{Kind: schedule.FixedRate, IntervalMs: rapid.Int64Range(schedule.MinIntervalMs, 1e9).Draw(t,
			"interval")}
		if rapid.Bool().Draw(t, "started") {
			spec.StartTime = anchor
		} else {
			spec.Anchor = anchor
		}
		sched, err := schedule.NewCompiler().Compile(spec)
		require.NoError(t, err)
		after := anchor.Add(time.Duration(rapid.Int64Range(-1, 1e10).Draw(t, "after")) * time.Millisecond)
		first, _ := sched.Next(anchor.Add(-time.Millisecond))
		if after.Before(first.Add(-time.Millisecond)) {
			after = first.Add(-time.Millisecond)
		}
		require.Equal(t, sched.Preview(after, 3), sched.Unstarted().Preview(after, 3))
		last, ok := sched.Unstarted().Next(first.Add(-time.Duration(spec.IntervalMs+1) * time.Millisecond))
		require.True(t, ok)
		if first.UnixMilli() >= spec.IntervalMs {
			require.Equal(t, first.Add(-time.Duration(spec.IntervalMs)*time.Millisecond), last)
		}
	})
}
