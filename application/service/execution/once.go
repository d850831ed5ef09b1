package execution

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// onlyOnce refuses a repetition, in its transaction, where the job skips it or where another one counts already.
func onlyOnce(ctx context.Context, tx repository.Tx, row, made *entity.Execution) error {
	if made.Status == entity.StatusSkipped {
		return apperror.Conflict("skipped", "the job takes no more runs now (%s): run it again later", made.Reason)
	}
	already, err := tx.Executions.RepeatedAlready(ctx, row.IdempotencyKey(), row.ID, made.ID)
	if err != nil {
		return err
	}
	if already {
		return apperror.Conflict("already_run_again", "the run was run again before")
	}
	return nil
}

// closesLetterOf takes the letter of a dead run from those that wait for a person: somebody has repeated it. Otherwise
// a replay of all that wait would do its work twice.
func closesLetterOf(row *entity.Execution) Also {
	if row.Status != entity.StatusDead {
		return nil
	}
	return func(ctx context.Context, tx repository.Tx, made []*entity.Execution) error {
		if made[0].Status == entity.StatusSkipped {
			return nil
		}
		err := tx.Records.MarkReplayed(ctx, row.ID, made[0].ID)
		if apperror.Is(err, apperror.KindConflict) || apperror.Is(err, apperror.KindNotFound) {
			return nil // it waits no longer, or there is none
		}
		return err
	}
}
