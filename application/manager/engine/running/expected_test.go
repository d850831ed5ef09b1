package running_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// slowJobs answers its first question only when the test says, as over a
// connection that is half open.
type slowJobs struct {
	running.Jobs
	asked  chan struct{}
	answer chan struct{}
}

func newSlowJobs(jobs running.Jobs) *slowJobs {
	s := &slowJobs{Jobs: jobs, asked: make(chan struct{}, 1), answer: make(chan struct{})}
	s.asked <- struct{}{}
	return s
}

func (s *slowJobs) For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error) {
	select {
	case <-s.asked:
		s.answer <- struct{}{} // the question is here
		<-s.answer
	default:
	}
	return s.Jobs.For(ctx, execs)
}

// Between the commit of a claim and the start of its runs the store may take its
// time. Nobody else gets the runs meanwhile, and they start once (engine rule 9).
func TestAClaimThatStartsLateKeepsItsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		jobs := newSlowJobs(n.Jobs)
		n.Runner.Jobs = jobs
		n.Start(t)
		exec := waitingRun(t, n, n.Add(t, enginetest.Job("serial", func(j *entity.Job) {
			j.Overlap = entity.OverlapSerial
		})).ID)
		n.Runner.RunsReady(entity.SlotGeneral)
		<-jobs.answer
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
		reconcile(t, n, 5)
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
		close(jobs.answer)
		ended := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Equal(t, 1, ended.Attempt)
		require.Zero(t, ended.NodeLosses)
		require.Len(t, n.Script.Runs(), 1)
		awaitIdle(t, n)
	})
}

// An attempt that was given up as lost never starts later: somebody else may be
// at work on the next one (engine rule 9).
func TestAnAttemptThatWasGivenUpDoesNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("lost", nil))
		n.Script.Hold()
		exec := lostRun(t, n, job.ID, nil)
		n.Runner.Expect([]*entity.Execution{exec})
		n.Start(t) // not before: it would claim the run
		reconcile(t, n, 3)
		require.Equal(t, 1, n.Execution(t, exec.ID).Attempt, "it is expected")
		n.Runner.Forget([]*entity.Execution{exec})
		reconcile(t, n, 2)
		second := n.Script.Await(t, 1)[0]
		require.Equal(t, 2, second.Execution.Attempt)
		enginetest.Await(t, func() bool { return n.Runner.Reserve(entity.Slots{1}) == entity.Slots{1} },
			"a slot, once the claim has seen that nothing else waits")
		n.Runner.Start([]entity.Run{{Job: job, Execution: exec}})
		running, _ := n.Runner.Load(entity.SlotGeneral)
		require.Equal(t, 1, running, "its slot is given back")
		require.Len(t, n.Script.Runs(), 1)
		reconcile(t, n, 3)
		require.Equal(t, 2, n.Execution(t, exec.ID).Attempt, "and the second attempt goes on")
	})
}

// Draining beside starts: whatever comes first, nothing panics and all that has
// started ends (engine rule 28).
func TestDrainingBesideStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("drained", nil))
		const rounds = 300
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range rounds {
				n.Runner.Drain(t.Context(), 0)
			}
		}()
		for i := range rounds {
			exec := &entity.Execution{
				ID: newRunID(i), JobID: job.ID, Status: entity.StatusRunning, Token: 1, Epoch: 1,
				Attempt: 1,
			}
			n.Runner.Expect([]*entity.Execution{exec})
			n.Runner.Start([]entity.Run{{Job: job, Execution: exec}})
		}
		<-done
		n.Runner.Drain(t.Context(), 0)
		eventually(t, n, "every late report is judged", func() bool {
			return n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }) == rounds
		})
	})
}

// A node that has ended starts nothing: its next life recovers the executions.
func TestNothingStartsOnANodeThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("late", nil))
		exec := lostRun(t, n, job.ID, nil)
		n.Start(t)()
		n.Runner.Expect([]*entity.Execution{exec})
		n.Runner.Start([]entity.Run{{Job: job, Execution: exec}})
		n.Runner.Forget([]*entity.Execution{exec})
		reconcile(t, n, 2)
		require.Empty(t, n.Script.Runs())
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
	})
}

func newRunID(i int) string {
	return fmt.Sprintf("01a20000-0000-7000-8000-%012x", i)
}
