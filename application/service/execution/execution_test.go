package execution_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestAWaitingRunIsCancelledAtOnce(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
	first, second := d.Trigger(job.ID)[0], d.Trigger(job.ID)[0]
	require.NoError(t, d.Executions.Cancel(t.Context(), first))
	require.Equal(t, entity.StatusCancelled, d.Execution(t, first).Status)
	require.False(t, d.Execution(t, second).Claim.Queued(), "its place goes to the next")
	requireCode(t, d.Executions.Cancel(t.Context(), first), apperror.KindConflict, "already_final")
	requireCode(t, d.Executions.Cancel(t.Context(), "nobody"), apperror.KindNotFound, "not_found")
}

// A running run ends when its executor has really stopped.
func TestARunningRunIsAskedToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		d.Script.Hold()
		d.Start(t)
		job := d.Create(enginetest.Job("long", nil))
		id := d.Trigger(job.ID)[0]
		d.Script.Await(t, 1)
		require.NoError(t, d.Executions.Cancel(t.Context(), id))
		d.AwaitStatus(t, id, entity.StatusCancelled)
	})
}

// A second request changes nothing; the first is on its way.
func TestAskingTwiceIsAskingOnce(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("elsewhere", nil))
	id := d.Trigger(job.ID)[0]
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		rows[0].Status, rows[0].NodeID, rows[0].Epoch, rows[0].Token, rows[0].Attempt = entity.StatusRunning, "node-2", 1, 1,
			1
		rows[0].Claim = entity.RunningKey("node-2")
		return tx.Executions.Update(ctx, rows[0], entity.StatusWaiting, 0)
	})
	require.NoError(t, d.Executions.Cancel(t.Context(), id))
	asked := d.Execution(t, id)
	require.True(t, asked.CancelRequested)
	require.Len(t, d.Calls.PostCommits.Stopping, 1)
	d.Clock.Advance(time.Minute)
	require.NoError(t, d.Executions.Cancel(t.Context(), id))
	require.Equal(t, asked, d.Execution(t, id))
}

// Rule 19: what is repeated by hand is a new row; the original stays.
func TestARepetitionIsANewRun(t *testing.T) {
	for _, c := range []struct {
		status entity.Status
		reason entity.Reason
	}{
		{entity.StatusSuccess, entity.ReasonNone},
		{entity.StatusFailed, entity.ReasonError},
		{entity.StatusTimeout, entity.ReasonTimeout},
		{entity.StatusCancelled, entity.ReasonNone},
		{entity.StatusSkipped, entity.ReasonOverlap},
		{entity.StatusDead, entity.ReasonError},
	} {
		t.Run(string(c.status), func(t *testing.T) {
			d := newDesk(t)
			job := d.Create(enginetest.Job("again", func(j *entity.Job) { j.ShardCount = 3 }))
			ids, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{
				Source: entity.TriggerAPI, Params: `{"a":1}`,
				ScheduledTime: noon(-time.Hour),
			})
			require.NoError(t, err)
			_, err = d.Executions.Retry(t.Context(), ids[1], entity.Actor{})
			requireCode(t, err, apperror.KindConflict, "not_final")
			d.Finish(ids[1], c.status, c.reason)
			original := d.Execution(t, ids[1])
			again, err := d.Executions.Retry(t.Context(), ids[1], entity.Actor{})
			require.NoError(t, err)
			row := d.Execution(t, again)
			require.Equal(t, entity.TriggerRetry, row.Trigger)
			require.Equal(t, ids[1], row.RetryOf)
			require.Equal(t, original.IdempotencyKey(), row.IdempotencyKey(), "rule 21: the same over replays")
			require.Equal(t, []any{original.ShardIndex, 3}, []any{row.ShardIndex, row.ShardTotal}, "one shard, not all")
			require.Equal(t, []any{`{"a":1}`, noon(-time.Hour)}, []any{row.Params, row.ScheduledTime})
			require.Equal(t, original, d.Execution(t, ids[1]))
			d.Finish(again, entity.StatusFailed, entity.ReasonError)
			third, err := d.Executions.Retry(t.Context(), again, entity.Actor{})
			require.NoError(t, err)
			require.Equal(t, original.IdempotencyKey(), d.Execution(t, third).IdempotencyKey())
			require.Equal(t, again, d.Execution(t, third).RetryOf)
		})
	}
}

func TestWhatStandsForManyFiresCannotBeRepeated(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("paused", enginetest.Every(time.Second)))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(time.Minute)
	_, err = d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = d.Executions.Retry(t.Context(), d.Rows(job.ID)[0].ID, entity.Actor{})
	requireCode(t, err, apperror.KindConflict, "range")
	_, err = d.Executions.Retry(t.Context(), "nobody", entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

func TestARunOfADeletedJobCannotBeRepeated(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("gone", nil))
	id := d.Trigger(job.ID)[0]
	d.Finish(id, entity.StatusFailed, entity.ReasonError)
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	_, err := d.Executions.Retry(t.Context(), id, entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

// deadRun is a run with a dead letter.
func deadRun(d *desk, jobID string) string {
	d.T.Helper()
	id := d.Trigger(jobID)[0]
	d.Finish(id, entity.StatusDead, entity.ReasonError)
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddDeadLetters(ctx,
			[]entity.DeadLetter{{
				ExecutionID: id, JobID: jobID, Reason: entity.ReasonError, Message: "it broke",
				CreateTime: d.Time.Now(),
			}})
	})
	return id
}

// A dead letter is replayed once, whoever asks how often.
func TestADeadLetterIsReplayedOnce(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("dies", nil))
		id := deadRun(d, job.ID)
		answers := make(chan error, 4)
		for range 4 {
			go func() {
				_, err := d.Executions.Replay(context.Background(), id, entity.Actor{})
				answers <- err
			}()
		}
		won := 0
		for range 4 {
			var f *apperror.Error
			if err := <-answers; err == nil {
				won++
			} else {
				require.True(d.T, errors.As(err, &f) && f.Kind == apperror.KindConflict, "%v", err)
			}
		}
		require.Equal(d.T, 1, won)
		letters, _, err := d.Executions.DeadLetters(d.T.Context(), repository.DeadLetterFilter{JobID: job.ID},
			repository.Page{Limit: 10})
		require.NoError(d.T, err)
		require.Len(d.T, letters, 1)
		replay := d.Execution(d.T, letters[0].ReplayedAs)
		require.Equal(d.T, id, replay.RetryOf)
		require.Len(d.T, d.Rows(job.ID), 2, "a replay that came too late leaves no run")
		require.Equal(d.T, entity.StatusDead, d.Execution(d.T, id).Status)
	})
}

func TestOnlyDeadLettersAreReplayed(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("lives", nil))
	id := d.Trigger(job.ID)[0]
	_, err := d.Executions.Replay(t.Context(), id, entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
	require.Len(t, d.Rows(job.ID), 1)
}

func TestDeadLettersArePaged(t *testing.T) {
	d := newDesk(t)
	job, other := d.Create(enginetest.Job("dies", nil)), d.Create(enginetest.Job("dies too", nil))
	var want []string
	for range 5 {
		want = append([]string{deadRun(d, job.ID)}, want...)
		deadRun(d, other.ID)
		d.Clock.Advance(time.Second)
	}
	var got []string
	page := repository.Page{Limit: 2}
	for {
		letters, next, err := d.Executions.DeadLetters(t.Context(), repository.DeadLetterFilter{JobID: job.ID}, page)
		require.NoError(t, err)
		for _, l := range letters {
			got = append(got, l.ExecutionID)
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	require.ElementsMatch(t, want, got)
}

func TestLogsAndAttemptsBelongToARun(t *testing.T) {
	d := newDesk(t)
	job := d.Create(enginetest.Job("talks", nil))
	id := d.Trigger(job.ID)[0]
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		for i := range 3 {
			err := tx.Records.AddLogs(ctx, []entity.LogChunk{{
				ID: fmt.Sprintf("chunk-%d", i), JobID: job.ID, ExecutionID: id, Attempt: 1, Type: entity.LogStdout,
				SeqFrom: int64(i + 1), SeqTo: int64(i + 1), Content: fmt.Sprintf("line %d", i+1), CreateTime: d.Time.Now(),
			}})
			if err != nil {
				return err
			}
		}
		return tx.Records.AddAttempts(ctx,
			[]entity.Attempt{{ExecutionID: id, Attempt: 1, Status: entity.StatusFailed, ErrorMessage: "first"}})
	})
	chunks, err := d.Executions.Logs(t.Context(), repository.LogPage{ExecutionID: id, Limit: 10})
	require.NoError(t, err)
	require.Len(t, chunks, 3)
	attempts, err := d.Executions.Attempts(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, attempts, 1)
	_, err = d.Executions.Logs(t.Context(), repository.LogPage{ExecutionID: "nobody", Limit: 10})
	requireCode(t, err, apperror.KindNotFound, "not_found")
	_, err = d.Executions.Attempts(t.Context(), "nobody")
	requireCode(t, err, apperror.KindNotFound, "not_found")
	got, err := d.Executions.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, d.Execution(t, id), got)
	rows, _, err := d.Executions.List(t.Context(), repository.ExecutionFilter{JobID: job.ID}, repository.Page{Limit: 5})
	require.NoError(t, err)
	require.Len(t, rows, 1)
}

func TestADeadLetterThatIsGivenUpIsGone(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("dead", nil))
		id := deadRun(d, job.ID)
		require.NoError(d.T, d.Executions.Discard(d.T.Context(), id))
		requireKind(d.T, apperror.KindNotFound, d.Executions.Discard(d.T.Context(), id))
		_, err := d.Executions.Replay(d.T.Context(), id, entity.Actor{})
		requireKind(d.T, apperror.KindNotFound, err)
		requireKind(d.T, apperror.KindNotFound, d.Executions.Discard(d.T.Context(), "caf\u00e9"))
	})
}

// A run that retention deletes meanwhile is not repeated: nothing is to refer to
// what is gone.
func TestARunThatIsDeletedMeanwhileIsNotRepeated(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		job := d.Create(enginetest.Job("again", nil))
		ids := d.Trigger(job.ID)
		d.Finish(ids[0], entity.StatusFailed, entity.ReasonError)
		d.Clock.Advance(24 * time.Hour)
		d.Faults.Before(func(name string) {
			if name != "job.trigger" {
				return
			}
			gone, err := d.Store.PurgeExecutions(t.Context(), d.Clock.Now().Add(-time.Hour), 10)
			require.NoError(t, err)
			require.Equal(t, 1, gone.Deleted)
		})
		_, err := d.Executions.Retry(t.Context(), ids[0], entity.Actor{})
		requireCode(t, err, apperror.KindNotFound, "not_found")
		require.Empty(t, d.Rows(job.ID))
	})
}

// A run of a broadcast that is repeated by hand stays with its node.
func TestARepeatedBroadcastRunStaysOnItsNode(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{})
	j := d.Create(enginetest.Job("all", func(j *entity.Job) { j.Broadcast = true }))
	ids := d.Trigger(j.ID)
	require.Len(t, ids, 2)
	for i, id := range ids {
		d.Finish(id, entity.StatusFailed, entity.ReasonError)
		again, err := d.Executions.Retry(t.Context(), id, entity.Actor{})
		require.NoError(t, err)
		row := d.Execution(t, again)
		require.Equal(t, []any{d.Execution(t, id).NodeID, i, 2}, []any{row.NodeID, row.ShardIndex, row.ShardTotal})
		d.Finish(again, entity.StatusFailed, entity.ReasonError)
	}
	require.NoError(t, d.Store.Leave(t.Context(), "node-2", 1))
	again, err := d.Executions.Retry(t.Context(), ids[1], entity.Actor{})
	require.NoError(t, err)
	require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States([]*entity.Execution{d.Execution(t, again)}))
}

// A broadcast that found nobody is repeated as a whole.
func TestABroadcastToNobodyIsRepeatedToAll(t *testing.T) {
	d := newDesk(t)
	d.Join(t, enginetest.Options{})
	j := d.Create(enginetest.Job("all", func(j *entity.Job) {
		j.Broadcast, j.Routing.Labels = true, map[string]string{"gpu": "yes"}
	}))
	ids := d.Trigger(j.ID)
	require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(d.Rows(j.ID)))
	d.Replace(j.ID, func(j *entity.Job) { j.Routing.Labels = nil })
	_, err := d.Executions.Retry(t.Context(), ids[0], entity.Actor{})
	require.NoError(t, err)
	require.Equal(t, []string{"SKIPPED(NO_NODE)", "WAITING", "WAITING"}, enginetest.States(d.Rows(j.ID)))
}
