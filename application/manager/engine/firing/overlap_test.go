package firing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Rule 16: what a fire finds running decides what becomes of it.
func TestAFireMeetsARunOfItsJob(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		second string // the row of the second fire while the first one runs
		first  entity.Status
		ended  entity.Status // the second one's, after the first has ended
		events int
	}{
		"DISCARD passes over it": {
			func(j *entity.Job) { j.Overlap = entity.OverlapDiscard },
			"SKIPPED(OVERLAP)", entity.StatusSuccess, entity.StatusSkipped, 1,
		},
		"SERIAL waits for its end": {
			func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 5 },
			"WAITING", entity.StatusSuccess, entity.StatusSuccess, 0,
		},
		"REPLACE stops it first": {
			func(j *entity.Job) { j.Overlap = entity.OverlapReplace },
			"WAITING", entity.StatusCancelled, entity.StatusSuccess, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				n.Start(t)
				release := n.Script.Hold()
				defer release()
				job := n.Add(t, everySecond(func(j *entity.Job) {
					j.Schedule.IntervalMs, j.Schedule.Anchor = 3_600_000, enginetest.Noon.Add(-time.Hour)
					c.change(j)
				}))
				n.Fire(t)
				first := n.Script.Await(t, 1)[0].Execution
				n.Faults.After(func(tx string) {
					if tx == "fire" {
						require.Equal(t, c.second, enginetest.States(n.Executions(t, job.ID))[1])
					}
				})
				// A recorded fire is looked at before the runner hears of it.
				n.FireAt(t, enginetest.Noon.Add(time.Hour))
				second := n.Executions(t, job.ID)[1].ID
				if c.first == entity.StatusSuccess {
					release()
				}
				n.AwaitStatus(t, first.ID, c.first)
				if c.first != entity.StatusSuccess {
					release()
				}
				n.AwaitStatus(t, second, c.ended)
				require.Len(t, n.Events(t), c.events, "rule 24: whatever is not a success is told")
			})
		})
	}
}

// Rule 8: a deleted job drops out, also between the scan and the transaction.
func TestADeletedJobDropsOutAlone(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				jobs := addMany(t, n, 3, func(_ int, j *entity.Job) { j.Overlap = overlap })
				deleted := false
				n.Faults.Before(func(tx string) {
					if tx != "fire" || deleted {
						return
					}
					deleted = true
					n.Write(t, func(ctx context.Context, tx repository.Tx) error {
						j, err := tx.Jobs.LockFull(ctx, jobs[0].ID)
						require.NoError(t, err)
						return tx.Jobs.Update(ctx, j, true) // only the mark tells
					})
				})
				require.NoError(t, fireOnce(t, n))
				require.True(t, deleted)
				require.Empty(t, n.Executions(t, jobs[0].ID))
				require.Len(t, n.Executions(t, jobs[1].ID), 1)
				require.Len(t, n.Executions(t, jobs[2].ID), 1)
				require.Equal(t, 2, n.Planner.Held(), "its hint is dropped")
				n.Start(t)
			})
		})
	}
}

// Rules 8 and 14: the slot of a direct start that drops out is given back, and
// nothing of it runs.
func TestADirectStartThatDropsOutGivesItsSlotBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		release := n.Script.Hold()
		jobs := addMany(t, n, 3, nil)
		n.Faults.Before(func(tx string) {
			if tx == "fire" {
				n.Change(t, jobs[1].ID, func(j *entity.Job) { j.Version++ })
			}
		})
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, 2, slotsInUse(n))
		require.Len(t, n.Script.Await(t, 2), 2)
		n.Faults.Before(nil)
		n.Fire(t)
		require.Len(t, n.Script.Await(t, 3), 3, "the next scan finds the new version")
		require.Equal(t, 3, slotsInUse(n))
		require.Equal(t, 2, n.Executions(t, jobs[1].ID)[0].JobVersion)
		n.Start(t)
		release()
		awaitIdle(t, n)
	})
}

// Rules 10 and 14: beside a poisoned fire the others run directly, and its own
// slot is given back.
func TestBesideAPoisonedFireTheOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		release := n.Script.Hold()
		jobs := addMany(t, n, 50, nil)
		execs := entity.NewExecutions(jobs[33], atNoon(), second(0))
		n.Faults.Poison(func(id string) bool { return id == execs[0].ID })
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, 49, slotsInUse(n))
		for _, run := range n.Script.Await(t, 49) {
			require.NotEqual(t, execs[0].ID, run.Execution.ID)
		}
		n.Start(t)
		release()
		awaitIdle(t, n)
		require.Len(t, n.Script.Runs(), 49)
	})
}

// Rule 10: each shard of a poisoned fire has its execution; it takes no slot.
func TestAPoisonedFireTakesNoPlace(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(func(j *entity.Job) { j.Overlap, j.ShardCount = entity.OverlapDiscard, 3 }))
	execs := entity.NewExecutions(job, atNoon(), second(0))
	n.Faults.Poison(func(id string) bool { return id == execs[2].ID })
	n.Fire(t)
	stored := n.Executions(t, job.ID)
	require.Equal(t, []string{"FAILED(INVALID)", "FAILED(INVALID)", "FAILED(INVALID)"}, enginetest.States(stored))
	for i, exec := range stored {
		require.Equal(t, []int{i, 3}, []int{exec.ShardIndex, exec.ShardTotal})
		require.Empty(t, exec.Claim)
	}
	n.FireAt(t, second(1))
	require.Equal(t, []string{"WAITING", "WAITING", "WAITING"}, enginetest.States(n.Executions(t, job.ID)[3:]))
}
