package execution_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	jobs "github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// A run says who asked for it, whichever way.
func TestARunKnowsWhoAskedForIt(t *testing.T) {
	d := newDesk(t)
	ann, bot := entity.Actor{User: "ann"}, entity.Actor{User: "bob", Token: "ci"}
	job := d.Create(enginetest.Job("ticks", func(j *entity.Job) {
		enginetest.Every(10 * time.Second)(j)
		j.ShardCount = 2
	}))
	d.Fire(t)
	ids, err := d.Jobs.Trigger(t.Context(), job.ID, jobs.Trigger{Source: entity.TriggerManual, By: bot})
	require.NoError(t, err)
	for _, id := range ids {
		require.Equal(t, bot, d.Execution(t, id).TriggeredBy, "every shard")
	}
	for _, id := range ids {
		d.Finish(id, entity.StatusDead, entity.ReasonError)
	}
	again, err := d.Executions.Retry(t.Context(), ids[0], ann)
	require.NoError(t, err)
	require.Equal(t, ann, d.Execution(t, again).TriggeredBy, "who retries, not who triggered first")
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddDeadLetters(ctx,
			[]entity.DeadLetter{{ExecutionID: ids[1], JobID: job.ID, CreateTime: d.Clock.Now()}})
	})
	replay, err := d.Executions.Replay(t.Context(), ids[1], ann)
	require.NoError(t, err)
	require.Equal(t, ann, d.Execution(t, replay).TriggeredBy)
	for _, row := range d.Rows(job.ID) {
		if row.Trigger == entity.TriggerSchedule {
			require.Zero(t, row.TriggeredBy)
		}
	}

	other := d.Create(enginetest.Job("past", enginetest.Every(10*time.Second)))
	request := d.span(-100, -80, 1)
	request.User = "ann"
	_, err = d.Backfills.Start(t.Context(), other.ID, request)
	require.NoError(t, err)
	d.look()
	filled := d.filled(other.ID)
	require.NotEmpty(t, filled)
	for _, row := range filled {
		require.Equal(t, ann, row.TriggeredBy)
	}
}

// The list of the attempts of a run has the latest one, too.
func TestTheLatestAttemptIsListedLast(t *testing.T) {
	d := newDesk(t)
	id := d.Trigger(d.Create(enginetest.Job("again", nil)).ID)[0]
	attempts := func() (out [][]any) {
		t.Helper()
		list, err := d.Executions.Attempts(t.Context(), id)
		require.NoError(t, err)
		for _, a := range list {
			out = append(out, []any{a.Attempt, a.Status, a.Reason, a.NodeID, a.Progress})
		}
		return out
	}
	change := func(status entity.Status, change func(row *entity.Execution)) {
		t.Helper()
		d.Write(t, func(ctx context.Context, tx repository.Tx) error {
			rows, err := tx.Executions.Lock(ctx, []string{id})
			if err != nil {
				return err
			}
			from := rows[0].Status
			rows[0].Status = status
			change(rows[0])
			return tx.Executions.Update(ctx, rows[0], from, rows[0].Token)
		})
	}
	require.Empty(t, attempts(), "none has begun")
	change(entity.StatusRunning, func(row *entity.Execution) { row.Attempt, row.NodeID, row.Progress = 1, "n1", 30 })
	first := []any{1, entity.StatusRunning, entity.ReasonNone, "n1", 30}
	require.Equal(t, [][]any{first}, attempts())
	d.Write(t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddAttempts(ctx,
			[]entity.Attempt{{
				ExecutionID: id, Attempt: 1, Status: entity.StatusFailed, Reason: entity.ReasonError, NodeID: "n1",
				Progress: 50,
			}})
	})
	change(entity.StatusWaiting, func(row *entity.Execution) { row.NodeID = "" })
	first = []any{1, entity.StatusFailed, entity.ReasonError, "n1", 50}
	require.Equal(t, [][]any{first}, attempts(), "it has ended, and the next one has not begun")
	change(entity.StatusRunning, func(row *entity.Execution) { row.Attempt, row.NodeID, row.Progress = 2, "n2", 10 })
	require.Equal(t, [][]any{first, {2, entity.StatusRunning, entity.ReasonNone, "n2", 10}}, attempts())
	change(entity.StatusDead, func(row *entity.Execution) { row.Reason, row.Claim = entity.ReasonTimeout, "" })
	require.Equal(t, [][]any{first, {2, entity.StatusTimeout, entity.ReasonTimeout, "n2", 10}}, attempts(),
		"a run is dead, an attempt ran out of time")
}
