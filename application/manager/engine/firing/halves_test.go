package firing_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Rule 1, for a fire of several runs of which some are in the store: those
// stay as they are, the fire is counted once and does not begin a second time.
func TestAFireOfWhichSomeShardsAreStoredIsLeftAlone(t *testing.T) {
	for name, shards := range map[string][]int{"the first": {0}, "the last": {2}, "all": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
				jobs := addMany(t, n, 3, func(_ int, j *entity.Job) { j.ShardCount = 3 })
				execs := entity.NewExecutions(jobs[1], atNoon(), second(-60))
				for _, shard := range shards {
					insertRow(t, n, execs[shard])
				}
				require.NoError(t, fireOnce(t, n))
				require.Equal(t, 1, duplicates(n))
				require.Len(t, n.Executions(t, jobs[1].ID), len(shards))
				for _, job := range jobs {
					require.Equal(t, second(1), n.Job(t, job.ID).NextFireTime)
				}
				require.Len(t, n.Executions(t, jobs[0].ID), 3)
				require.Len(t, n.Executions(t, jobs[2].ID), 3)
			})
		})
	}
}

// Rules 9 and 10: where a batch is halved for its offender and the store goes
// away between the halves, what was committed runs, and the rest stays due.
func TestAHalfThatWasCommittedStaysWhenTheOtherFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		release := n.Script.Hold()
		jobs := addMany(t, n, 8, nil)
		execs := entity.NewExecutions(jobs[7], atNoon(), second(0))
		n.Faults.Poison(func(id string) bool { return id == execs[0].ID })
		fires := 0
		n.Faults.Before(func(tx string) {
			if fires++; tx == "fire" && fires == 2 {
				n.Faults.Next("fire", enginetest.Refused) // the third: the second half
			}
		})
		require.Error(t, fireOnce(t, n))
		recorded := len(n.Executions(t, ""))
		require.Equal(t, 4, recorded, "the first half")
		require.Equal(t, recorded, slotsInUse(n), "slots are kept for what runs alone")
		require.Equal(t, recorded, n.Planner.Held(), "hints of what was committed stay, the others are dropped")
		n.Fire(t)
		for _, job := range jobs {
			require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)))
		}
		require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(n.Executions(t, jobs[7].ID)))
		n.FireAt(t, second(1))
		for _, job := range jobs {
			require.Equal(t, []int{0, 1}, scheduledTimes(n.Executions(t, job.ID)))
		}
		require.Len(t, n.Script.Await(t, 15), 15, "seven ran, then eight")
		require.Zero(t, duplicates(n))
		release()
		n.Start(t)
	})
}

// Rules 1 and 10: an id that is taken, but not by a run, is nobody's duplicate:
// the fire is refused for good, and recorded as failed.
func TestAFireWhosePlaceIsTakenIsRecordedAsFailed(t *testing.T) {
	eachStore(t, enginetest.Options{}, func(t *testing.T, n *enginetest.Node) {
		jobs := addMany(t, n, 3, func(_ int, j *entity.Job) { j.MaxConcurrency = 5 })
		n.Write(t, func(ctx context.Context, tx repository.Tx) error {
			return tx.InFlightFires.Insert(ctx, []entity.InFlightFire{{
				JobID: jobs[1].ID, FireKey: atNoon().Key, Active: true, Remaining: 1, CreateTime: second(-60),
			}})
		})
		require.NoError(t, fireOnce(t, n))
		require.Equal(t, []string{"WAITING"}, enginetest.States(n.Executions(t, jobs[0].ID)))
		require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(n.Executions(t, jobs[1].ID)))
		require.Equal(t, []string{"WAITING"}, enginetest.States(n.Executions(t, jobs[2].ID)))
		require.Equal(t, second(1), n.Job(t, jobs[1].ID).NextFireTime)
		require.Zero(t, duplicates(n))
	})
}
