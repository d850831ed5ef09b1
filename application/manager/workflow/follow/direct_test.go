package follow_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Where a slot is free, the transaction that decides starts what follows: nobody claims it (engine rule 14).
func TestStepsStartWithTheDecision(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{NodeID: "node-7", Epoch: 3})
		job := n.Add(t, flowJob("chain", stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`),
			custom("c", `"needs": ["b"]`), custom("d", `"needs": ["b"]`)), nil))
		n.Start(t)
		var claims atomic.Int64
		root := fire(t, n, job)
		enginetest.Await(t, func() bool { return n.Execution(t, root).Open() }, "the run opens")
		n.Faults.Before(func(name string) {
			if name == "claim" {
				claims.Add(1)
			}
		})
		follow(t, n, root, entity.StatusSuccess)
		require.Zero(t, claims.Load())
		for _, step := range []string{"a", "b", "c", "d"} {
			e := stepRow(t, n, root, job.ID, step)
			require.Equal(t, "node-7", e.NodeID)
			require.EqualValues(t, 3, e.Epoch)
			require.Equal(t, 1, e.Attempt)
		}
		enginetest.Await(t, func() bool { running, _ := n.Runner.Load(entity.SlotGeneral); return running == 0 },
			"every slot is given back")
	})
}

// Where slots are short, the steps of the more urgent workflow start, and the others wait for a claim.
func TestShortSlotsGoToTheMostUrgentSteps(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{Slots: 2})
	fork := stepsOf(custom("a", ""), custom("b", ""))
	idle := n.Add(t, flowJob("idle", fork, func(j *entity.Job) { j.Priority = 1 }))
	urgent := n.Add(t, flowJob("urgent", fork, func(j *entity.Job) { j.Priority = 9 }))
	n.Start(t)
	roots := []string{fire(t, n, idle), fire(t, n, idle), fire(t, n, idle), fire(t, n, urgent)}
	for _, root := range roots {
		enginetest.Await(t, func() bool { return n.Execution(t, root).Open() }, "the run opens")
	}
	enginetest.Await(t, func() bool { return n.Runner.WaitForSlots(t.Context(), 0) == 2 }, "the slots are free")
	release := n.Script.Hold()
	_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
	require.NoError(t, err)
	for _, step := range []string{"a", "b"} {
		require.Equal(t, entity.StatusRunning, stepRow(t, n, roots[3], urgent.ID, step).Status)
		require.Equal(t, entity.StatusWaiting, stepRow(t, n, roots[0], idle.ID, step).Status)
	}
	release()
	for _, root := range roots {
		follow(t, n, root, entity.StatusSuccess)
	}
}

// A drained node decides, and starts nothing.
func TestADrainedNodeStartsNoSteps(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, flowJob("one", stepsOf(custom("a", "")), nil))
	n.Start(t)
	root := fire(t, n, job)
	enginetest.Await(t, func() bool { return n.Execution(t, root).Open() }, "the run opens")
	n.Runner.Suspend(true)
	_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
	require.NoError(t, err)
	e := stepRow(t, n, root, job.ID, "a")
	require.Equal(t, entity.StatusWaiting, e.Status)
	require.NotEmpty(t, e.Claim)
	n.Runner.Suspend(false)
	follow(t, n, root, entity.StatusSuccess)
}

// lookingAgain lets held runs be reconciled before executions are read by id.
type lookingAgain struct {
	repository.ExecutionReader
	look func()
}

func (l lookingAgain) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	l.look()
	return l.ExecutionReader.ByIDs(ctx, ids)
}

// A decision whose commit is not answered, or is made twice, starts each step once, and none of them counts as lost
// (engine rule 9).
func TestAStepStartsOnceHoweverItsCommitEnds(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"the answer is lost": enginetest.LostReply, "the commit is lost": enginetest.LostCommit,
		"it runs twice": enginetest.Deadlock, "it is refused": enginetest.Refused,
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, flowJob("fork", stepsOf(custom("a", ""), custom("b", ""), custom("c", `"needs": ["a", "b"]`)), nil))
			n.Start(t)
			root := fire(t, n, job)
			enginetest.Await(t, func() bool { return n.Execution(t, root).Open() }, "the run opens")
			n.Flow.Executions = lookingAgain{n.Store.Executions, func() {
				for range 3 {
					require.NoError(t, n.Runner.Reconcile(t.Context()))
				}
			}}
			n.Faults.Next("follow-run", fault)
			_, _ = n.Flow.RunOnce(t.Context(), n.Time.Now()) // it may say that the store has not answered
			follow(t, n, root, entity.StatusSuccess)
			require.ElementsMatch(t, []string{"a", "b", "c"}, started(n))
			for _, step := range []string{"a", "b", "c"} {
				require.Equal(t, 1, stepRow(t, n, root, job.ID, step).Attempt)
			}
			require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
			enginetest.Await(t, func() bool { running, _ := n.Runner.Load(entity.SlotGeneral); return running == 0 },
				"every slot is given back")
		})
	}
}
