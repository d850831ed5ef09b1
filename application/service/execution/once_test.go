package execution_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// openLetters are the dead letters of a job that wait for a person.
func (d *desk) openLetters(jobID string) (ids []string) {
	d.T.Helper()
	letters, _, err := d.Executions.DeadLetters(d.T.Context(), repository.DeadLetterFilter{JobID: jobID, Waiting: true},
		repository.Page{Limit: 100})
	require.NoError(d.T, err)
	for _, l := range letters {
		ids = append(ids, l.ExecutionID)
	}
	return ids
}

// A dead run that somebody has run again, in whichever way, is not replayed besides.
func TestADeadRunIsRunAgainOnce(t *testing.T) {
	ways := map[string]func(d *desk, id string) (string, error){
		"by its id": func(d *desk, id string) (string, error) {
			return d.Executions.Retry(d.T.Context(), id, entity.Actor{})
		},
		"with all that failed": func(d *desk, id string) (string, error) {
			return d.Executions.RetryOnce(d.T.Context(), id, entity.Actor{})
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(d *desk) {
				job := d.Create(enginetest.Job("dies", nil))
				id := deadRun(d, job.ID)
				again, err := way(d, id)
				require.NoError(d.T, err)
				require.Empty(d.T, d.openLetters(job.ID))
				_, err = d.Executions.Replay(d.T.Context(), id, entity.Actor{})
				requireCode(d.T, err, apperror.KindConflict, "already_replayed")
				require.Len(d.T, d.Rows(job.ID), 2, "the refused replay leaves no run")
				letter, err := d.Store.DeadLetter(d.T.Context(), id)
				require.NoError(d.T, err)
				require.Equal(d.T, again, letter.ReplayedAs)
			})
		})
	}
}

// A letter that waits although its run was run again, as one of a former release does, starts nothing.
func TestALetterOfARunThatWasRunAgainStartsNothing(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("dies", nil))
		id := d.Trigger(job.ID)[0]
		d.Finish(id, entity.StatusDead, entity.ReasonError)
		d.Clock.Advance(time.Second)
		_, err := d.Executions.Retry(d.T.Context(), id, entity.Actor{})
		require.NoError(d.T, err)
		d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
			return tx.Records.AddDeadLetters(ctx, []entity.DeadLetter{{
				ExecutionID: id, JobID: job.ID, Reason: entity.ReasonError, Message: "it broke", CreateTime: d.Time.Now(),
			}})
		})
		_, err = d.Executions.Replay(d.T.Context(), id, entity.Actor{})
		requireCode(d.T, err, apperror.KindConflict, "already_run_again")
		require.Len(d.T, d.Rows(job.ID), 2)
		require.Equal(d.T, []string{id}, d.openLetters(job.ID), "a refused replay changes nothing")
	})
}

// A repetition that the job skips does no work, so that the letter waits on.
func TestALetterWhoseReplayIsSkippedWaitsOn(t *testing.T) {
	eachStore(t, func(d *desk) {
		job := d.Create(enginetest.Job("dies", servicetest.Waiting(nil)))
		id := deadRun(d, job.ID)
		d.Replace(job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapDiscard })
		d.Trigger(job.ID)
		_, err := d.Executions.Replay(d.T.Context(), id, entity.Actor{})
		requireCode(d.T, err, apperror.KindConflict, "skipped")
		require.Len(d.T, d.Rows(job.ID), 2, "the refused replay leaves no run")
		_, err = d.Executions.Retry(d.T.Context(), id, entity.Actor{})
		require.NoError(d.T, err)
		require.Len(d.T, d.Rows(job.ID), 3, "the ledger keeps the retry that was skipped")
		require.Equal(d.T, []string{id}, d.openLetters(job.ID))
	})
}
