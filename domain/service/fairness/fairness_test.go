package fairness_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/service/fairness"
)

var start = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

const quantum = fairness.DefaultQuantum

func TestWaitingRunsOfAJobStandAQuantumApart(t *testing.T) {
	t.Parallel()
	q := fairness.New(0)
	for k := range 5 {
		require.Equal(t, start.Add(time.Duration(k)*quantum), q.Fair("a", start, start))
	}
	require.Equal(t, start, q.Fair("b", start, start), "another job's first run goes before the second of a flood")
}

func TestFairTimeStartsAtTheLaterOfDueAndNow(t *testing.T) {
	t.Parallel()
	q := fairness.New(time.Second)
	require.Equal(t, start.Add(time.Minute), q.Fair("early", start.Add(time.Minute), start))
	require.Equal(t, start, q.Fair("late", start.Add(-time.Hour), start))
	require.Equal(t, start.Add(time.Second), q.Fair("late", start.Add(-time.Hour), start))
}

func TestVirtualTimeIsForgottenWhenItHasPassed(t *testing.T) {
	t.Parallel()
	q := fairness.New(time.Second)
	q.Fair("a", start, start)
	q.Fair("a", start, start)
	now := start.Add(time.Second)
	require.Equal(t, now.Add(time.Second), q.Fair("a", now, now), "the second run's time has not passed")
	now = now.Add(1001 * time.Millisecond)
	require.Equal(t, now, q.Fair("a", now, now))
}

func TestResetEndsTheRush(t *testing.T) {
	t.Parallel()
	q := fairness.New(time.Second)
	for range 100 {
		q.Fair("a", start, start)
	}
	q.Reset()
	require.Zero(t, q.Len())
	require.Equal(t, start, q.Fair("a", start, start))
}

// A backlog of 10,000 must neither hold back a job that comes a second later
// nor wait for ever itself.
func TestFloodDoesNotStarveAndIsNotStarved(t *testing.T) {
	t.Parallel()
	q := fairness.New(0)
	var flood []time.Time
	for range 100_000 {
		flood = append(flood, q.Fair("flood", start.Add(-time.Hour), start))
	}
	later := start.Add(time.Second)
	fair := q.Fair("punctual", later, later)
	before := 0
	for _, f := range flood {
		if f.Before(fair) {
			before++
		}
	}
	require.Equal(t, 10, before)
	require.Equal(t, start.Add(fairness.MaxLead), flood[len(flood)-1])
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	const bound = 100_000
	q := fairness.New(0)
	for i := range bound / 2 {
		q.Fair(fmt.Sprint("old", i), start, start)
	}
	now := start.Add(time.Minute)
	for i := range bound * 2 {
		q.Fair(fmt.Sprint("new", i), now, now)
		if i%1000 == 0 {
			require.LessOrEqual(t, q.Len(), bound)
		}
	}
}

func TestFairTimeNeverLiesBeforeDueNowOrTheFormerRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := fairness.New(time.Duration(rapid.IntRange(1, 5000).Draw(t, "quantum")) * time.Millisecond)
		now, last := start, map[string]time.Time{}
		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "ms")) * time.Millisecond)
			},
			"run": func(t *rapid.T) {
				job := fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "job"))
				due := now.Add(time.Duration(rapid.IntRange(-10_000, 100).Draw(t, "due")) * time.Millisecond)
				fair := q.Fair(job, due, now)
				require.False(t, fair.Before(due))
				require.False(t, fair.Before(now))
				require.False(t, fair.Before(last[job]), "runs of a job keep their order")
				last[job] = fair
			},
		})
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	q := fairness.New(time.Millisecond)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				q.Fair("a", start, start)
			}
		})
	}
	wg.Wait()
	require.Equal(t, start.Add(time.Second), q.Fair("a", start, start))
}
