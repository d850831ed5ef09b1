package running_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// withLocked is a node on a server of which somebody else holds executions.
type withLocked struct {
	*enginetest.Node
	hold  func(table, id string)
	letGo func()
}

// onLockable runs a test where others can hold an execution: SQLite has one writer.
func onLockable(t *testing.T, test func(t *testing.T, n withLocked)) {
	t.Helper()
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	cfg.Clock = clocktest.NewManual(enginetest.Noon)
	n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{Clock: cfg.Clock.(*clocktest.Manual)})
	other, err := dbtest.Raw(t, cfg).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Rollback() })
	test(t, withLocked{n, func(table, id string) {
		_, err := other.ExecContext(t.Context(), "UPDATE "+table+" SET update_time = update_time WHERE id = ?", id)
		require.NoError(t, err)
	}, func() { require.NoError(t, other.Rollback()) }})
}

// A scheduled run that somebody else has locked does not keep the others from
// becoming ready (engine rule 10).
func TestALockedRunKeepsNoOtherParked(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		job := n.Add(t, enginetest.Job("parked", nil))
		var ids []string
		for range 5 {
			exec := waitingRun(t, n.Node, job.ID)
			changeRow(t, n.Node, exec.ID, func(exec *entity.Execution) {
				exec.Claim = entity.ScheduledKey(enginetest.Noon.Add(time.Second))
			})
			ids = append(ids, exec.ID)
		}
		n.Clock.Advance(2 * time.Second)
		n.hold("scheduler_job_execution", ids[2])
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		for i, id := range ids {
			require.Equal(t, i != 2, n.Execution(t, id).Claim.Ready(), "run %d", i)
		}
	})
}

// Nor from ending at its start deadline.
func TestALockedRunKeepsNoOtherBeyondItsDeadline(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		job := n.Add(t, enginetest.Job("late", func(j *entity.Job) { j.StartDeadlineSec = 1 }))
		var ids []string
		for range 5 {
			ids = append(ids, waitingRun(t, n.Node, job.ID).ID)
		}
		n.Clock.Advance(time.Minute)
		n.hold("scheduler_job_execution", ids[2])
		closed, err := n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 4, closed)
		require.Equal(t, entity.StatusWaiting, n.Execution(t, ids[2]).Status)
	})
}

// Nor the first of a job's queue the queues of others.
func TestALockedRunKeepsNoOtherQueueFromMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onLockable(t, func(t *testing.T, n withLocked) {
			var first, second []string
			for _, name := range []string{"a", "b", "c"} {
				job := n.Add(t, enginetest.Job(name, func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
				first, second = append(first, waitingRun(t, n.Node, job.ID).ID), append(second, waitingRun(t, n.Node, job.ID).ID)
			}
			n.hold("scheduler_job_execution", second[1])
			n.Start(t)
			n.Runner.RunsReady(entity.SlotGeneral)
			for i, id := range first {
				n.AwaitStatus(t, id, entity.StatusSuccess)
				if i != 1 {
					n.AwaitStatus(t, second[i], entity.StatusSuccess)
				}
			}
			require.True(t, n.Execution(t, second[1]).Claim.Queued(), "its fire goes on waiting")
			require.False(t, n.InFlightFires(t, n.Execution(t, second[1]).JobID)[0].Active)
		})
	})
}

// Nor the first of a group the others of it.
func TestALockedRunKeepsNoOtherOfItsGroup(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		job := n.Add(t, enginetest.Job("grouped", func(j *entity.Job) { j.Group, j.Limited = "g", true }))
		_, err := n.Store.LimitGroup(t.Context(), "g", 2, 0, enginetest.Noon)
		require.NoError(t, err)
		var ids []string
		for range 3 {
			ids = append(ids, waitingRun(t, n.Node, job.ID).ID)
		}
		require.True(t, n.Execution(t, ids[0]).Claim.Grouped())
		n.hold("scheduler_job_execution", ids[0])
		found, err := n.Repairs.SweepLimits(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, found)
		require.Equal(t, []bool{false, true, true},
			[]bool{
				n.Execution(t, ids[0]).Claim.Ready(), n.Execution(t, ids[1]).Claim.Ready(),
				n.Execution(t, ids[2]).Claim.Ready(),
			})
	})
}

// Nor a claim.
func TestALockedRunKeepsNoOtherFromBeingClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onLockable(t, func(t *testing.T, n withLocked) {
			job := n.Add(t, enginetest.Job("claimed", nil))
			var ids []string
			for range 4 {
				ids = append(ids, waitingRun(t, n.Node, job.ID).ID)
			}
			n.hold("scheduler_job_execution", ids[1])
			n.Start(t)
			n.Runner.RunsReady(entity.SlotGeneral)
			for i, id := range ids {
				if i != 1 {
					n.AwaitStatus(t, id, entity.StatusSuccess)
				}
			}
			require.Equal(t, entity.StatusWaiting, n.Execution(t, ids[1]).Status)
		})
	})
}

// A job that somebody else has locked keeps the ends of no other job's runs back,
// nor their slots (engine rules 10 and 23).
func TestALockedJobKeepsNoOtherEndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onLockable(t, func(t *testing.T, n withLocked) {
			serial := func(j *entity.Job) { j.Overlap = entity.OverlapSerial }
			jobs := []*entity.Job{
				n.Add(t, enginetest.Job("a", nil)), n.Add(t, enginetest.Job("b", serial)),
				n.Add(t, enginetest.Job("c", serial)),
			}
			n.Start(t)
			execs := endTogether(t, n.Node, entity.Succeeded("done"), func([]*entity.Execution) {
				n.hold("scheduler_job_definition", jobs[1].ID)
			}, jobs...)
			n.AwaitStatus(t, execs[0].ID, entity.StatusSuccess)
			n.AwaitStatus(t, execs[2].ID, entity.StatusSuccess)
			require.Equal(t, entity.StatusRunning, n.Execution(t, execs[1].ID).Status)
			n.letGo()
			eventually(t, n.Node, "its own end is stored", func() bool {
				return n.Execution(t, execs[1].ID).Status == entity.StatusSuccess
			})
			awaitIdle(t, n.Node)
			require.Empty(t, n.InFlightFires(t, jobs[1].ID))
		})
	})
}

// Nor does a run that somebody else has locked.
func TestALockedRunKeepsNoOtherEndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		onLockable(t, func(t *testing.T, n withLocked) {
			var jobs []*entity.Job
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
			}
			n.Start(t)
			execs := endTogether(t, n.Node, entity.Succeeded("done"), func(execs []*entity.Execution) {
				n.hold("scheduler_job_execution", execs[1].ID)
			}, jobs...)
			for _, i := range []int{0, 2, 3, 4} {
				n.AwaitStatus(t, execs[i].ID, entity.StatusSuccess) // at once: nobody moves the clock
			}
			n.letGo()
			eventually(t, n.Node, "its own end is stored", func() bool {
				return n.Execution(t, execs[1].ID).Status == entity.StatusSuccess
			})
		})
	})
}

// Nor does a locked job keep the sweeps from the jobs behind it.
func TestALockedJobKeepsNoOtherFromBeingRepaired(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		var jobs []*entity.Job
		for _, name := range []string{"a", "b", "c"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, func(j *entity.Job) {
				j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
			})))
			n.Change(t, jobs[len(jobs)-1].ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
		}
		n.hold("scheduler_job_definition", jobs[0].ID)
		_, err := n.Repairs.SweepSlots(t.Context())
		require.ErrorIs(t, err, repository.ErrLocked)
		require.ErrorContains(t, err, jobs[0].ID)
		for _, job := range jobs[1:] {
			require.NotZero(t, n.Job(t, job.ID).NextFireTime)
		}
	})
}

// Nor the delayed runs of other jobs from waiting for their group.
func TestALockedJobKeepsNoOtherDelayed(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		var jobs []*entity.Job
		var execs []*entity.Execution
		for _, name := range []string{"a", "b", "c"} {
			job := n.Add(t, enginetest.Job(name, func(j *entity.Job) { j.Group, j.Limited = "g", true }))
			jobs, execs = append(jobs, job), append(execs, waitingRun(t, n.Node, job.ID))
			changeRow(t, n.Node, execs[len(execs)-1].ID, func(exec *entity.Execution) {
				exec.Claim = entity.ScheduledLimitedKey(enginetest.Noon.Add(time.Second))
			})
		}
		n.Clock.Advance(2 * time.Second)
		n.hold("scheduler_job_definition", jobs[0].ID)
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		for i, exec := range execs {
			require.Equal(t, i == 0, n.Execution(t, exec.ID).Claim.ScheduledLimited(), "run %d", i)
		}
	})
}

// Nor from ending at its start deadline.
func TestALockedJobKeepsNoOtherBeyondItsDeadline(t *testing.T) {
	onLockable(t, func(t *testing.T, n withLocked) {
		var jobs []*entity.Job
		var execs []*entity.Execution
		for _, name := range []string{"a", "b", "c"} {
			job := n.Add(t, enginetest.Job(name, func(j *entity.Job) {
				j.Overlap, j.StartDeadlineSec = entity.OverlapSerial, 1
			}))
			jobs, execs = append(jobs, job), append(execs, waitingRun(t, n.Node, job.ID))
		}
		n.Clock.Advance(time.Minute)
		n.hold("scheduler_job_definition", jobs[0].ID)
		closed, err := n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, closed)
		require.Equal(t, entity.StatusWaiting, n.Execution(t, execs[0].ID).Status)
	})
}
