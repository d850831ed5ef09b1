package completion

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// node is one with four slots, of which some are taken.
type node struct{ taken int }

func (n node) Draining() bool            { return false }
func (n node) HasSpare(*entity.Job) bool { return 4-n.taken >= 2 }
func (n node) Done([]*Result)            {}

// intake is a completer that only takes ends.
func intake(linger time.Duration, taken int) (*Completer, *clocktest.Manual) {
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	return New(Deps{Clock: clock, Node: node{taken}}, Config{Linger: linger, BatchSize: 5, Capacity: 10}), clock
}

func endOf(o entity.OverlapPolicy) *Result {
	return &Result{Run: entity.Run{Job: &entity.Job{Overlap: o}, Execution: &entity.Execution{}}}
}

func (m *Completer) collected() <-chan []*Result {
	got := make(chan []*Result, 1)
	go func() { got <- m.nextBatch() }()
	return got
}

func (m *Completer) put(test *testing.T, f *Result) {
	test.Helper()
	m.results <- f
	require.Eventually(test, func() bool {
		return len(m.results) == 0
	}, 20*time.Second, time.Millisecond, "the end is taken")
}

// While nothing is urgent, ends that come within a moment share a transaction.
func TestEndsWaitForOthersWhileNothingIsUrgent(t *testing.T) {
	m, clock := intake(10*time.Millisecond, 2)
	m.results <- endOf(entity.OverlapParallel)
	got := m.collected()
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
			m, _ := intake(c.linger, c.taken)
			for _, o := range []entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapParallel, c.last} {
				m.results <- endOf(o)
			}
			require.Len(t, m.nextBatch(), 3)
		})
	}
}

func TestAFullBatchAndTheLastOneDoNotWait(t *testing.T) {
	m, _ := intake(time.Minute, 0)
	for range 7 {
		m.results <- endOf(entity.OverlapParallel)
	}
	close(m.results)
	require.Len(t, m.nextBatch(), 5)
	require.Len(t, m.nextBatch(), 2)
	require.Empty(t, m.nextBatch())
}

// An end by which a workflow run goes on waits a tenth as long, and takes along what has ended before it.
func TestEndsOfStepsWaitLess(t *testing.T) {
	step := func() *Result {
		f := endOf(entity.OverlapParallel)
		f.Run.Execution.FireKey = identity.StepKey("run", "load")
		return f
	}
	opening := func() *Result {
		f := endOf(entity.OverlapParallel)
		f.Outcome = entity.Opened()
		return f
	}
	for name, ends := range map[string][]*Result{
		"a step":              {step()},
		"a root":              {opening()},
		"a step behind a run": {endOf(entity.OverlapParallel), step()},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, clock := intake(20*time.Millisecond, 2)
				got := m.collected()
				for _, f := range ends {
					m.results <- f
					synctest.Wait()
				}
				clock.Advance(stepLinger - time.Nanosecond)
				synctest.Wait()
				require.Empty(t, got)
				clock.Advance(time.Nanosecond)
				require.Len(t, <-got, len(ends))
			})
		})
	}
}
