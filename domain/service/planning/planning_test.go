package planning_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

func misfire(policy entity.MisfirePolicy) entity.Misfire {
	return entity.Misfire{Policy: policy, ThresholdSec: 60, WindowSec: 86400, MaxFires: 1000}
}

// minutes are fires by their minutes after start; see missed.
func minutes(ns ...int) []entity.Fire {
	var out []entity.Fire
	for _, n := range ns {
		trigger := entity.TriggerSchedule
		if n < 0 {
			trigger, n = entity.TriggerMisfire, -n-1
		}
		at := after(time.Duration(n) * time.Minute)
		out = append(out, entity.PlannedFire(at, at, trigger))
	}
	return out
}

// missed is the number by which minutes means a fire that the policy saved.
func missed(n int) int { return -n - 1 }

func skipped(first, end, count int) *entity.SkippedRange {
	return &entity.SkippedRange{
		First: after(time.Duration(first) * time.Minute), End: after(time.Duration(end) * time.Minute),
		Count: count, Reason: entity.ReasonMisfire,
	}
}

// skippedThrough ends behind its last time, which no fire follows at once.
func skippedThrough(first, last, count int) *entity.SkippedRange {
	s := skipped(first, last, count)
	s.End = s.End.Add(time.Millisecond)
	return s
}

// A job fires every minute from start on; its cursor is start.
func TestDecideAboutAJobOfEveryMinute(t *testing.T) {
	t.Parallel()
	const once, skip, all = entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll
	limited := misfire(all)
	limited.MaxFires = 2
	narrow := misfire(all)
	narrow.WindowSec = 180
	shut := misfire(all)
	shut.WindowSec = 0
	lately, briefly, never := misfire(once), misfire(once), misfire(once)
	lately.WindowSec, briefly.WindowSec, never.WindowSec = 61, 60, 0
	strict := misfire(once)
	strict.ThresholdSec = 0

	for _, c := range []struct {
		name    string
		misfire entity.Misfire
		now     time.Duration
		want    planning.Plan
	}{
		{"not due yet", misfire(once), -1, planning.Plan{Next: start}},
		{"an hour before the cursor", misfire(once), -time.Hour, planning.Plan{Next: start}},
		{"due now", misfire(once), 0, planning.Plan{Fires: minutes(0), Next: after(time.Minute)}},
		{
			"late by less than the threshold", misfire(skip), 59 * time.Second,
			planning.Plan{Fires: minutes(0), Next: after(time.Minute)},
		},
		{
			"late by the threshold", misfire(skip), 60 * time.Second,
			planning.Plan{Fires: minutes(0, 1), Next: after(2 * time.Minute)},
		},

		{
			"one missed, once", misfire(once), 60*time.Second + 1,
			planning.Plan{Fires: minutes(missed(0), 1), Next: after(2 * time.Minute)},
		},
		{
			"one missed, skip", misfire(skip), 60*time.Second + 1,
			planning.Plan{Skip: skippedThrough(0, 0, 1), Fires: minutes(1), Next: after(2 * time.Minute)},
		},
		{
			"one missed, all", misfire(all), 60*time.Second + 1,
			planning.Plan{Fires: minutes(missed(0), 1), Next: after(2 * time.Minute)},
		},

		{
			"five missed, once", misfire(once), 5*time.Minute + time.Second,
			planning.Plan{Skip: skipped(0, 4, 4), Fires: minutes(missed(4), 5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, skip", misfire(skip), 5*time.Minute + time.Second,
			planning.Plan{Skip: skippedThrough(0, 4, 5), Fires: minutes(5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, all", misfire(all), 5*time.Minute + time.Second,
			planning.Plan{
				Fires: minutes(missed(0), missed(1), missed(2), missed(3), missed(4), 5),
				Next:  after(6 * time.Minute),
			},
		},
		{
			"five missed, the latest two", limited, 5*time.Minute + time.Second,
			planning.Plan{Skip: skipped(0, 3, 3), Fires: minutes(missed(3), missed(4), 5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, two in the window", narrow, 5*time.Minute + time.Second,
			planning.Plan{Skip: skipped(0, 3, 3), Fires: minutes(missed(3), missed(4), 5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, none in the window", shut, 5*time.Minute + time.Second,
			planning.Plan{Skip: skippedThrough(0, 4, 5), Fires: minutes(5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, the latest in the window", lately, 5*time.Minute + time.Second,
			planning.Plan{Skip: skipped(0, 4, 4), Fires: minutes(missed(4), 5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, the latest a second too old", briefly, 5*time.Minute + time.Second,
			planning.Plan{Skip: skippedThrough(0, 4, 5), Fires: minutes(5), Next: after(6 * time.Minute)},
		},
		{
			"five missed, no window for the latest", never, 5*time.Minute + time.Second,
			planning.Plan{Skip: skippedThrough(0, 4, 5), Fires: minutes(5), Next: after(6 * time.Minute)},
		},
		{"no threshold", strict, time.Minute, planning.Plan{Fires: minutes(missed(0), 1), Next: after(2 * time.Minute)}},
		{
			"no policy is once",
			entity.Misfire{ThresholdSec: 60, WindowSec: 86_400},
			5*time.Minute + time.Second,
			planning.Plan{Skip: skipped(0, 4, 4), Fires: minutes(missed(4), 5), Next: after(6 * time.Minute)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := planning.Decide(planning.Input{
				Schedule: grid(time.Minute), Cursor: start, Now: after(c.now), Misfire: c.misfire, MaxFires: 100,
			})
			require.Equal(t, c.want, got)
		})
	}
}

func TestJitterMovesDueTimesAndNotScheduledOnes(t *testing.T) {
	t.Parallel()
	in := planning.Input{
		Schedule: grid(time.Minute), Cursor: start, Jitter: 20 * time.Second, Misfire: misfire(entity.MisfireSkip),
		MaxFires: 10,
	}
	in.Now = after(20*time.Second - 1)
	require.Equal(t, planning.Plan{Next: start}, planning.Decide(in))
	in.Now = after(20 * time.Second)
	require.Equal(t, []entity.Fire{entity.PlannedFire(start, after(20*time.Second), entity.TriggerSchedule)},
		planning.Decide(in).Fires)
	in.Now = after(80 * time.Second)
	require.Nil(t, planning.Decide(in).Skip, "missed counts from the due time")
	in.Now = after(80*time.Second + 1)
	require.NotNil(t, planning.Decide(in).Skip)
}

func TestWindowCountsFromDueTimesAndIncludesItsEdge(t *testing.T) {
	t.Parallel()
	narrow := misfire(entity.MisfireFireAll)
	narrow.WindowSec = 180
	plan := planning.Decide(planning.Input{
		Schedule: grid(time.Minute), Cursor: start, Now: after(5*time.Minute + 20*time.Second), Jitter: 20 * time.Second,
		Misfire: narrow, MaxFires: 10,
	})
	require.Equal(t, skipped(0, 2, 2), plan.Skip)
	require.Equal(t, after(2*time.Minute), plan.Fires[0].ScheduledTime)
}

func TestOneCallDecidesAtMostMaxFires(t *testing.T) {
	t.Parallel()
	in := planning.Input{
		Schedule: grid(time.Second), Cursor: start, Now: after(10 * time.Second), Misfire: misfire(entity.MisfireFireOnce),
		MaxFires: 4,
	}
	plan := planning.Decide(in)
	require.Len(t, plan.Fires, 4)
	require.True(t, plan.Partial)
	require.Equal(t, after(4*time.Second), plan.Next)

	in.Cursor, in.MaxFires = plan.Next, 7
	plan = planning.Decide(in)
	require.Len(t, plan.Fires, 7)
	require.False(t, plan.Partial, "all that is due is decided")
	require.Equal(t, after(11*time.Second), plan.Next)

	in.Cursor, in.MaxFires = start, 0
	require.Len(t, planning.Decide(in).Fires, 1)
}

func TestScheduleThatEnds(t *testing.T) {
	t.Parallel()
	once := list{start}
	for policy, want := range map[entity.MisfirePolicy]planning.Plan{
		entity.MisfireFireOnce: {Fires: minutes(missed(0))},
		entity.MisfireFireAll:  {Fires: minutes(missed(0))},
		entity.MisfireSkip: {Skip: &entity.SkippedRange{
			First: start, End: after(time.Millisecond), Count: 1, Reason: entity.ReasonMisfire,
		}},
	} {
		got := planning.Decide(planning.Input{
			Schedule: once, Cursor: start, Now: after(time.Hour), Misfire: misfire(policy),
			MaxFires: 9,
		})
		require.Equal(t, want, got, "%s", policy)
	}
	require.Equal(t, planning.Plan{}, planning.Decide(planning.Input{Schedule: once, Now: start, MaxFires: 9}),
		"nothing is planned")
	// The one time of a job is caught up within the window, whose edge belongs to it, and left out beyond it.
	for window, fires := range map[int]int{3600: 1, 3599: 0, 0: 0} {
		m := misfire(entity.MisfireFireOnce)
		m.WindowSec = window
		got := planning.Decide(planning.Input{Schedule: once, Cursor: start, Now: after(time.Hour), Misfire: m, MaxFires: 9})
		require.Len(t, got.Fires, fires, "%d", window)
		require.Equal(t, fires == 0, got.Skip != nil)
		require.Zero(t, got.Next)
	}
}

// A change of zone rules may take the cursor out of the schedule. A promise
// is kept, and counted.
func TestCursorThatTheScheduleNoLongerNames(t *testing.T) {
	t.Parallel()
	in := planning.Input{
		Schedule: grid(time.Minute), Cursor: after(30 * time.Second), Now: after(40 * time.Second),
		Misfire: misfire(entity.MisfireSkip), MaxFires: 9,
	}
	plan := planning.Decide(in)
	require.Len(t, plan.Fires, 1)
	require.Equal(t, in.Cursor, plan.Fires[0].ScheduledTime)
	require.Equal(t, after(time.Minute), plan.Next)

	in.Now = after(3 * time.Minute)
	plan = planning.Decide(in)
	require.Equal(t, &entity.SkippedRange{
		First: in.Cursor, End: after(time.Minute + time.Millisecond), Count: 2,
		Reason: entity.ReasonMisfire,
	}, plan.Skip)
	require.Equal(t, minutes(2, 3), plan.Fires)
}

func TestCountingIsBounded(t *testing.T) {
	t.Parallel()
	in := planning.Input{
		Schedule: grid(time.Second), Cursor: start, Now: start.AddDate(3, 0, 0), Misfire: misfire(entity.MisfireFireAll),
		MaxFires: 10,
	}
	plan := planning.Decide(in)
	require.Equal(t, planning.MaxCount, plan.Skip.Count)
	require.True(t, plan.Skip.AtLeast)
	require.Equal(t, plan.Fires[0].ScheduledTime, plan.Skip.End)
	require.Equal(t, in.Now.Add(-61*time.Second).Add(-999*time.Second), plan.Skip.End)
}

func TestSpan(t *testing.T) {
	t.Parallel()
	never := list{}
	for _, c := range []struct {
		name          string
		schedule      planning.Cursorer
		cursor, until time.Time
		want          *entity.SkippedRange
		next          time.Time
	}{
		{
			"some", grid(time.Minute), start, after(150 * time.Second),
			&entity.SkippedRange{
				First: start, End: after(2*time.Minute + time.Millisecond), Count: 3,
				Reason: entity.ReasonPaused,
			}, after(3 * time.Minute),
		},
		{
			"until is inside", grid(time.Minute), start, after(2 * time.Minute),
			&entity.SkippedRange{
				First: start, End: after(2*time.Minute + time.Millisecond), Count: 3,
				Reason: entity.ReasonPaused,
			}, after(3 * time.Minute),
		},
		{
			"one", grid(time.Minute), start, start,
			&entity.SkippedRange{First: start, End: after(time.Millisecond), Count: 1, Reason: entity.ReasonPaused},
			after(time.Minute),
		},
		{"none", grid(time.Minute), after(time.Minute), after(time.Second), nil, after(time.Minute)},
		{
			"the last ones",
			list{start, after(time.Second)},
			start, after(time.Hour),
			&entity.SkippedRange{First: start, End: after(1001 * time.Millisecond), Count: 2, Reason: entity.ReasonPaused},
			time.Time{},
		},
		{
			"a forgotten cursor", never, start, after(time.Hour),
			&entity.SkippedRange{First: start, End: after(time.Millisecond), Count: 1, Reason: entity.ReasonPaused},
			time.Time{},
		},
		{"nothing planned", grid(time.Minute), time.Time{}, start, nil, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			skip, next := planning.Span(c.schedule, c.cursor, c.until, entity.ReasonPaused)
			require.Equal(t, c.want, skip)
			require.Equal(t, c.next, next)
		})
	}
}

func BenchmarkDecideOneFire(b *testing.B) {
	in := planning.Input{
		Schedule: grid(time.Second), Cursor: start, Now: start, Misfire: misfire(entity.MisfireFireOnce), MaxFires: 100,
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = planning.Decide(in)
	}
}
