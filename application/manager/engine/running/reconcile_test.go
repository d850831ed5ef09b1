package running_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// lostRun stores a run as a former life of node-1 left it behind.
func lostRun(t *testing.T, n *enginetest.Node, jobID string, change func(exec *entity.Execution)) *entity.Execution {
	t.Helper()
	exec := waitingRun(t, n, jobID)
	changeRow(t, n, exec.ID, func(exec *entity.Execution) {
		exec.Status, exec.NodeID, exec.Epoch, exec.Token, exec.Attempt = entity.StatusRunning, "node-1", 1, 1, 1
		exec.Claim, exec.StartTime = entity.RunningKey("node-1"), enginetest.Noon
		if change != nil {
			change(exec)
		}
	})
	return n.Execution(t, exec.ID)
}

func reconcile(t *testing.T, n *enginetest.Node, times int) {
	t.Helper()
	for range times {
		require.NoError(t, n.Runner.Reconcile(t.Context()))
	}
}

// Rule 20: what a loss of the node makes of a run. Losses count apart from
// retries, and a job that kills its node does not kill them all.
func TestARunOfAFormerLifeIsRecoveredAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		job    func(j *entity.Job)
		row    func(exec *entity.Execution)
		want   entity.Status // "": it runs again
		reason entity.Reason
		losses int
		dead   int
	}{
		"it runs again": {nil, nil, "", entity.ReasonNone, 1, 0},
		"it runs again after its third loss": {
			nil, func(exec *entity.Execution) { exec.NodeLosses = 2 }, "", entity.ReasonNone, 3, 0,
		},
		"the fourth loss is the last": {
			nil, func(exec *entity.Execution) { exec.NodeLosses = 3 }, entity.StatusDead, entity.ReasonNodeLost, 3, 1,
		},
		"the job wants it to fail": {
			func(j *entity.Job) { j.OnNodeLoss = entity.NodeLossFail }, nil, entity.StatusFailed, entity.ReasonNodeLost, 0, 0,
		},
		"it was to be cancelled": {
			nil, func(exec *entity.Execution) { exec.CancelRequested = true }, entity.StatusCancelled, entity.ReasonNone, 0, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{Epoch: 2})
				job := n.Add(t, enginetest.Job("lost", c.job))
				exec := lostRun(t, n, job.ID, c.row)
				reconcile(t, n, 1)
				synctest.Wait()
				ended := n.Execution(t, exec.ID)
				if c.want != "" {
					require.Equal(t, c.want, ended.Status)
				}
				require.Equal(t, c.losses, ended.NodeLosses)
				require.Zero(t, ended.RetryCount, "a loss uses no retry up")
				require.Len(t, deadLettersOf(t, n, job.ID), c.dead)
				if c.want != "" {
					require.Equal(t, c.reason, ended.Reason)
				} else {
					attempts := attemptsOf(t, n, exec.ID)
					require.Len(t, attempts, 1)
					require.Equal(t, entity.ReasonNodeLost, attempts[0].Reason)
					require.Equal(t, "node-1", attempts[0].NodeID)
				}
				require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
				awaitIdle(t, n)
			})
		})
	}
}

// A run of a former life goes on to its good end, with a higher token.
func TestALostRunStartsAgainWithAHigherToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Epoch: 2})
		exec := lostRun(t, n, n.Add(t, enginetest.Job("lost", nil)).ID, nil)
		reconcile(t, n, 1)
		ended := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.EqualValues(t, 2, ended.Token)
		require.EqualValues(t, 2, ended.Epoch)
		require.Equal(t, 2, ended.Attempt)
	})
}

// Rule 9: an execution of this life that nobody here knows of is lost at the second
// look, not at the first: its start may be under way.
func TestARowUnknownTwiceIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		exec := lostRun(t, n, n.Add(t, enginetest.Job("unknown", nil)).ID, nil)
		reconcile(t, n, 1)
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
		require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }))
		reconcile(t, n, 1)
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		reconcile(t, n, 3)
		require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost }), "its end is on its way once")
	})
}

// Two looks at two attempts of one run are one look at each.
func TestLooksAtDifferentAttemptsDoNotAddUp(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	exec := lostRun(t, n, n.Add(t, enginetest.Job("unknown", nil)).ID, nil)
	reconcile(t, n, 1)
	changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.Token, exec.Attempt = 2, 2 })
	lost := func(c *enginetest.Counts) int { return c.Lost }
	reconcile(t, n, 1)
	require.Zero(t, n.Counts.Of(lost))
	reconcile(t, n, 1)
	require.Equal(t, 1, n.Counts.Of(lost))
}

// A run that a later life of this node id holds is not for this process to judge.
func TestARowOfALaterLifeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Epoch: 2})
		exec := lostRun(t, n, n.Add(t, enginetest.Job("later", nil)).ID, func(exec *entity.Execution) { exec.Epoch = 3 })
		reconcile(t, n, 4)
		require.Equal(t, exec, n.Execution(t, exec.ID))
	})
}

// Executions of other nodes are theirs.
func TestARowOfAnotherNodeIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Epoch: 2})
		exec := lostRun(t, n, n.Add(t, enginetest.Job("other", nil)).ID, func(exec *entity.Execution) {
			exec.NodeID, exec.Claim = "node-2", entity.RunningKey("node-2")
		})
		reconcile(t, n, 4)
		require.Equal(t, exec, n.Execution(t, exec.ID))
	})
}

// Rule 9: a run whose execution is final, gone to others or gone for good is killed
// at the second look.
func TestARunThatTheStoreKnowsOtherwiseIsKilled(t *testing.T) {
	for name, change := range map[string]func(exec *entity.Execution){
		"its row is final": func(exec *entity.Execution) {
			exec.Status, exec.Claim, exec.EndTime = entity.StatusSuccess, "", enginetest.Noon
		},
		"another node has it": func(exec *entity.Execution) {
			exec.NodeID, exec.Claim, exec.Token = "node-2", entity.RunningKey("node-2"), exec.Token+1
		},
		"it waits again": func(exec *entity.Execution) {
			exec.Status, exec.NodeID, exec.Claim = entity.StatusWaiting, "", entity.ScheduledKey(enginetest.Noon.Add(time.Hour))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				n.Script.Hold()
				exec := startRun(t, n, n.Add(t, enginetest.Job("stray", nil)).ID)
				n.Script.Await(t, 1)
				eventually(t, n, "the claim gives back what it did not need", func() bool {
					running, _ := n.Runner.Load(entity.SlotGeneral)
					return running == 1
				})
				changeRow(t, n, exec.ID, change)
				stored := n.Execution(t, exec.ID)
				reconcile(t, n, 1)
				running, _ := n.Runner.Load(entity.SlotGeneral)
				require.Equal(t, 1, running, "one look may be mistaken")
				reconcile(t, n, 1)
				awaitIdle(t, n)
				require.Equal(t, stored, n.Execution(t, exec.ID), "and its report counts for nothing")
				require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
			})
		})
	}
}

// A run that is what the store says goes on for as many looks as there are.
func TestARunThatTheStoreKnowsGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		release := n.Script.Hold()
		exec := startRun(t, n, n.Add(t, enginetest.Job("good", nil)).ID)
		n.Script.Await(t, 1)
		reconcile(t, n, 5)
		release()
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
	})
}

// A cancel request that this node was not told of is found in the execution.
func TestACancelRequestInTheRowIsPassedOn(t *testing.T) {
	for i, reason := range []entity.Reason{entity.ReasonNone, entity.ReasonReplaced} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := startedNode(t, enginetest.Options{})
				n.Script.Hold()
				exec := startRun(t, n, n.Add(t, enginetest.Job("cancelled", nil)).ID)
				n.Script.Await(t, 1)
				changeRow(t, n, exec.ID, func(exec *entity.Execution) { exec.CancelRequested, exec.Reason = true, reason })
				reconcile(t, n, 1)
				ended := n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
				require.Equal(t, reason, ended.Reason)
			})
		})
	}
}

// The reconciliation of a node that is stopping, or that cannot read, reports
// what was in its way and ends nothing by mistake.
func TestAReconciliationThatCannotReadEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{Epoch: 2})
		exec := lostRun(t, n, n.Add(t, enginetest.Job("lost", nil)).ID, nil)
		n.Runner.Executions = &unreadableExecutions{ExecutionReader: n.Store.Executions}
		n.Runner.Executions.(*unreadableExecutions).away.Store(true)
		require.Error(t, n.Runner.Reconcile(t.Context()))
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
		n.Runner.Executions.(*unreadableExecutions).away.Store(false)
		reconcile(t, n, 1)
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
	})
}
