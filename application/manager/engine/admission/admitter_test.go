package admission_test

import (
	"context"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// admit records one fire by hand of a job, and returns its executions and effect.
func admit(t *testing.T, n *enginetest.Node, jobID string) admission.Admission {
	t.Helper()
	var a admission.Admission
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{jobID, jobID})
		if err != nil {
			return err
		}
		fire := entity.ExtraFire(entity.TriggerManual, n.Time.Now(), n.Time.Now(), n.Time.Now(), "")
		a, err = n.Admitter.Fire(ctx, tx, n.Time.Now(), jobs[jobID], fire)
		return err
	})
	return a
}

// end makes executions final as a completion does, and returns what that freed.
func end(t *testing.T, n *enginetest.Node, jobID string, execs ...*entity.Execution) commit.PostCommit {
	t.Helper()
	var e commit.PostCommit
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{jobID})
		if err != nil {
			return err
		}
		e, err = n.Admitter.Ended(ctx, tx, n.Time.Now(), jobs, execs)
		return err
	})
	return e
}

func live(t *testing.T, n *enginetest.Node, jobID string) []entity.InFlightFire {
	t.Helper()
	return n.InFlightFires(t, jobID)
}

// Rule 16: a limit counts fires, not shards; a slot is free when the last
// shard has ended, and goes to the fire that waits longest.
func TestAPlaceIsGivenOnWhenTheLastShardHasEnded(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("sharded", func(j *entity.Job) { j.ShardCount, j.MaxConcurrency = 3, 1 }))
	first, second, third := admit(t, n, job.ID), admit(t, n, job.ID), admit(t, n, job.ID)
	require.Equal(t, []int{3, 0, 0}, []int{first.PostCommit.Ready, second.PostCommit.Ready, third.PostCommit.Ready})
	require.Zero(t, end(t, n, job.ID, first.Executions[0], first.Executions[2]).Ready)
	require.Equal(t, 1, live(t, n, job.ID)[0].Remaining)
	freed := end(t, n, job.ID, first.Executions[1])
	require.Equal(t, 3, freed.Ready)
	places := live(t, n, job.ID)
	require.Len(t, places, 2)
	require.Equal(t, []bool{true, false}, []bool{places[0].Active, places[1].Active})
	require.Equal(t, second.Executions[0].FireKey, places[0].FireKey, "in the order of their coming")
	for _, exec := range third.Executions {
		require.True(t, n.Execution(t, exec.ID).Claim.Queued())
	}
}

// Rule 16: REPLACE ends what has not begun, asks what runs to stop, and waits
// for it; what waits for it in turn is replaced by the next.
func TestReplaceWaitsUntilTheFormerHasStopped(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("latest", func(j *entity.Job) { j.Overlap = entity.OverlapReplace }))
	runs := admit(t, n, job.ID).Executions[0]
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		execs, err := tx.Executions.Lock(ctx, []string{runs.ID})
		if err != nil {
			return err
		}
		execs[0].Status, execs[0].NodeID, execs[0].Epoch, execs[0].Token, execs[0].Attempt = entity.StatusRunning, "node-1",
			1, 1, 1
		execs[0].Claim = entity.RunningKey("node-1")
		return tx.Executions.Update(ctx, execs[0], entity.StatusWaiting, 0)
	})
	second := admit(t, n, job.ID)
	require.Len(t, second.PostCommit.Stopping, 1)
	require.Zero(t, second.PostCommit.Ready, "the former has not stopped yet")
	asked := n.Execution(t, runs.ID)
	require.True(t, asked.CancelRequested)
	require.Equal(t, entity.ReasonReplaced, asked.Reason)
	third := admit(t, n, job.ID)
	require.Empty(t, third.PostCommit.Stopping, "it was asked already")
	superseded := n.Execution(t, second.Executions[0].ID)
	require.Equal(t, []any{entity.StatusSkipped, entity.ReasonReplaced}, []any{superseded.Status, superseded.Reason})
	freed := end(t, n, job.ID, asked)
	require.Equal(t, 1, freed.Ready)
	require.False(t, n.Execution(t, third.Executions[0].ID).Claim.Queued())
	require.Len(t, live(t, n, job.ID), 1)
}

// Fires of one transaction replace one another, too: of those that are caught up
// together under REPLACE the last one runs.
func TestFiresOfOneTransactionReplaceOneAnother(t *testing.T) {
	for _, limit := range []int{0, 2} {
		n := enginetest.New(t, enginetest.Options{})
		job := n.Add(t, enginetest.Job("latest", func(j *entity.Job) {
			j.Overlap, j.MaxConcurrency = entity.OverlapReplace, limit
		}))
		n.Write(t, func(ctx context.Context, tx repository.Tx) error {
			jobs, err := n.Admitter.Lock(ctx, tx, []string{job.ID})
			if err != nil {
				return err
			}
			var fires []entity.Fire
			for i := range 5 {
				at := n.Time.Now().Add(time.Duration(i) * time.Second)
				fires = append(fires, entity.PlannedFire(at, n.Time.Now(), entity.TriggerSchedule))
			}
			_, err = n.Admitter.Fire(ctx, tx, n.Time.Now(), jobs[job.ID], fires...)
			return err
		})
		running := max(limit, 1)
		for i, exec := range n.Executions(t, job.ID) {
			if i < 5-running {
				require.Equal(t, []any{entity.StatusSkipped, entity.ReasonReplaced}, []any{exec.Status, exec.Reason}, "fire %d", i)
				continue
			}
			require.True(t, exec.Claim.Ready(), "fire %d", i)
		}
		require.Len(t, live(t, n, job.ID), running)
		require.Len(t, n.Events(t), 5-running)
	}
}

// Rule 21: the job-wide number never falls, over fires and over what was skipped.
func TestTheNumberOfAJobNeverFalls(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("numbered", func(j *entity.Job) { j.Overlap, j.MaxQueued = entity.OverlapSerial, 1 }))
	var last int64
	for range 3 {
		first, second, skipped := admit(t, n, job.ID), admit(t, n, job.ID), admit(t, n, job.ID)
		require.Greater(t, first.Executions[0].JobFence, last)
		require.Greater(t, second.Executions[0].JobFence, first.Executions[0].JobFence)
		require.Equal(t, entity.ReasonQueueFull, skipped.Executions[0].Reason)
		last = second.Executions[0].JobFence
		end(t, n, job.ID, first.Executions[0])
		end(t, n, job.ID, second.Executions[0])
	}
	require.Equal(t, last, n.Job(t, job.ID).FenceSeq)
	require.Empty(t, live(t, n, job.ID))
}

// A locked job is what the store says it is, also when memory holds an older
// version.
func TestALockedJobIsTheCurrentOne(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	job := n.Add(t, enginetest.Job("edited", nil))
	n.Jobs.Keep(job)
	n.Change(t, job.ID, func(j *entity.Job) { j.Priority, j.Version = 9, 2 })
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{job.ID, "unknown"})
		if err != nil {
			return err
		}
		require.Len(t, jobs, 1)
		require.Equal(t, 9, jobs[job.ID].Priority)
		return nil
	})
	require.Equal(t, 9, n.Jobs.Cached(job.ID, 2).Priority)
}
