package running_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// A job whose schedule is not valid any more cannot be armed again at the end of
// its run. It is paused with the reason, and every end is stored (rule 10).
func TestAJobThatCannotBeArmedAgainIsPausedAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := enginetest.New(t, enginetest.Options{})
		delay := first.Add(t, enginetest.Job("delay", func(j *entity.Job) {
			j.Schedule.Kind, j.Schedule.IntervalMs, j.Description = schedule.FixedDelay, 1000, "what it is for"
		}))
		plain := first.Add(t, enginetest.Job("plain", nil))
		first.Fire(t)
		// The next release's zone data lacks the job's zone.
		first.Change(t, delay.ID, func(j *entity.Job) { j.Schedule.TimeZone = "Mars/Phobos" })
		n := enginetest.On(t, first.Store, enginetest.Options{Clock: first.Clock, Epoch: 2})
		n.Start(t)
		n.Runner.RunsReady(entity.SlotGeneral)
		n.Script.Await(t, 1)
		exec := startRun(t, n, plain.ID)
		n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		eventually(t, n, "the job is paused", func() bool { return n.Job(t, delay.ID).Status == entity.JobPaused })
		job := n.Job(t, delay.ID)
		require.Equal(t, "what it is for", job.Description)
		require.Equal(t, 2, job.Version)
		execs := n.Executions(t, delay.ID)
		require.Len(t, execs, 2)
		require.Equal(t, entity.StatusSuccess, execs[0].Status)
		require.Equal(t, entity.StatusFailed, execs[1].Status)
		require.Equal(t, entity.ReasonInvalid, execs[1].Reason)
		require.Contains(t, execs[1].ErrorMessage, "schedule.timeZone")
		require.Len(t, n.Events(t), 1)
		awaitIdle(t, n)
		require.Empty(t, liveFiresOf(t, n, delay.ID))
	})
}

// choosy fails the completion of some runs for good.
type choosy struct {
	repository.Store
	mu sync.Mutex
	// finish fails the writing of ends, places what is to be done about slots, usages what they took.
	finish, places, usages func(executionID string) error
}

// choosyNode is a node that has started, with such a store. stop ends it.
func choosyNode(t *testing.T) (n *enginetest.Node, store *choosy, stop func()) {
	t.Helper()
	n = enginetest.New(t, enginetest.Options{})
	store = &choosy{Store: n.Faults}
	n.Runner.Ends.Store = store
	return n, store, n.Start(t)
}

func (c *choosy) set(finish, places func(id string) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.finish, c.places = finish, places
}

func (c *choosy) Write(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, tx repository.Tx) error,
) error {
	c.mu.Lock()
	finish, places, usages := c.finish, c.places, c.usages
	c.mu.Unlock()
	return c.Store.Write(ctx, lane, name, func(ctx context.Context, tx repository.Tx) error {
		if finish != nil {
			tx.Executions = choosyRuns{tx.Executions, finish}
		}
		if places != nil {
			tx.InFlightFires = choosyPlaces{tx.InFlightFires, places}
		}
		if usages != nil {
			tx.Records = choosyRecords{tx.Records, usages}
		}
		return fn(ctx, tx)
	})
}

type choosyRuns struct {
	repository.ExecutionWriter
	refuse func(string) error
}

func (c choosyRuns) Finish(ctx context.Context, rows []repository.Finish, now time.Time) ([]int, error) {
	for _, row := range rows {
		if err := c.refuse(row.ID); err != nil {
			return nil, err
		}
	}
	return c.ExecutionWriter.Finish(ctx, rows, now)
}

type choosyPlaces struct {
	repository.InFlightFireWriter
	refuse func(string) error
}

func (c choosyPlaces) Delete(ctx context.Context, fires []entity.InFlightFire) error {
	for _, f := range fires {
		if err := c.refuse(f.JobID); err != nil {
			return err
		}
	}
	return c.InFlightFireWriter.Delete(ctx, fires)
}

var errBroken = errors.New("no such column")

// only refuses the one with the id.
func only(id string, err error) func(string) error {
	return func(other string) error {
		if other == id {
			return err
		}
		return nil
	}
}

// One end that cannot be stored for whatever reason holds up nobody; it is tried
// again, and shown when that takes long (engine rules 10 and 23).
func TestAnEndThatCannotBeStoredHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		var jobs []*entity.Job
		for _, name := range []string{"first", "second", "bad", "fourth"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
		}
		execs := endTogether(t, n, entity.Succeeded("done"), func(execs []*entity.Execution) {
			store.set(only(execs[2].ID, errBroken), nil)
		}, jobs...)
		for _, i := range []int{0, 1, 3} {
			n.AwaitStatus(t, execs[i].ID, entity.StatusSuccess)
		}
		synctest.Wait()
		running, _ := n.Runner.Load(entity.SlotGeneral)
		require.Equal(t, 1, running)
		require.Zero(t, n.Runner.HeldEnds(), "not for long yet")
		for range 6 {
			n.Clock.Advance(10 * time.Second)
		}
		require.Equal(t, 1, n.Runner.HeldEnds())
		reason, blocks := n.Runner.Ends.Holding()
		require.Contains(t, reason, execs[2].ID)
		require.Contains(t, reason, "no such column")
		require.False(t, blocks)
		reconcile(t, n, 3)
		require.Equal(t, entity.StatusRunning, n.Execution(t, execs[2].ID).Status, "it has ended here and is not lost")

		store.set(nil, nil)
		eventually(t, n, "the end is stored", func() bool {
			return n.Execution(t, execs[2].ID).Status == entity.StatusSuccess
		})
		require.Equal(t, "done", n.Execution(t, execs[2].ID).Result)
		awaitIdle(t, n)
		require.Zero(t, n.Runner.HeldEnds())
	})
}

// When what follows from an end cannot be stored, the end is stored alone.
func TestAnEndIsStoredApartFromWhatFollowsFromIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, _ := choosyNode(t)
		job := n.Add(t, enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
		store.set(nil, only(job.ID, errBroken))
		exec := startRun(t, n, job.ID)
		ended := n.AwaitStatus(t, exec.ID, entity.StatusSuccess)
		require.Equal(t, "done", ended.Result)
		awaitIdle(t, n)
		require.Len(t, liveFiresOf(t, n, job.ID), 1, "its place is left to the sweep")
	})
}

// A stop does not wait for an end that cannot be stored: the next life of the
// node finds the run.
func TestAStopGivesUpAnEndThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, store, stop := choosyNode(t)
		job := n.Add(t, enginetest.Job("bad", nil))
		store.set(func(string) error { return errBroken }, nil)
		exec := startRun(t, n, job.ID)
		n.Script.Await(t, 1)
		stop()
		require.Equal(t, entity.StatusRunning, n.Execution(t, exec.ID).Status)
	})
}

// When the executions of late reports cannot be read, the ends that were stored with
// them are not sent again, or they would pass for late ones, too.
func TestEndsThatAreStoredAreNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := enginetest.New(t, enginetest.Options{})
		reads := &failingReads{ExecutionReader: n.Store.Executions}
		n.Runner.Ends.Executions = reads
		n.Start(t)
		var jobs []*entity.Job
		for _, name := range []string{"first", "good", "late", "fourth"} {
			jobs = append(jobs, n.Add(t, enginetest.Job(name, nil)))
		}
		execs := endTogether(t, n, entity.Succeeded("done"), func(execs []*entity.Execution) {
			changeRow(t, n, execs[2].ID, func(exec *entity.Execution) { exec.Token++ })
			reads.broken.Store(true)
		}, jobs...)
		for _, i := range []int{0, 1, 3} {
			n.AwaitStatus(t, execs[i].ID, entity.StatusSuccess)
			require.Empty(t, linesOf(t, n, execs[i].ID, entity.LogEvidence))
		}
		eventually(t, n, "the late one is judged", func() bool {
			running, _ := n.Runner.Load(entity.SlotGeneral)
			return running == 0
		})
		require.Equal(t, 1, n.Counts.Of(func(c *enginetest.Counts) int { return c.Refused }))
	})
}

// failingReads fails to read executions by id once, for a reason that lasts.
type failingReads struct {
	repository.ExecutionReader
	broken atomic.Bool
}

func (b *failingReads) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	if b.broken.Swap(false) {
		return nil, errBroken
	}
	return b.ExecutionReader.ByIDs(ctx, ids)
}
