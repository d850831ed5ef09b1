package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

// counted is the load of one schedule, fire by fire.
func counted(s *schedule.Schedule, from time.Time, minutes int, jitter time.Duration) []int {
	fires := make([]int, minutes)
	for at, ok := s.Next(from.Add(-jitter - time.Millisecond)); ok; at, ok = s.Next(at) {
		minute := int(at.Add(jitter).Sub(from) / time.Minute)
		if minute >= minutes {
			break
		}
		fires[minute]++
	}
	return fires
}

// randomSpec is a schedule with everything that could make a minute odd.
func randomSpec(r *rand.Rand, from time.Time) schedule.Spec {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	spec := schedule.Spec{
		Kind:       schedule.Cron,
		TimeZone:   pick("", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "America/Sao_Paulo"),
		DstGap:     []cronexpr.Gap{cronexpr.NextValid, cronexpr.Skip}[r.IntN(2)],
		DstOverlap: []cronexpr.Overlap{cronexpr.First, cronexpr.Both}[r.IntN(2)],
		CronExpression: fmt.Sprintf("%s %s %s ? * *", pick("0", "30", "*", "0/7", "10,20", "0,59", "59"),
			pick("*", "0", "0/5", "15,45", "59", "30"), pick("*", "1-3", "2", "0/2", "1")),
	}
	if r.IntN(4) == 0 {
		spec.StartTime = from.Add(time.Duration(r.IntN(3600_000)) * time.Millisecond)
	}
	if r.IntN(4) == 0 {
		spec.EndTime = from.Add(time.Hour + time.Duration(r.IntN(3600_000))*time.Millisecond)
	}
	switch r.IntN(3) {
	case 0:
		spec.JitterMs = int64(r.IntN(200_000))
	case 1:
		spec.Kind, spec.IntervalMs = schedule.FixedRate,
			int64([]int{100, 999, 1000, 7_001, 60_000, 61_000, 3_600_000}[r.IntN(7)])
		spec.Anchor = from.Add(time.Duration(r.IntN(7200_000)-5400_000) * time.Millisecond)
	}
	return spec
}

func TestLoadCountsEveryFire(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	for _, from := range []time.Time{ // around changes of the clocks
		time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 3, 8, 6, 30, 0, 0, time.UTC),
		time.Date(2026, 11, 1, 5, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 14, 30, 0, 0, time.UTC),
		time.Date(2026, 10, 3, 15, 0, 0, 0, time.UTC),
		time.Date(2018, 11, 4, 2, 30, 0, 0, time.UTC), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	} {
		for range 250 {
			spec := randomSpec(r, from)
			s, err := schedule.NewCompiler().Compile(spec)
			require.NoError(t, err, spec)
			minutes := 1 + r.IntN(200)
			load := schedule.NewLoad(from.Add(time.Duration(r.IntN(60_000))*time.Millisecond), minutes, 1_000_000)
			want := make([]int, minutes)
			for job := range 3 { // the second and third find what the first has walked
				jitter := s.Jitter(fmt.Sprint("job-", job))
				require.True(t, load.Add(s, jitter, job+1))
				for i, n := range counted(s, from, minutes, jitter) {
					want[i] += (job + 1) * n
				}
			}
			require.Equal(t, want, load.Fires(), "%+v from %s", spec, from)
		}
	}
}

func TestLoadOfSingleFires(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	load := schedule.NewLoad(from, 2, 100)
	for _, spec := range []schedule.Spec{
		{Kind: schedule.Once, At: from},
		{Kind: schedule.Once, At: from.Add(time.Minute)},
		{Kind: schedule.Once, At: from.Add(-time.Millisecond)},
		{Kind: schedule.Once, At: from.Add(2 * time.Minute)},
		{Kind: schedule.Once, At: from, EndTime: from.Add(-time.Hour)},
		{Kind: schedule.FixedDelay, IntervalMs: 1000},
		{Kind: schedule.None},
	} {
		s, err := schedule.NewCompiler().Compile(spec)
		require.NoError(t, err)
		require.True(t, load.Add(s, 0, 1))
	}
	require.Equal(t, []int{1, 1}, load.Fires())
	load.AddAt(from.Add(-time.Millisecond))
	load.AddAt(from.Add(61 * time.Second))
	require.Equal(t, []int{1, 2}, load.Fires())
}

func TestLoadStopsWhenItsStepsAreUsedUp(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s, err := schedule.NewCompiler().Compile(schedule.Spec{Kind: schedule.Cron, CronExpression: "* * * * * ?"})
	require.NoError(t, err)
	load := schedule.NewLoad(from, 1440, 3000)
	require.True(t, load.Add(s, 0, 1), "a fire a second costs two steps a minute")
	require.Equal(t, 60, load.Fires()[1439])
	for range 100 {
		require.True(t, load.Add(s, 0, 1), "and nothing when it was walked before")
	}
	other, err := schedule.NewCompiler().Compile(schedule.Spec{Kind: schedule.Cron, CronExpression: "0 * * * * ?"})
	require.NoError(t, err)
	require.False(t, load.Add(other, 0, 1))
	require.Equal(t, 101*60+1, load.Fires()[0])
	require.Equal(t, 101*60, load.Fires()[1439])
}

func BenchmarkLoad(b *testing.B) {
	from := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s, err := schedule.NewCompiler().Compile(schedule.Spec{
		Kind: schedule.Cron, CronExpression: "* * * * * ?",
		TimeZone: "Europe/Berlin",
	})
	require.NoError(b, err)
	for b.Loop() {
		schedule.NewLoad(from, 1440, 1_000_000).Add(s, 0, 1)
	}
}
