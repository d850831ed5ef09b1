package firing_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// Rule 4: what a fire changes of its job is the cursor.
func TestAFireMovesTheCursorAndNothingElse(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, everySecond(func(j *entity.Job) { j.Schedule.JitterMs = 400 }))
	before := n.Job(t, job.ID)
	n.FireAt(t, before.DueTime)
	after := n.Job(t, job.ID)
	require.Equal(t, second(1), after.NextFireTime)
	require.Equal(t, second(1).Add(before.DueTime.Sub(before.NextFireTime)), after.DueTime, "the jitter is constant")
	require.Equal(t, second(0), after.LastFireTime)
	before.NextFireTime, before.DueTime, before.LastFireTime = after.NextFireTime, after.DueTime, after.LastFireTime
	require.Equal(t, before, after)
	execs := n.Executions(t, job.ID)
	require.Equal(t, []int{0}, scheduledTimes(execs))
	require.Equal(t, second(0).Add(after.DueTime.Sub(after.NextFireTime)), execs[0].DueTime)
}

// Rule 13: the jitter counts: a late fire does not take along the next scheduled
// time, which has passed and is not due.
func TestAScheduledTimeIsNotDueBeforeItsJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(func(j *entity.Job) { j.Schedule.JitterMs = 400 }))
		n.FireAt(t, job.DueTime.Add(time.Second-time.Millisecond))
		require.Equal(t, []int{0}, scheduledTimes(n.Executions(t, job.ID)))
		n.FireAt(t, job.DueTime.Add(time.Second))
		require.Equal(t, []int{0, 1}, scheduledTimes(n.Executions(t, job.ID)))
		n.Start(t)
	})
}

// A node that stops finishes the batch that it has begun.
func TestABatchIsFinishedAlthoughTheNodeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, everySecond(nil))
		scan(t, n)
		ctx, cancel := context.WithCancel(t.Context())
		n.Faults.Before(func(string) { cancel() })
		_, err := n.Planner.FireDue(ctx)
		require.NoError(t, err)
		require.Len(t, n.Executions(t, job.ID), 1)
		n.Start(t)
	})
}

// Rule 8: executions are inserted in the order of their ids, whatever the
// order of their jobs, so that two transactions do not wait for each other.
func TestRowsAreInsertedInTheOrderOfTheirIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		addMany(t, n, 20, func(i int, j *entity.Job) {
			if i%2 == 1 {
				j.Overlap = entity.OverlapSerial
			}
		})
		var order []string
		n.Faults.Poison(func(id string) bool {
			order = append(order, id)
			return false
		})
		n.Clock.Advance(2 * time.Second)
		require.NoError(t, fireOnce(t, n))
		require.Greater(t, len(order), 40)
		require.IsIncreasing(t, order)
		n.Faults.Poison(nil)
		n.Start(t)
	})
}

// Rule 13: due means due by the store's clock, and never early.
func TestNothingFiresBeforeItIsDue(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Clock.Jump(time.Millisecond)
	job := n.Add(t, everySecond(nil))
	n.FireAt(t, second(1).Add(-time.Millisecond))
	require.Empty(t, n.Executions(t, job.ID))
	n.FireAt(t, second(1))
	require.Equal(t, []int{1}, scheduledTimes(n.Executions(t, job.ID)))
}

func TestTheLastFireOfAScheduleFinishesTheJob(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("once", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.At = schedule.Once, second(2)
	}))
	n.FireAt(t, second(2))
	require.Equal(t, []int{2}, scheduledTimes(n.Executions(t, job.ID)))
	after := n.Job(t, job.ID)
	require.Equal(t, entity.JobFinished, after.Status)
	require.Zero(t, after.NextFireTime)
	n.FireAt(t, second(100))
	require.Len(t, n.Executions(t, job.ID), 1)
}

// Rule 8: a job that fails the check drops out alone, and nothing of it stays.
func TestAJobThatWasChangedMeanwhileDropsOutAlone(t *testing.T) {
	for name, change := range map[string]func(j *entity.Job){
		"edited":             func(j *entity.Job) { j.Version++ },
		"paused":             func(j *entity.Job) { j.Status, j.DueTime = entity.JobPaused, time.Time{} },
		"fired by another":   func(j *entity.Job) { j.NextFireTime, j.DueTime = second(1), second(1) },
		"moved to the past":  func(j *entity.Job) { j.NextFireTime = second(-1) },
		"without a schedule": func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} },
	} {
		for kind, overlap := range overlaps {
			t.Run(name+" "+kind, func(t *testing.T) {
				n := enginetest.New(t, enginetest.Options{})
				jobs := addMany(t, n, 3, func(_ int, j *entity.Job) { j.Overlap = overlap })
				var stored *entity.Job
				n.Faults.Before(func(tx string) {
					if tx != "fire" || stored != nil {
						return
					}
					n.Change(t, jobs[1].ID, change)
					stored = n.Job(t, jobs[1].ID)
				})
				require.NoError(t, fireOnce(t, n))
				require.Len(t, n.Executions(t, jobs[0].ID), 1)
				require.Len(t, n.Executions(t, jobs[2].ID), 1)
				require.Empty(t, n.Executions(t, jobs[1].ID))
				require.Equal(t, stored, n.Job(t, jobs[1].ID))
			})
		}
	}
}

// Two nodes that see the same due jobs, as while the ownership of a partition
// moves, record each fire once.
func TestTwoNodesRecordEachFireOnce(t *testing.T) {
	eachStore(t, enginetest.Options{Slots: 500}, func(t *testing.T, one *enginetest.Node) {
		two := enginetest.On(t, one.Store, enginetest.Options{NodeID: "node-2", Clock: one.Clock, Slots: 500})
		nodes := []*enginetest.Node{one, two}
		one.Start(t)
		two.Start(t)
		jobs := addMany(t, one, 20, func(i int, j *entity.Job) {
			if i%2 == 1 {
				j.Overlap = entity.OverlapSerial
			}
		})
		for s := range 5 {
			one.Clock.Advance(second(s).Sub(one.Clock.Now()))
			for _, n := range nodes {
				scan(t, n)
			}
			failures := make(chan error, len(nodes))
			for _, n := range nodes {
				go func() {
					_, err := n.Planner.FireDue(context.Background())
					failures <- err
				}()
			}
			for range nodes {
				require.NoError(t, <-failures)
			}
			// The end of a run may have held a job's row, so that neither got it.
			for len(one.Executions(t, "")) < (s+1)*len(jobs) {
				one.Clock.Advance(10 * time.Millisecond)
				require.True(t, one.Clock.Now().Before(second(s+1)), "some jobs do not fire")
				for _, n := range nodes {
					_, err := n.Planner.FireLocked(t.Context())
					require.NoError(t, err)
				}
			}
			for _, job := range jobs {
				require.Len(t, one.Executions(t, job.ID), s+1)
				require.Equal(t, second(s+1), one.Job(t, job.ID).NextFireTime)
			}
		}
		require.Zero(t, duplicates(one)+duplicates(two))
		for _, exec := range one.Executions(t, "") {
			one.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		}
		require.Len(t, append(one.Script.Runs(), two.Script.Runs()...), 5*len(jobs), "each fire runs on one node")
	})
}

// A change on this node is known at once, without a scan.
func TestAHintFiresWithoutAScan(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	soon, paused := n.Add(t, everySecond(nil)), n.Add(t, everySecond(func(j *entity.Job) { j.Name = "paused" }))
	n.Planner.JobChanged(soon)
	n.Planner.JobChanged(paused)
	require.Equal(t, 2, n.Planner.Held())
	off := *paused
	off.Status = entity.JobPaused
	n.Planner.JobChanged(&off)
	require.Equal(t, 1, n.Planner.Held(), "a paused job is forgotten")
	jobs, err := n.Planner.FireDue(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, jobs)
	require.Len(t, n.Executions(t, soon.ID), 1)
	far := *soon
	far.NextFireTime, far.DueTime = second(3600), second(3600)
	n.Planner.JobChanged(&far)
	require.Zero(t, n.Planner.Held(), "what lies beyond the horizon is the scan's")
}

// Rule 16, by way of the fire transaction; the decisions themselves are tested
// where they are made.
func TestFiresOfCoordinatedJobsTakeQueueOrSkip(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		want   []string
		queued int
		events int
	}{
		"discard": {
			func(j *entity.Job) { j.Overlap = entity.OverlapDiscard },
			[]string{"WAITING", "SKIPPED(OVERLAP)", "SKIPPED(OVERLAP)"},
			0, 2,
		},
		"serial": {
			func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 },
			[]string{"WAITING", "WAITING", "SKIPPED(QUEUE_FULL)"},
			1, 1,
		},
		"replace": {
			func(j *entity.Job) { j.Overlap = entity.OverlapReplace },
			[]string{"SKIPPED(REPLACED)", "SKIPPED(REPLACED)", "WAITING"},
			0, 2,
		},
		"two at once": {
			func(j *entity.Job) { j.MaxConcurrency = 2 },
			[]string{"WAITING", "WAITING", "WAITING"},
			1, 0,
		},
		"limits count fires, not shards": {
			func(j *entity.Job) { j.MaxConcurrency, j.ShardCount = 2, 2 },
			[]string{"WAITING", "WAITING", "WAITING", "WAITING", "WAITING", "WAITING"},
			2, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(c.change))
			for s := range 3 {
				n.FireAt(t, second(s))
			}
			execs := n.Executions(t, job.ID)
			require.Equal(t, c.want, enginetest.States(execs))
			queued := 0
			for _, exec := range execs {
				if exec.Claim.Queued() {
					queued++
				}
			}
			require.Equal(t, c.queued, queued)
			require.Len(t, n.Events(t), c.events, "rule 24: what is final at birth has its event")
			require.Equal(t, second(3), n.Job(t, job.ID).NextFireTime)
		})
	}
}

// A deadlock makes the store run the transaction again.
func TestATransactionThatRunsTwiceRecordsOnce(t *testing.T) {
	for name, overlap := range overlaps {
		t.Run(name, func(t *testing.T) {
			n := enginetest.New(t, enginetest.Options{})
			job := n.Add(t, everySecond(func(j *entity.Job) { j.Overlap = overlap }))
			n.Faults.Next("fire", enginetest.Deadlock)
			require.NoError(t, fireOnce(t, n))
			execs := n.Executions(t, job.ID)
			require.Len(t, execs, 1)
			if overlap == entity.OverlapSerial {
				require.EqualValues(t, 1, execs[0].JobFence)
				require.Len(t, n.InFlightFires(t, job.ID), 1)
			}
		})
	}
}
