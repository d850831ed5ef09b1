package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule/cronexpr"
)

func compile(t testing.TB, spec schedule.Spec) *schedule.Schedule {
	t.Helper()
	s, err := schedule.NewCompiler().Compile(spec)
	require.NoError(t, err)
	return s
}

// texts renders times for comparison.
func texts(times []time.Time) []string {
	var out []string
	for _, t := range times {
		out = append(out, t.Format("2006-01-02T15:04:05.999Z07:00"))
	}
	return out
}

func TestScheduledTimes(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return parsed
	}
	bounded := quartz("0 0 0/6 * * ?")
	bounded.StartTime, bounded.EndTime = at("2026-11-21T06:00:00Z"), at("2026-11-21T18:00:00Z")
	late := quartz("0 0 0/6 * * ?")
	late.StartTime = at("2026-11-21T06:00:00.0005Z")
	tests := map[string]struct {
		spec  schedule.Spec
		after string
		want  []string
	}{
		"cron in a zone": {
			inZone("Asia/Shanghai"), "2026-11-20T22:00:00Z",
			[]string{"2026-11-21T01:00:00Z", "2026-11-22T01:00:00Z"},
		},
		"cron from start to end, both inclusive": {
			bounded, "2026-11-20T22:00:00Z",
			[]string{"2026-11-21T06:00:00Z", "2026-11-21T12:00:00Z", "2026-11-21T18:00:00Z"},
		},
		"cron never before a start within a second": {
			late, "2026-11-20T22:00:00Z",
			[]string{"2026-11-21T12:00:00Z", "2026-11-21T18:00:00Z"},
		},
		"fixed rate from its anchor": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 1500, Anchor: at("2026-11-20T22:00:00.0019Z")},
			"2026-11-20T22:00:00.0019Z",
			[]string{"2026-11-20T22:00:01.501Z", "2026-11-20T22:00:03.001Z"},
		},
		"fixed rate keeps its phase": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 60_000, Anchor: at("2026-01-01T00:00:07Z")},
			"2026-11-20T22:00:07Z",
			[]string{"2026-11-20T22:01:07Z", "2026-11-20T22:02:07Z"},
		},
		"fixed rate from its start, which is a fire": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 60_000, StartTime: at("2026-12-01T00:00:00Z"), Anchor: now},
			"2026-11-20T22:00:00Z",
			[]string{"2026-12-01T00:00:00Z", "2026-12-01T00:01:00Z"},
		},
		"fixed rate to its end": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 60_000, StartTime: now, EndTime: now.Add(2 * time.Minute)},
			"2026-11-20T22:00:00Z",
			[]string{"2026-11-20T22:01:00Z", "2026-11-20T22:02:00Z"},
		},
		"fixed rate without origin counts from 1970": {
			schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 3_600_000},
			"2026-11-20T22:10:00Z",
			[]string{"2026-11-20T23:00:00Z", "2026-11-21T00:00:00Z"},
		},
		"@every is a fixed rate": {
			schedule.Spec{Kind: schedule.Cron, CronExpression: " @every 90s ", Anchor: now},
			"2026-11-20T22:00:00Z",
			[]string{"2026-11-20T22:01:30Z", "2026-11-20T22:03:00Z"},
		},
		"fixed delay": {
			schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1000},
			"2026-11-20T22:00:00.25Z",
			[]string{"2026-11-20T22:00:01.25Z", "2026-11-20T22:00:02.25Z"},
		},
		"fixed delay begins at its start": {
			schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1000, StartTime: now.Add(time.Hour)},
			"2026-11-20T22:00:00Z",
			[]string{"2026-11-20T23:00:00Z", "2026-11-20T23:00:01Z"},
		},
		"once": {
			schedule.Spec{Kind: schedule.Once, At: at("2026-11-21T00:00:00.123456+08:00")},
			"2026-11-20T15:00:00Z",
			[]string{"2026-11-20T16:00:00.123Z"},
		},
		"once is over": {schedule.Spec{Kind: schedule.Once, At: now}, "2026-11-20T22:00:00Z", nil},
		"none":         {schedule.Spec{Kind: schedule.None}, "2026-11-20T22:00:00Z", nil},
		"empty":        {schedule.Spec{}, "2026-11-20T22:00:00Z", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := compile(t, tt.spec)
			require.Equal(t, tt.want, texts(s.Preview(at(tt.after), max(2, len(tt.want)))))
		})
	}
}

func TestPreviewIsBoundedByItsCount(t *testing.T) {
	t.Parallel()
	s := compile(t, quartz("* * * * * ?"))
	require.Len(t, s.Preview(now, 1000), 1000)
	require.Empty(t, s.Preview(now, 0))
	require.Empty(t, s.Preview(now, -1))
}

func TestAfterDelayFollowsTheRunWithinTheBounds(t *testing.T) {
	t.Parallel()
	spec := schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 1500, StartTime: now, EndTime: now.Add(10 * time.Second)}
	s := compile(t, spec)
	next, ok := s.AfterDelay(now.Add(4*time.Second + 700*time.Microsecond))
	require.True(t, ok)
	require.Equal(t, now.Add(5500*time.Millisecond), next)
	next, ok = s.AfterDelay(now.Add(8500 * time.Millisecond))
	require.True(t, ok, "the end itself is within")
	require.Equal(t, now.Add(10*time.Second), next)
	_, ok = s.AfterDelay(now.Add(8501 * time.Millisecond))
	require.False(t, ok)
	next, ok = s.AfterDelay(now.Add(-time.Hour))
	require.True(t, ok)
	require.Equal(t, now, next, "a run by hand before the start does not bring it forward")
	_, ok = compile(t, quartz("0 0 9 * * ?")).AfterDelay(now)
	require.False(t, ok)
}

func TestJitterIsConstantSpreadAndBounded(t *testing.T) {
	t.Parallel()
	spec := quartz("0 0 9 * * ?")
	require.Zero(t, compile(t, spec).Jitter("a"))
	spec.JitterMs = 9
	s := compile(t, spec)
	counts := map[time.Duration]int{}
	for i := range 10_000 {
		id := fmt.Sprintf("0199-%06d", i)
		jitter := s.Jitter(id)
		require.Equal(t, jitter, compile(t, spec).Jitter(id))
		counts[jitter]++
	}
	require.Len(t, counts, 10, "0 to 9 ms, both inclusive")
	for jitter, n := range counts {
		require.InDelta(t, 1000, n, 200, "%s", jitter)
		require.LessOrEqual(t, jitter, 9*time.Millisecond)
	}
}

func TestDstOptionsReachTheExpression(t *testing.T) {
	t.Parallel()
	spec := quartz("0 30 2 * * ?")
	spec.TimeZone = "America/New_York"
	after := time.Date(2026, 3, 8, 5, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"2026-03-08T07:00:00Z"}, texts(compile(t, spec).Preview(after, 1)))
	spec.DstGap = cronexpr.Skip
	require.Equal(t, []string{"2026-03-09T06:30:00Z"}, texts(compile(t, spec).Preview(after, 1)))
	spec.CronExpression, spec.DstOverlap = "0 30 1 * * ?", cronexpr.Both
	autumn := time.Date(2026, 11, 1, 4, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}, texts(compile(t, spec).Preview(autumn, 2)))
}

// someSpec draws a schedule with short periods, so that spans hold many fires.
func someSpec(t *rapid.T) schedule.Spec {
	spec := schedule.Spec{
		Kind: rapid.SampledFrom([]schedule.Kind{schedule.Cron, schedule.FixedRate}).Draw(t, "kind"),
		CronExpression: rapid.SampledFrom([]string{
			"0/7 * * * * ?", "0 */20 9-17 * * ?", "0 30 1,2 * * ?",
			"*/30 0-5 3 ? * SUN", "@every 11s", "@hourly",
		}).Draw(t, "cron"),
		IntervalMs: rapid.Int64Range(100, 5_000_000).Draw(t, "interval"),
		TimeZone:   rapid.SampledFrom([]string{"", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone"),
		Anchor:     now.Add(time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(t, "anchor"))),
	}
	if rapid.Bool().Draw(t, "ends") {
		spec.EndTime = now.Add(time.Duration(rapid.Int64Range(0, 40*3600).Draw(t, "end")) * time.Second)
	}
	return spec
}

func TestLatestAndCountAgreeWithWalkingForward(t *testing.T) {
	t.Parallel()
	compiler := schedule.NewCompiler()
	rapid.Check(t, func(t *rapid.T) {
		s, err := compiler.Compile(someSpec(t))
		require.NoError(t, err)
		first, ok := s.Next(now.Add(-time.Duration(rapid.Int64Range(0, 20*3600).Draw(t, "from")) * time.Second))
		if !ok {
			return
		}
		until := first.Add(time.Duration(rapid.Int64Range(-5000, 30*3600*1000).Draw(t, "span")) * time.Millisecond)
		const limit = 3000
		latest, count := first, 0
		for at, ok := first, true; ok && !at.After(until) && count < limit; at, ok = s.Next(at) {
			latest = at
			count++
		}
		got, ok := s.LatestAtOrBefore(first, until)
		require.Equal(t, count > 0, ok)
		if count > 0 && count < limit {
			require.Equal(t, latest, got)
		}
		n, capped := s.Count(first, until.Add(time.Nanosecond), limit)
		require.Equal(t, count, n)
		if count < limit {
			require.False(t, capped)
		}
		if _, more := s.Next(latest); count == limit && more && !first.Add(1).After(until) {
			n, capped = s.Count(first, until.Add(time.Nanosecond), limit-1)
			require.Equal(t, limit-1, n)
			require.True(t, capped)
		}
	})
}

func TestLatestIsFoundAcrossYears(t *testing.T) {
	t.Parallel()
	from := time.Date(1999, 5, 3, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"* * * * * ?":      "2026-11-20T22:00:00Z",
		"* * 9-17 * * ?":   "2026-11-20T17:59:59Z",
		"0 0 9 ? 5 2#1 ":   "2026-05-04T09:00:00Z",
		"0 0 9 3 5 ? 1999": "1999-05-03T09:00:00Z",
	} {
		latest, ok := compile(t, quartz(text)).LatestAtOrBefore(from, now)
		require.True(t, ok)
		require.Equal(t, want, latest.Format(time.RFC3339), text)
	}
	s := compile(t, schedule.Spec{Kind: schedule.Once, At: now})
	latest, ok := s.LatestAtOrBefore(now, now.AddDate(1, 0, 0))
	require.True(t, ok)
	require.Equal(t, now, latest)
	_, ok = s.LatestAtOrBefore(now, now.Add(-1))
	require.False(t, ok)
}

func TestCountOfASpan(t *testing.T) {
	t.Parallel()
	s := compile(t, quartz("* * * * * ?"))
	n, capped := s.Count(now, now.Add(time.Minute), 100)
	require.Equal(t, 60, n)
	require.False(t, capped)
	n, capped = s.Count(now, now.AddDate(100, 0, 0), 100)
	require.Equal(t, 100, n)
	require.True(t, capped)
	n, _ = s.Count(now, now, 100)
	require.Zero(t, n)
	rate := compile(t, schedule.Spec{Kind: schedule.FixedRate, IntervalMs: 100, StartTime: now})
	n, capped = rate.Count(now, now.AddDate(1, 0, 0), 1<<40)
	require.Equal(t, 365*24*36_000, n)
	require.False(t, capped)
	delay := compile(t, schedule.Spec{Kind: schedule.FixedDelay, IntervalMs: 100})
	n, capped = delay.Count(now, now.AddDate(1, 0, 0), 100)
	require.Equal(t, 1, n)
	require.False(t, capped)
}
