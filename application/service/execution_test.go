package service_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func TestAWaitingRunIsCancelledAtOnce(t *testing.T) {
	d := newDesk(t)
	job := d.create(enginetest.Job("serial", func(j *entity.Job) { j.Overlap = entity.OverlapSerial }))
	first, second := d.trigger(job.ID)[0], d.trigger(job.ID)[0]
	require.NoError(t, d.Executions.Cancel(t.Context(), first))
	require.Equal(t, entity.StatusCancelled, d.Execution(t, first).Status)
	require.False(t, d.Execution(t, second).Claim.Queued(), "its place goes to the next")
	requireCode(t, d.Executions.Cancel(t.Context(), first), apperror.KindConflict, "already_final")
	requireCode(t, d.Executions.Cancel(t.Context(), "nobody"), apperror.KindNotFound, "not_found")
}

// A running run ends when its executor has really stopped.
func TestARunningRunIsAskedToStop(t *testing.T) {
	d := newDesk(t)
	d.Script.Hold()
	d.Start(t)
	job := d.create(enginetest.Job("long", nil))
	id := d.trigger(job.ID)[0]
	d.Script.Await(t, 1)
	require.NoError(t, d.Executions.Cancel(t.Context(), id))
	d.AwaitStatus(t, id, entity.StatusCancelled)
}

// A second request changes nothing; the first is on its way.
func TestAskingTwiceIsAskingOnce(t *testing.T) {
	d := newDesk(t)
	job := d.create(enginetest.Job("elsewhere", nil))
	id := d.trigger(job.ID)[0]
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		rows, err := tx.Executions.Lock(ctx, []string{id})
		if err != nil {
			return err
		}
		rows[0].Status, rows[0].NodeID, rows[0].Epoch, rows[0].Token, rows[0].Attempt = entity.StatusRunning, "node-2", 1, 1, 1
		rows[0].Claim = entity.RunningKey("node-2")
		return tx.Executions.Update(ctx, rows[0], entity.StatusWaiting, 0)
	})
	require.NoError(t, d.Executions.Cancel(t.Context(), id))
	asked := d.Execution(t, id)
	require.True(t, asked.CancelRequested)
	require.Len(t, d.news.effects.Stopping, 1)
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
			job := d.create(enginetest.Job("again", func(j *entity.Job) { j.ShardCount = 3 }))
			ids, err := d.Jobs.Trigger(t.Context(), job.ID, service.Trigger{Source: entity.TriggerAPI, Params: `{"a":1}`, ScheduledTime: noon(-time.Hour)})
			require.NoError(t, err)
			_, err = d.Executions.Retry(t.Context(), ids[1], entity.Actor{})
			requireCode(t, err, apperror.KindConflict, "not_final")
			d.finish(ids[1], c.status, c.reason)
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
			d.finish(again, entity.StatusFailed, entity.ReasonError)
			third, err := d.Executions.Retry(t.Context(), again, entity.Actor{})
			require.NoError(t, err)
			require.Equal(t, original.IdempotencyKey(), d.Execution(t, third).IdempotencyKey())
			require.Equal(t, again, d.Execution(t, third).RetryOf)
		})
	}
}

func TestWhatStandsForManyFiresCannotBeRepeated(t *testing.T) {
	d := newDesk(t)
	job := d.create(enginetest.Job("paused", enginetest.Every(time.Second)))
	_, err := d.Jobs.Pause(t.Context(), job.ID, entity.Pause{})
	require.NoError(t, err)
	d.Clock.Advance(time.Minute)
	_, err = d.Jobs.Resume(t.Context(), job.ID)
	require.NoError(t, err)
	_, err = d.Executions.Retry(t.Context(), d.rows(job.ID)[0].ID, entity.Actor{})
	requireCode(t, err, apperror.KindConflict, "range")
	_, err = d.Executions.Retry(t.Context(), "nobody", entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

func TestARunOfADeletedJobCannotBeRepeated(t *testing.T) {
	d := newDesk(t)
	job := d.create(enginetest.Job("gone", nil))
	id := d.trigger(job.ID)[0]
	d.finish(id, entity.StatusFailed, entity.ReasonError)
	require.NoError(t, d.Jobs.Delete(t.Context(), job.ID, 0))
	_, err := d.Executions.Retry(t.Context(), id, entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
}

// deadRun is a run with a dead letter.
func deadRun(d *desk, jobID string) string {
	d.t.Helper()
	id := d.trigger(jobID)[0]
	d.finish(id, entity.StatusDead, entity.ReasonError)
	d.Write(d.t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddDeadLetters(ctx, []entity.DeadLetter{{ExecutionID: id, JobID: jobID, Reason: entity.ReasonError, Message: "it broke", CreateTime: d.Time.Now()}})
	})
	return id
}

// A dead letter is replayed once, whoever asks how often.
func TestADeadLetterIsReplayedOnce(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.create(enginetest.Job("dies", nil))
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
				require.True(d.t, errors.As(err, &f) && f.Kind == apperror.KindConflict, "%v", err)
			}
		}
		require.Equal(d.t, 1, won)
		letters, _, err := d.Executions.DeadLetters(d.t.Context(), repository.DeadLetterFilter{JobID: job.ID}, repository.Page{Limit: 10})
		require.NoError(d.t, err)
		require.Len(d.t, letters, 1)
		replay := d.Execution(d.t, letters[0].ReplayedAs)
		require.Equal(d.t, id, replay.RetryOf)
		require.Len(d.t, d.rows(job.ID), 2, "a replay that came too late leaves no run")
		require.Equal(d.t, entity.StatusDead, d.Execution(d.t, id).Status)
	})
}

func TestOnlyDeadLettersAreReplayed(t *testing.T) {
	d := newDesk(t)
	job := d.create(enginetest.Job("lives", nil))
	id := d.trigger(job.ID)[0]
	_, err := d.Executions.Replay(t.Context(), id, entity.Actor{})
	requireCode(t, err, apperror.KindNotFound, "not_found")
	require.Len(t, d.rows(job.ID), 1)
}

func TestDeadLettersArePaged(t *testing.T) {
	d := newDesk(t)
	job, other := d.create(enginetest.Job("dies", nil)), d.create(enginetest.Job("dies too", nil))
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
	job := d.create(enginetest.Job("talks", nil))
	id := d.trigger(job.ID)[0]
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
		return tx.Records.AddAttempts(ctx, []entity.Attempt{{ExecutionID: id, Attempt: 1, Status: entity.StatusFailed, ErrorMessage: "first"}})
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

// pings is a store that answers or not; stalls a duty of some age.
type pings struct{ err error }

func (p pings) Ping(context.Context) error { return p.err }

type duties []periodic.Status

func (d duties) Statuses() []periodic.Status { return d }

func TestANodeIsReadyWhileItsStoreAnswersAndItsDutiesTick(t *testing.T) {
	healthy := duties{{Name: "scan", Age: time.Second, Limit: 15 * time.Second}}
	c := clocktest.NewManual(noon(0))
	require.Empty(t, service.NewMonitorService(pings{}, healthy, c).Degraded(t.Context()))
	err := service.NotReady(service.NewMonitorService(pings{errors.New("secret dsn")}, append(healthy,
		periodic.Status{Name: "heartbeat", Age: 20 * time.Second, Limit: 15 * time.Second}), c).Degraded(t.Context()))
	require.ErrorContains(t, err, "the store does not answer")
	require.ErrorContains(t, err, "heartbeat has not ticked for 20s")
	require.NotContains(t, err.Error(), "secret")
	require.NotContains(t, err.Error(), "scan")
}

func TestTroublesAreDatedFromWhenTheyWereNoticed(t *testing.T) {
	c := clocktest.NewManual(noon(0))
	reason := ""
	part := service.Part{Name: "redis", Check: func() (string, bool) { return reason, false }}
	m := service.NewMonitorService(pings{}, duties{{Name: "scan", Age: time.Minute, Limit: time.Second}}, c, part)
	reason = "away"
	require.NoError(t, m.Watch(t.Context()))
	c.Advance(10 * time.Second)
	reason = "still away"
	found := m.Degraded(t.Context())
	require.Equal(t, []service.Trouble{
		{Part: service.PartDuty, Reason: "scan has not ticked for 1m0s", Since: noon(-50 * time.Second), Blocks: true},
		{Part: "redis", Reason: "still away", Since: noon(0)},
	}, found)
	require.NoError(t, service.NotReady(found[1:]), "what does not block is shown only")
	reason = ""
	require.NoError(t, m.Watch(t.Context()))
	reason = "away again"
	require.Equal(t, noon(10*time.Second), m.Degraded(t.Context())[1].Since)
}

// hanging is a store that does not answer as long as it is waited for.
type hanging struct{}

func (hanging) Ping(ctx context.Context) error {
	_, bounded := ctx.Deadline()
	if !bounded {
		return nil
	}
	return apperror.Unavailable(context.DeadlineExceeded)
}

func TestAProbeDoesNotWaitForTheStoreForLong(t *testing.T) {
	found := service.NewMonitorService(hanging{}, duties{}, clocktest.NewManual(noon(0))).Degraded(context.Background())
	require.ErrorContains(t, service.NotReady(found), "the store does not answer")
}

func TestADeadLetterThatIsGivenUpIsGone(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.create(enginetest.Job("dead", nil))
		id := deadRun(d, job.ID)
		require.NoError(d.t, d.Executions.Discard(d.t.Context(), id))
		requireKind(d.t, apperror.KindNotFound, d.Executions.Discard(d.t.Context(), id))
		_, err := d.Executions.Replay(d.t.Context(), id, entity.Actor{})
		requireKind(d.t, apperror.KindNotFound, err)
		requireKind(d.t, apperror.KindNotFound, d.Executions.Discard(d.t.Context(), "caf\u00e9"))
	})
}

// A run that retention deletes meanwhile is not repeated: nothing is to refer to
// what is gone.
func TestARunThatIsDeletedMeanwhileIsNotRepeated(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.t
		job := d.create(enginetest.Job("again", nil))
		ids := d.trigger(job.ID)
		d.finish(ids[0], entity.StatusFailed, entity.ReasonError)
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
		require.Empty(t, d.rows(job.ID))
	})
}
