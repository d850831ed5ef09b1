package running_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Whatever becomes of a claim's commit, its executions run once (engine rule 9).
func TestAClaimRunsItsRowsOnceWhateverBecomesOfItsCommit(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"the reply is lost":   enginetest.LostReply,
		"the commit is lost":  enginetest.LostCommit,
		"the store is away":   enginetest.Refused,
		"it runs into others": enginetest.Deadlock,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("claimed", nil))
				var ids []string
				for range 3 {
					ids = append(ids, waitingRun(t, n, job.ID).ID)
				}
				n.Faults.Next("claim", fault)
				n.Start(t)
				for _, id := range ids {
					eventually(t, n, "the run ends", func() bool { return n.Execution(t, id).Status == entity.StatusSuccess })
					exec := n.Execution(t, id)
					require.Equal(t, 1, exec.Attempt)
					require.EqualValues(t, 1, exec.Token)
				}
				require.Len(t, n.Script.Runs(), 3)
				awaitIdle(t, n)
				require.NoError(t, n.Runner.Reconcile(t.Context()))
				require.NoError(t, n.Runner.Reconcile(t.Context()))
				require.Zero(t, n.Counts.Of(func(c *enginetest.Counts) int { return c.Lost + c.Refused }))
			})
		})
	}
}

// Of a claim without an answer only the executions that carry this node are its own:
// what another node claimed meanwhile is left alone (engine rule 9).
func TestAClaimThatWasNotCommittedLeavesTheRowsToTheirNewHolder(t *testing.T) {
	for name, holder := range map[string]entity.Execution{
		"another node":               {NodeID: "node-2", Epoch: 1, Token: 1},
		"a newer life of this node":  {NodeID: "node-1", Epoch: 2, Token: 1},
		"a later claim of this node": {NodeID: "node-1", Epoch: 1, Token: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("claimed", nil))
				exec := waitingRun(t, n, job.ID)
				n.Faults.Next("claim", enginetest.LostCommit)
				n.Runner.Executions = readAfter{n.Store.Executions, func() {
					changeRow(t, n, exec.ID, func(e *entity.Execution) {
						e.Status, e.NodeID, e.Epoch, e.Token = entity.StatusRunning, holder.NodeID, holder.Epoch, holder.Token
						e.Attempt, e.Claim = 1, entity.RunningKey(holder.NodeID)
					})
				}}
				n.Start(t)
				n.AwaitStatus(t, exec.ID, entity.StatusRunning)
				awaitIdle(t, n)
				require.Empty(t, n.Script.Runs())
				require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
			})
		})
	}
}

// Urgent runs go first; among equals the one that waits longest, and the runs
// of a flood stand apart so that others come in between (engine rule 15).
func TestClaimsFollowPriorityAndThenFairTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 1})
		jobOf := func(name string, priority int) string {
			return n.Add(t, enginetest.Job(name, func(j *entity.Job) { j.Priority = priority })).ID
		}
		least, flood, other, urgent := jobOf("least", 1), jobOf("flood", 5), jobOf("other", 5), jobOf("urgent", 10)
		waitingRun(t, n, least)
		for range 5 {
			waitingRun(t, n, flood)
		}
		n.Clock.Advance(150 * time.Millisecond)
		waitingRun(t, n, other)
		last := waitingRun(t, n, urgent)
		require.True(t, last.Claim.Ready())
		n.Start(t)
		n.Script.Await(t, 8)
		require.Equal(t, []string{urgent, flood, flood, other, flood, flood, flood, least}, ranJobs(n))
		awaitIdle(t, n)
	})
}

func TestEveryPriorityGoesBeforeTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 1})
		for priority := 1; priority <= 10; priority++ {
			job := n.Add(t, enginetest.Job("p"+string(rune('a'+priority)), func(j *entity.Job) { j.Priority = priority }))
			waitingRun(t, n, job.ID)
		}
		n.Start(t)
		for i, run := range n.Script.Await(t, 10) {
			require.Equal(t, 10-i, run.Execution.Priority)
		}
	})
}

// No more runs than slots; the others follow as slots come free (engine rule 15).
func TestANodeRunsAsManyAsItHasSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 2})
		job := n.Add(t, enginetest.Job("crowd", nil))
		for range 5 {
			waitingRun(t, n, job.ID)
		}
		release := n.Script.Hold()
		n.Start(t)
		n.Script.Await(t, 2)
		running, total := n.Runner.Load(entity.SlotGeneral)
		require.Equal(t, [2]int{2, 2}, [2]int{running, total})
		waiting, err := n.Store.CountRange(t.Context(), claimable())
		require.NoError(t, err)
		require.Equal(t, 3, waiting)
		release()
		n.Script.Await(t, 5)
		awaitIdle(t, n)
	})
}

func claimable() repository.ClaimRange {
	return repository.ClaimRange{Lo: entity.ReadySpan().Lo, Hi: "W+", Limit: 100}
}

// A hint may get lost, a waiting run may not: the sweep finds it (engine rule 15).
func TestARunNobodyToldOfIsClaimedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startedNode(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("forgotten", nil))
		first := startRun(t, n, job.ID)
		n.AwaitStatus(t, first.ID, entity.StatusSuccess)
		exec := waitingRun(t, n, job.ID)
		begin := n.Clock.Now()
		eventually(t, n, "the sweep finds the run", func() bool {
			return n.Execution(t, exec.ID).Status == entity.StatusSuccess
		})
		require.False(t, n.Execution(t, exec.ID).StartTime.Before(begin))
	})
}

// Waiting runs go before new direct starts (engine rule 14).
func TestDirectStartsYieldWhileRunsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{Slots: 3})
		job := n.Add(t, enginetest.Job("waits", nil))
		for range 4 {
			waitingRun(t, n, job.ID)
		}
		release := n.Script.Hold()
		n.Start(t)
		n.Script.Await(t, 3)
		require.Zero(t, n.Runner.Reserve(entity.Slots{1}))
		release()
		n.Script.Await(t, 4)
		awaitIdle(t, n)
		enginetest.Await(t, func() bool { return n.Runner.Reserve(entity.Slots{3}) == (entity.Slots{3}) },
			"direct starts are possible once nothing waits")
		n.Runner.Release(entity.Slots{3})
	})
}

// So they do from the moment the node hears of a waiting run (engine rule 14).
func TestNewsOfAWaitingRunHoldDirectStartsBack(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Commits.AfterCommit(commit.PostCommit{})
	require.Equal(t, entity.Slots{1}, n.Runner.Reserve(entity.Slots{1}))
	n.Commits.AfterCommit(commit.PostCommit{Ready: 1})
	require.Zero(t, n.Runner.Reserve(entity.Slots{1}))
	n.Runner.Release(entity.Slots{1})
}

// The waiting run of a deleted job is cancelled, and its slot given up (engine rule 17).
func TestAClaimedRunOfADeletedJobIsCancelled(t *testing.T) {
	for _, overlap := range []entity.OverlapPolicy{entity.OverlapParallel, entity.OverlapSerial} {
		t.Run(string(overlap), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				job := n.Add(t, enginetest.Job("gone", func(j *entity.Job) { j.Overlap = overlap }))
				exec := waitingRun(t, n, job.ID)
				deleteJob(t, n, job.ID)
				n.Start(t)
				ended := n.AwaitStatus(t, exec.ID, entity.StatusCancelled)
				require.Equal(t, entity.ReasonDeleted, ended.Reason)
				require.Empty(t, ended.Claim)
				awaitIdle(t, n)
				require.Empty(t, n.Script.Runs())
				require.Empty(t, liveFiresOf(t, n, job.ID))
				require.Len(t, n.Events(t), 1)
			})
		})
	}
}

// The definition that counts is the one at the start (engine rule 17).
func TestAWaitingRunUsesTheCurrentDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("edited", nil))
		waitingRun(t, n, job.ID)
		n.Change(t, job.ID, func(j *entity.Job) { j.Version, j.Data = 2, `{"edited":true}` })
		n.Start(t)
		run := n.Script.Await(t, 1)[0]
		require.Equal(t, 2, run.Job.Version)
		require.JSONEq(t, `{"edited":true}`, run.Job.Data)
	})
}

// An outage between a claim and the reading of definitions loses no run: they are
// read again until the store answers (engine rules 9 and 27).
func TestAnOutageAfterAClaimLosesNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("unread", nil))
		exec := waitingRun(t, n, job.ID)
		n.Runner.Jobs = &unreadableOnce{Jobs: n.Jobs, meanwhile: func() {
			for range 3 {
				require.NoError(t, n.Runner.Reconcile(t.Context()))
			}
		}}
		n.Start(t)
		eventually(t, n, "the run ends", func() bool { return n.Execution(t, exec.ID).Status == entity.StatusSuccess })
		ended := n.Execution(t, exec.ID)
		require.Zero(t, ended.NodeLosses)
		require.Equal(t, 1, ended.Attempt)
		require.Len(t, n.Script.Runs(), 1)
	})
}

// readyHeads counts the looks for the head of a queue.
type readyHeads struct {
	repository.ClaimReader
	asked *atomic.Int32
}

func (r readyHeads) First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	if lo >= entity.ReadySpan().Lo {
		r.asked.Add(1)
	}
	return r.ClaimReader.First(ctx, lo, hi)
}

// A run without routing costs nothing: one look tells that the common queue is
// all there is.
func TestWithoutRoutedRunsOneLookIsEnough(t *testing.T) {
	for name, c := range map[string]struct {
		routing entity.RoutingStrategy
		asks    bool
	}{"common": {entity.RouteAny, false}, "routed": {entity.RouteFirst, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				var asked atomic.Int32
				n.Runner.Claims = readyHeads{n.Store, &asked}
				job := n.Add(t, enginetest.Job("plain", func(j *entity.Job) { j.Routing.Strategy = c.routing }))
				exec := waitingRun(t, n, job.ID)
				n.Start(t)
				n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
				require.Equal(t, c.asks, asked.Load() > 0)
			})
		})
	}
}
