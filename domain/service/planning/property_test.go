package planning_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
)

// expected says the same as Decide in the simplest words: every scheduled time
// is looked at by itself.
func expected(in planning.Input, scheduledTimes list) (skipped, saved, ordinary []time.Time) {
	var gone []time.Time
	for _, n := range scheduledTimes {
		due := n.Add(in.Jitter)
		switch {
		case n.Before(in.Cursor) || due.After(in.Now):
		case due.Before(in.Now.Add(-time.Duration(in.Misfire.ThresholdSec) * time.Second)):
			gone = append(gone, n)
		default:
			ordinary = append(ordinary, n)
		}
	}
	switch in.Misfire.Policy {
	case entity.MisfireSkip:
		return gone, nil, ordinary
	case entity.MisfireFireAll:
		for i, n := range gone {
			old := n.Add(in.Jitter).Before(in.Now.Add(-time.Duration(in.Misfire.WindowSec) * time.Second))
			if old || len(gone)-i > in.Misfire.MaxFires {
				skipped = append(skipped, n)
			} else {
				saved = append(saved, n)
			}
		}
		return skipped, saved, ordinary
	default:
		if len(gone) == 0 {
			return nil, nil, ordinary
		}
		last := len(gone) - 1
		if gone[last].Add(in.Jitter).Before(in.Now.Add(-time.Duration(in.Misfire.WindowSec) * time.Second)) {
			return gone, nil, ordinary
		}
		return append(skipped, gone[:last]...), gone[last:], ordinary
	}
}

// irregular makes ascending scheduled times with gaps of up to 100 s.
func irregular(seed uint64, count int) list {
	r := rand.New(rand.NewPCG(seed, 1))
	l := make(list, 0, count)
	for t := start; len(l) < count; t = t.Add(time.Duration(1+r.IntN(100_000)) * time.Millisecond) {
		l = append(l, t)
	}
	return l
}

// drain decides until nothing due is left, and holds each plan to the form of
// plans.
func drain(t require.TestingT, in planning.Input, scheduledTimes list) (skipped, saved, ordinary []time.Time) {
	for calls := 0; ; calls++ {
		require.LessOrEqual(t, calls, len(scheduledTimes), "the cursor does not move")
		plan := planning.Decide(in)
		at := in.Cursor
		require.LessOrEqual(t, len(plan.Fires), max(in.MaxFires, 1))
		if plan.Skip != nil {
			require.Equal(t, at, plan.Skip.First, "a skip begins at the cursor")
			require.True(t, plan.Skip.End.After(plan.Skip.First))
			var inside []time.Time
			for _, n := range scheduledTimes {
				if !n.Before(plan.Skip.First) && n.Before(plan.Skip.End) {
					inside = append(inside, n)
				}
			}
			require.Equal(t, len(inside), plan.Skip.Count)
			require.False(t, plan.Skip.AtLeast)
			skipped = append(skipped, inside...)
			at = plan.Skip.End
		}
		for _, f := range plan.Fires {
			require.False(t, f.ScheduledTime.Before(at), "pieces are disjoint and in order")
			require.Equal(t, in.Jitter, f.DueTime.Sub(f.ScheduledTime))
			require.False(t, f.DueTime.After(in.Now), "nothing fires early")
			at = f.ScheduledTime.Add(1)
			if f.Trigger == entity.TriggerMisfire {
				saved = append(saved, f.ScheduledTime)
			} else {
				ordinary = append(ordinary, f.ScheduledTime)
			}
		}
		if !plan.Next.IsZero() {
			require.False(t, plan.Next.Before(at))
			require.Equal(t, plan.Partial, !plan.Next.Add(in.Jitter).After(in.Now))
		}
		if !plan.Partial {
			return skipped, saved, ordinary
		}
		in.Cursor = plan.Next
	}
}

func checkPlans(t require.TestingT, in planning.Input, scheduledTimes list) {
	checkPlansOf(t, scheduledTimes, in, scheduledTimes)
}

// checkPlansOf compares the plans over a schedule with what is expected of the
// scheduled times that it names.
func checkPlansOf(t require.TestingT, s planning.Cursorer, in planning.Input, scheduledTimes list) {
	in.Schedule = s
	wantSkipped, wantSaved, wantOrdinary := expected(in, scheduledTimes)

	whole := in
	whole.MaxFires = len(scheduledTimes)
	skipped, saved, ordinary := drain(t, whole, scheduledTimes)
	require.Equal(t, wantSkipped, skipped)
	require.Equal(t, wantSaved, saved)
	require.Equal(t, wantOrdinary, ordinary)

	// In small steps at one moment the same comes out.
	skipped, saved, ordinary = drain(t, in, scheduledTimes)
	require.Equal(t, wantSkipped, skipped)
	require.Equal(t, wantSaved, saved)
	require.Equal(t, wantOrdinary, ordinary)
	require.True(t, slices.IsSortedFunc(slices.Concat(skipped, saved, ordinary), time.Time.Compare))
}

func TestEveryScheduledTimeIsDecidedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scheduledTimes := irregular(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 60).Draw(t, "count"))
		in := planning.Input{
			Cursor: rapid.SampledFrom(scheduledTimes).Draw(t, "cursor"),
			Now:    after(time.Duration(rapid.IntRange(-1000, 4_000_000).Draw(t, "now")) * time.Millisecond),
			Jitter: time.Duration(rapid.IntRange(0, 90_000).Draw(t, "jitter")) * time.Millisecond,
			Misfire: entity.Misfire{
				Policy: rapid.SampledFrom([]entity.MisfirePolicy{
					entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll,
				}).Draw(t, "policy"),
				ThresholdSec: rapid.IntRange(0, 300).Draw(t, "threshold"),
				WindowSec:    rapid.IntRange(0, 3000).Draw(t, "window"),
				MaxFires:     rapid.IntRange(1, 40).Draw(t, "maxFires"),
			},
			MaxFires: rapid.IntRange(0, 10).Draw(t, "perCall"),
		}
		checkPlans(t, in, scheduledTimes)
	})
}

// FuzzMisfire: every policy against every length of outage.
func FuzzMisfire(f *testing.F) {
	f.Add(uint8(0), int64(0), uint64(1), uint16(0), uint16(60), uint16(86), uint16(1000), uint8(100))
	f.Add(uint8(1), int64(90_000), uint64(2), uint16(500), uint16(60), uint16(0), uint16(1), uint8(1))
	f.Add(uint8(2), int64(3_600_000), uint64(3), uint16(0), uint16(0), uint16(600), uint16(5), uint8(3))
	f.Add(uint8(2), int64(-5_000), uint64(4), uint16(60_000), uint16(60), uint16(60), uint16(1), uint8(0))
	f.Fuzz(func(t *testing.T, policy uint8, gapMs int64, seed uint64, jitterMs, threshold, window, maxFires uint16,
		perCall uint8,
	) {
		policies := []entity.MisfirePolicy{entity.MisfireFireOnce, entity.MisfireSkip, entity.MisfireFireAll}
		const year = 366 * 24 * 3_600_000
		scheduledTimes := irregular(seed, 80)
		checkPlans(t, planning.Input{
			Cursor: scheduledTimes[seed%8],
			Now:    after(time.Duration(gapMs%year) * time.Millisecond),
			Jitter: time.Duration(jitterMs) * time.Millisecond,
			Misfire: entity.Misfire{
				Policy: policies[policy%3], ThresholdSec: int(threshold), WindowSec: int(window), MaxFires: 1 + int(maxFires),
			},
			MaxFires: int(perCall),
		}, scheduledTimes)
	})
}
