package firing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Rule 1: an id that is in the store before its cursor got there is an alarm.
// The execution stays as it is, the cursor moves on, the rest of the batch fires.
func TestAFireThatIsInTheStoreAlreadyIsCountedAndLeftAlone(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				jobs := addMany(t, n, 5, func(_ int, j *entity.Job) { j.Overlap = overlap })
				twice := jobs[2]
				before := entity.NewSkipped(twice, atNoon(), second(-60), entity.ReasonMisfire)
				insertRow(t, n, before)
				require.NoError(t, fireOnce(t, n))
				require.Equal(t, 1, duplicates(n))
				stored := n.Executions(t, twice.ID)
				require.Equal(t, []string{"SKIPPED(MISFIRE)"}, enginetest.States(stored))
				require.Equal(t, before.CreateTime, stored[0].CreateTime)
				for _, job := range jobs {
					require.Len(t, n.Executions(t, job.ID), 1)
					require.Equal(t, second(1), n.Job(t, job.ID).NextFireTime)
				}
				if overlap == entity.OverlapParallel {
					for _, run := range n.Script.Await(t, 4) {
						require.NotEqual(t, before.ID, run.Execution.ID, "somebody had decided about it")
					}
				}
				n.FireAt(t, second(1))
				require.Len(t, n.Executions(t, twice.ID), 2, "it goes on with the next fire")
				require.Equal(t, 1, duplicates(n))
				n.Start(t)
			})
		})
	}
}

// Rule 9: whatever becomes of the commit or its answer, each fire runs once.
func TestAFireRunsOnceWhateverBecomesOfItsCommit(t *testing.T) {
	for name, c := range map[string]struct {
		fault enginetest.Fault
		rows  int // after the first try
		fails bool
	}{
		"the reply is lost":  {enginetest.LostReply, 1, false},
		"the commit is lost": {enginetest.LostCommit, 0, false},
		"the store is away":  {enginetest.Refused, 0, true},
	} {
		for kind, overlap := range overlaps {
			t.Run(name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := enginetest.New(t, enginetest.Options{})
					n.Start(t)
					job := n.Add(t, everySecond(func(j *entity.Job) { j.Overlap = overlap }))
					n.Faults.Next("fire", c.fault)
					err := fireOnce(t, n)
					require.Equal(t, c.fails, err != nil)
					if c.fails {
						require.True(t, apperror.Is(err, apperror.KindUnavailable))
					}
					require.Len(t, n.Executions(t, job.ID), c.rows)
					n.Fire(t)
					execs := n.Executions(t, job.ID)
					require.Equal(t, []int{0}, scheduledTimes(execs))
					n.AwaitStatus(t, execs[0].ID, entity.StatusSuccess)
					require.Len(t, n.Script.Runs(), 1)
					awaitIdle(t, n)
					require.Zero(t, duplicates(n))
				})
			})
		}
	}
}

// Rule 9: of an unanswered commit only executions that carry this node, epoch and
// token are started. Here somebody else recorded the fire meanwhile.
func TestRowsThatSomebodyElseRecordedAreNotStarted(t *testing.T) {
	for name, change := range map[string]func(exec *entity.Execution){
		"another node":     func(exec *entity.Execution) { exec.NodeID = "node-2" },
		"a former epoch":   func(exec *entity.Execution) { exec.Epoch = 1 },
		"a later attempt":  func(exec *entity.Execution) { exec.Token, exec.Attempt = 2, 2 },
		"nobody as yet":    func(exec *entity.Execution) { exec.Status = entity.StatusWaiting },
		"it has ended yet": func(exec *entity.Execution) { exec.Status, exec.EndTime = entity.StatusSuccess, second(0) },
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{Epoch: 2})
			job := n.Add(t, everySecond(nil))
			execs := entity.NewExecutions(job, atNoon(), second(0))
			exec := execs[0]
			exec.Status, exec.NodeID, exec.Epoch, exec.Token, exec.Attempt = entity.StatusRunning, "node-1", 2, 1, 1
			change(exec)
			n.Faults.Next("fire", enginetest.LostCommit)
			n.Faults.After(func(string) { insertRow(t, n, exec) })
			require.NoError(t, fireOnce(t, n))
			require.Empty(t, n.Script.Runs())
			require.Zero(t, slotsInUse(n))
		})
	}
}

// Rule 10: the one offender gets an execution that says why; the others go on.
func TestTheOnePoisonedFireOfABatchIsRecordedAsFailed(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				jobs := addMany(t, n, 50, func(_ int, j *entity.Job) { j.Overlap = overlap })
				bad := entity.NewSkipped(jobs[17], atNoon(), second(0), entity.ReasonNone)
				n.Faults.Poison(func(id string) bool { return id == bad.ID })
				require.NoError(t, fireOnce(t, n))
				for i, job := range jobs {
					execs := n.Executions(t, job.ID)
					require.Len(t, execs, 1)
					require.Equal(t, second(1), n.Job(t, job.ID).NextFireTime)
					if i != 17 {
						require.False(t, execs[0].Status.Final())
						continue
					}
					require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(execs))
					require.Contains(t, execs[0].ErrorMessage, "data too long")
					require.Equal(t, bad.FireKey, execs[0].FireKey)
					require.Equal(t, second(0), n.Job(t, job.ID).LastFireTime)
				}
				require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Poisoned }))
				require.Len(t, n.Events(t), 1, "rule 24: a failure is told")
				n.Start(t)
			})
		})
	}
}

// Nothing is lost while the store is away, and everything is decided once
// when it is back.
func TestFiresOfAnOutageAreMadeUpForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		n.Start(t)
		job := n.Add(t, everySecond(nil))
		n.Faults.Away(true)
		for range 3 {
			require.Error(t, fireOnce(t, n))
			n.Clock.Advance(time.Second)
		}
		n.Faults.Away(false)
		n.Fire(t)
		require.Equal(t, second(4), n.Job(t, job.ID).NextFireTime)
		covered := 0
		for _, exec := range n.Executions(t, job.ID) {
			covered += max(exec.SkipCount, 1)
		}
		require.Equal(t, 4, covered, "each scheduled time is in exactly one row")
	})
}

// The statements of one transaction see one another's failure: what was moved
// before an execution was refused has not moved.
func TestACursorDoesNotMoveWithoutItsRow(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(nil))
	moves := false
	err := n.Store.Write(t.Context(), repository.LaneFire, "test", func(ctx context.Context, tx repository.Tx) error {
		moved, _, err := tx.Jobs.Move(ctx, []repository.JobMove{{
			JobAdvance: repository.JobAdvance{
				ID: job.ID, NextFireTime: second(1), DueTime: second(1),
				Status: entity.JobEnabled,
			},
			From: second(0), Version: 1,
		}})
		moves = moved[job.ID]
		if err != nil {
			return err
		}
		return tx.Executions.Insert(ctx, []*entity.Execution{{ID: "x", FireKey: string(make([]byte, 5000))}})
	})
	require.Error(t, err)
	require.True(t, moves)
	require.Equal(t, second(0), n.Job(t, job.ID).NextFireTime)
}
