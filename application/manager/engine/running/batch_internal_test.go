package running

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// gatherer is a completer's intake alone, with four slots of which some are taken.
func gatherer(linger time.Duration, taken int) (*TaskManager, *clocktest.Manual) {
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	t := &TaskManager{
		Deps: Deps{Clock: clock}, cfg: Config{Linger: linger, BatchSize: 5}, slots: newSlots(entity.Slots{4}), results: make(chan *attemptResult, 10),
	}
	t.slots.reserve(entity.Slots{taken})
	return t, clock
}

func endOf(o entity.OverlapPolicy) *attemptResult {
	return &attemptResult{run: entity.Run{Job: &entity.Job{Overlap: o}, Execution: &entity.Execution{}}}
}

func (t *TaskManager) gathered() <-chan []*attemptResult {
	got := make(chan []*attemptResult, 1)
	go func() { got <- t.nextBatch() }()
	return got
}

func (t *TaskManager) put(test *testing.T, f *attemptResult) {
	test.Helper()
	t.results <- f
	require.Eventually(test, func() bool { return len(t.results) == 0 }, 20*time.Second, time.Millisecond, "the end is taken")
}

// While nothing presses, ends that come within a moment share a transaction.
func TestEndsWaitForOthersWhileNothingPresses(t *testing.T) {
	m, clock := gatherer(10*time.Millisecond, 2)
	m.results <- endOf(entity.OverlapParallel)
	got := m.gathered()
	m.put(t, endOf(entity.OverlapParallel))
	clock.Advance(9 * time.Millisecond)
	m.put(t, endOf(entity.OverlapParallel))
	require.Empty(t, got)
	clock.Advance(time.Millisecond)
	require.Len(t, <-got, 3)
}

func TestEndsThatAreAwaitedAreStoredAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		linger time.Duration
		taken  int
		last   entity.OverlapPolicy
	}{
		"another run of the job may start": {time.Minute, 0, entity.OverlapSerial},
		"slots are short":                  {time.Minute, 3, entity.OverlapParallel},
		"as configured":                    {0, 0, entity.OverlapParallel},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := gatherer(c.linger, c.taken)
			for _, o := range []entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapParallel, c.last} {
				m.results <- endOf(o)
			}
			require.Len(t, m.nextBatch(), 3)
		})
	}
}

func TestAFullBatchAndTheLastOneDoNotWait(t *testing.T) {
	m, _ := gatherer(time.Minute, 0)
	for range 7 {
		m.results <- endOf(entity.OverlapParallel)
	}
	close(m.results)
	require.Len(t, m.nextBatch(), 5)
	require.Len(t, m.nextBatch(), 2)
	require.Empty(t, m.nextBatch())
}
