package running_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// barring names jobs and groups that a store refuses to lock, for a reason that lasts.
type barring struct{ ids []string }

func barred(asked, ids []string) error {
	if slices.ContainsFunc(asked, func(id string) bool { return slices.Contains(ids, id) }) {
		return errBroken
	}
	return nil
}

type barredJobs struct {
	repository.JobWriter
	ids []string
}

func (b barredJobs) Lock(ctx context.Context, ids []string) ([]repository.JobHead, error) {
	if err := barred(ids, b.ids); err != nil {
		return nil, err
	}
	return b.JobWriter.Lock(ctx, ids)
}

func (b barredJobs) TryLock(ctx context.Context, ids []string) ([]repository.JobHead, []string, error) {
	if err := barred(ids, b.ids); err != nil {
		return nil, nil, err
	}
	return b.JobWriter.TryLock(ctx, ids)
}

type barredGroups struct {
	repository.GroupWriter
	ids []string
}

func (b barredGroups) Lock(ctx context.Context, names []string) (map[string]int, error) {
	if err := barred(names, b.ids); err != nil {
		return nil, err
	}
	return b.GroupWriter.Lock(ctx, names)
}

// onBarring is a node whose sweeps meet a store that refuses some.
func onBarring(t *testing.T) (*enginetest.Node, *barring) {
	t.Helper()
	n := enginetest.New(t, enginetest.Options{})
	b := &barring{}
	store := enginetest.Around(n.Faults, func(tx *repository.Tx) {
		tx.Jobs, tx.Groups = barredJobs{tx.Jobs, b.ids}, barredGroups{tx.Groups, b.ids}
	})
	n.Runner.Store, n.Runner.Ends.Store, n.Repairs.Store = store, store, store
	return n, b
}

// unarmed adds FIXED_DELAY jobs that nobody but the sweep arms, in one transaction.
func unarmed(t *testing.T, n *enginetest.Node, count int) (ids []string) {
	t.Helper()
	first := n.Add(t, enginetest.Job("delay", func(j *entity.Job) {
		j.Schedule.Kind, j.Schedule.IntervalMs = schedule.FixedDelay, 5000
	}))
	n.Change(t, first.ID, func(j *entity.Job) { j.NextFireTime, j.DueTime = time.Time{}, time.Time{} })
	ids = []string{first.ID}
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		like, err := tx.Jobs.LockFull(ctx, first.ID)
		if err != nil {
			return err
		}
		for i := 1; i < count; i++ {
			job := *like
			job.ID = first.ID[:len(first.ID)-4] + string([]byte{'g', 'a' + byte(i/676), 'a' + byte(i/26%26), 'a' + byte(i%26)})
			job.Name = job.ID
			ids = append(ids, job.ID)
			if err := tx.Jobs.Insert(ctx, &job); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// A job that cannot be repaired is named, and keeps the sweep neither from the jobs
// behind it nor from its other parts (engine rule 10).
func TestTheSweepGoesOnPastWhatCannotBeRepaired(t *testing.T) {
	n, b := onBarring(t)
	delays := unarmed(t, n, 3)
	serial := n.Add(t, enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
	first, second := waitingRun(t, n, serial.ID), waitingRun(t, n, serial.ID)
	place := n.InFlightFires(t, serial.ID)[:1]
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.InFlightFires.Delete(ctx, place) })
	b.ids = delays[:1]
	_, err := n.Repairs.SweepSlots(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.ErrorContains(t, err, delays[0])
	require.Zero(t, n.Job(t, delays[0]).NextFireTime)
	require.NotZero(t, n.Job(t, delays[1]).NextFireTime)
	require.NotZero(t, n.Job(t, delays[2]).NextFireTime)
	require.False(t, n.Execution(t, second.ID).Claim.Queued(), "the queue of another job moves")
	require.False(t, n.Execution(t, first.ID).Claim.Queued())
}

// A page full of jobs that cannot be repaired hides none for longer than a look.
func TestTheSweepLooksAtAllInTurn(t *testing.T) {
	n, b := onBarring(t)
	ids := unarmed(t, n, 502)
	b.ids = ids[:500]
	_, err := n.Repairs.SweepSlots(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.Zero(t, n.Job(t, ids[501]).NextFireTime)
	_, err = n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.NotZero(t, n.Job(t, ids[500]).NextFireTime)
	require.NotZero(t, n.Job(t, ids[501]).NextFireTime)
	_, err = n.Repairs.SweepSlots(t.Context())
	require.ErrorIs(t, err, errBroken, "and then again from the first")
}

// manyRuns makes runs of a job that wait, each for a fire of its own.
func manyRuns(t *testing.T, n *enginetest.Node, jobID string, count int) (execs []*entity.Execution) {
	t.Helper()
	for range count {
		execs = append(execs, waitingRun(t, n, jobID))
	}
	return execs
}

// So do runs that wait for their moment and whose job is there.
func TestTheSweepFindsADeletedJobsRunBehindManyOthers(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	alive, gone := n.Add(t, enginetest.Job("alive", nil)), n.Add(t, enginetest.Job("gone", nil))
	execs := append(manyRuns(t, n, alive.ID, 501), waitingRun(t, n, gone.ID))
	for i, exec := range execs {
		exec.Claim = entity.ScheduledKey(at(time.Hour + time.Duration(i/3)*time.Second))
	}
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Requeue(ctx, execs); err != nil {
			return err
		}
		job, err := tx.Jobs.LockFull(ctx, gone.ID)
		if err != nil {
			return err
		}
		job.Version++
		job.NextFireTime, job.DueTime = time.Time{}, time.Time{}
		return tx.Jobs.Update(ctx, job, true)
	})
	last := execs[len(execs)-1].ID
	_, err := n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Equal(t, entity.StatusWaiting, n.Execution(t, last).Status)
	_, err = n.Repairs.SweepSlots(t.Context())
	require.NoError(t, err)
	require.Equal(t, entity.StatusCancelled, n.Execution(t, last).Status)
}

// So do fires whose runs are live.
func TestTheSweepFindsAFireThatIsOverBehindManyOthers(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	long := n.Add(t, enginetest.Job("long", func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1000 }))
	manyRuns(t, n, long.ID, 501)
	stale := n.Add(t, enginetest.Job("stale", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
	exec := waitingRun(t, n, stale.ID)
	changeRow(t, n, exec.ID, func(exec *entity.Execution) {
		exec.Status, exec.Claim, exec.EndTime = entity.StatusSuccess, "", at(0)
	})
	n.Clock.Advance(2 * time.Minute)
	for _, left := range []int{1, 0} {
		require.Len(t, n.InFlightFires(t, stale.ID), 1)
		_, err := n.Repairs.SweepSlots(t.Context())
		require.NoError(t, err)
		require.Len(t, n.InFlightFires(t, stale.ID), left)
	}
}

// The same for the limits of groups.
func TestTheSweepOfLimitsGoesOnPastWhatCannotBeRepaired(t *testing.T) {
	n, b := onBarring(t)
	rows := map[string]*entity.Execution{}
	for _, group := range []string{"g", "h"} {
		job := n.Add(t, enginetest.Job(group, func(j *entity.Job) { j.Group, j.Limited = group, true }))
		_, err := n.Store.LimitGroup(t.Context(), group, 1, 0, enginetest.Noon)
		require.NoError(t, err)
		rows[group] = waitingRun(t, n, job.ID)
		n.Write(t, func(ctx context.Context, tx repository.Tx) error { // of a fire that is over
			return tx.Groups.Take(ctx, []entity.GroupSlot{{Group: group, JobID: job.ID, FireKey: "over"}})
		})
	}
	b.ids = []string{"g"}
	_, err := n.Repairs.SweepLimits(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.True(t, n.Execution(t, rows["g"].ID).Claim.Grouped())
	require.True(t, n.Execution(t, rows["h"].ID).Claim.Ready(), "its stale place is given up, and the free one given")

	n.Write(t, func(ctx context.Context, tx repository.Tx) error { // now both have a free one
		return tx.Groups.ReleaseJob(ctx, rows["g"].JobID)
	})
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Groups.ReleaseJob(ctx, rows["h"].JobID) })
	next := waitingRun(t, n, rows["h"].JobID)
	require.True(t, n.Execution(t, next.ID).Claim.Grouped())
	_, err = n.Repairs.SweepLimits(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.True(t, n.Execution(t, next.ID).Claim.Ready())
}

// A page full of slots that cannot be given up hides none for longer than a look.
func TestTheSweepOfLimitsLooksAtAllPlacesInTurn(t *testing.T) {
	n, b := onBarring(t)
	for _, group := range []string{"g", "h"} {
		n.Add(t, enginetest.Job(group, func(j *entity.Job) { j.Group, j.Limited = group, true }))
		_, err := n.Store.LimitGroup(t.Context(), group, 1000, 0, enginetest.Noon)
		require.NoError(t, err)
	}
	slots := []entity.GroupSlot{{Group: "h", JobID: "job-2", FireKey: "over"}}
	for i := range 500 {
		slots = append(slots, entity.GroupSlot{Group: "g", JobID: "job-1", FireKey: fmt.Sprintf("over-%03d", i)})
	}
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Groups.Take(ctx, slots) })
	left := func() int {
		found, err := n.Store.LeftoverSlots(t.Context(), entity.GroupSlot{JobID: "job-1", FireKey: "p"}, 10)
		require.NoError(t, err)
		return len(found)
	}
	b.ids = []string{"g"}
	_, err := n.Repairs.SweepLimits(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, 1, left())
	_, err = n.Repairs.SweepLimits(t.Context())
	require.NoError(t, err)
	require.Zero(t, left())
	_, err = n.Repairs.SweepLimits(t.Context())
	require.ErrorIs(t, err, errBroken, "and then again from the first")
}

// Nor do runs that cannot be ended hide others that are past their start deadline,
// also where all wait at one position of the queue.
func TestTheSweepOfDeadlinesLooksAtAllInTurn(t *testing.T) {
	n, b := onBarring(t)
	broken := n.Add(t, enginetest.Job("broken", func(j *entity.Job) {
		j.StartDeadlineSec, j.Overlap, j.MaxQueued = 10, entity.OverlapSerial, 1000
	}))
	good := n.Add(t, enginetest.Job("good", func(j *entity.Job) { j.StartDeadlineSec = 10 }))
	execs := append(manyRuns(t, n, broken.ID, 501), manyRuns(t, n, good.ID, 501)...)
	for i, exec := range execs {
		exec.Claim = entity.CommonQueue.Key(5, at(0))
		if i > 501 {
			exec.Claim = entity.CommonQueue.Key(5, at(time.Second))
		}
	}
	n.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Requeue(ctx, execs) })
	n.Clock.Advance(time.Minute)
	b.ids = []string{broken.ID}
	closed := 0
	for range 3 {
		n, err := n.Repairs.SweepDeadlines(t.Context())
		closed += n
		if err != nil {
			require.ErrorIs(t, err, errBroken)
		}
	}
	require.Equal(t, 501, closed)
	_, err := n.Repairs.SweepDeadlines(t.Context())
	require.ErrorIs(t, err, errBroken, "and then again from the first")
	b.ids = nil
	for range 2 {
		again, err := n.Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		closed += again
	}
	require.Equal(t, 1002, closed)
}
