package planning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

func compile(t testing.TB, spec schedule.Spec) *schedule.Schedule {
	s, err := schedule.NewCompiler().Compile(spec)
	require.NoError(t, err)
	return s
}

// The plans over real schedules are those over the list of their times.
func TestPlansOverRealSchedules(t *testing.T) {
	t.Parallel()
	specs := map[string]schedule.Spec{
		"every ten seconds": {Kind: schedule.Cron, CronExpression: "0/10 * * * * ?"},
		"office hours":      {Kind: schedule.Cron, CronExpression: "0 0/20 9-17 ? * MON-FRI", TimeZone: "Europe/Berlin"},
		"across the gap":    {Kind: schedule.Cron, CronExpression: "0 15,45 * * * ?", TimeZone: "Europe/Berlin"},
		"fixed rate":        {Kind: schedule.FixedRate, IntervalMs: 7_300, Anchor: start.Add(-time.Hour)},
		"every":             {Kind: schedule.Cron, CronExpression: "@every 90s", Anchor: start},
		"once":              {Kind: schedule.Once, At: start.Add(time.Minute)},
		"that ends":         {Kind: schedule.Cron, CronExpression: "0 * * * * ?", EndTime: start.Add(9 * time.Minute)},
	}
	gaps := []time.Duration{
		-time.Second, 0, 59 * time.Second, 61 * time.Second, 10 * time.Minute, 3 * time.Hour,
		50 * time.Hour,
	}
	from := map[string]time.Time{"across the gap": time.Date(2027, 3, 28, 0, 0, 0, 0, time.UTC)}
	for name, spec := range specs {
		s := compile(t, spec)
		begin, special := from[name]
		if !special {
			begin = start
		}
		cursor, ok := s.Next(begin)
		require.True(t, ok, name)
		scheduledTimes := append(list{cursor}, s.Preview(cursor, 300)...)
		for _, gap := range gaps {
			now := cursor.Add(gap)
			if last := scheduledTimes[len(scheduledTimes)-1]; len(scheduledTimes) > 300 && now.After(last) {
				now = last.Add(-time.Millisecond)
			}
			for _, policy := range []entity.MisfirePolicy{entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll} {
				in := planning.Input{
					Cursor: cursor, Now: now, Jitter: 3 * time.Second, MaxFires: 7,
					Misfire: entity.Misfire{Policy: policy, ThresholdSec: 60, WindowSec: 7200, MaxFires: 20},
				}
				checkPlansOf(t, s, in, scheduledTimes)
			}
		}
	}
}

// A day of an every-second job is decided within the time of a scan, even if
// the most fires are to be saved.
func BenchmarkDecideAfterAnOutage(b *testing.B) {
	s := compile(b, schedule.Spec{Kind: schedule.Cron, CronExpression: "* * * * * ?"})
	for name, span := range map[string]time.Duration{"day": 24 * time.Hour, "year": 365 * 24 * time.Hour} {
		b.Run(name, func(b *testing.B) {
			in := planning.Input{
				Schedule: s, Cursor: start, Now: start.Add(span), MaxFires: 100,
				Misfire: entity.Misfire{Policy: entity.MisfireFireAll, ThresholdSec: 60, WindowSec: 31_536_000, MaxFires: 10_000},
			}
			for b.Loop() {
				require.Len(b, planning.Decide(in).Fires, 100)
			}
		})
	}
}
