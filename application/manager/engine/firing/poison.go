package firing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/direct"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// recordAlone handles the one job of a batch that cannot be fired, so that the others go on (engine rule 10). A fire
// that the store refuses by an unknown answer stays due until the refusal has lasted. Then it is recorded like a fire
// that the store refuses for its values. Any other error changes nothing, and the next scan finds the job again.
func (m *attempt) recordAlone(ctx context.Context, it *item, cause error, now time.Time) error {
	var poison *repository.PoisonError
	var unknown *repository.UnknownError
	if errors.As(cause, &unknown) && !m.blame.Lasts(it.job.ID) {
		m.leaveDue(it, cause, now)
		return nil
	}
	if errors.As(cause, &poison) || errors.As(cause, &unknown) {
		err := batch.Guard(func() error { return m.recordPoison(ctx, it, cause, now) })
		if errors.As(err, &unknown) {
			m.leaveDue(it, err, now)
			return nil
		}
		if !errors.As(err, &poison) {
			m.blame.Acquit(it.job.ID)
			return err
		}
		cause = err // not even what is left of the executions can be stored
	}
	it.done = true
	m.dueSet.FinishFiring(it.due, nil, now)
	var panicked *batch.PanicError
	if !errors.As(cause, &poison) && !errors.As(cause, &panicked) {
		return fmt.Errorf("fire job %s: %w", it.job.ID, cause)
	}
	m.recordBroken(ctx, it.due.Job, cause)
	return nil
}

// leaveDue gives back a job whose fire the store refused while it took others. The next scan tries it again.
func (m *attempt) leaveDue(it *item, cause error, now time.Time) {
	m.Logger.Warn("a fire stays due, because the store gives an answer that is not known", "job", it.job.ID,
		"error", cause)
	it.revertStarts()
	it.done = true
	m.dueSet.FinishFiring(it.due, nil, now)
}

// recordPoison records the fires of one job that the store refuses as
// FAILED(INVALID) executions, one for each shard, that hold nothing of the job but its
// id.
func (m *attempt) recordPoison(ctx context.Context, it *item, cause error, now time.Time) error {
	m.Metrics.PoisonFire()
	m.Logger.Error("the store refuses a fire; it is recorded as failed", "job", it.job.ID, "error", cause)
	it.revertStarts()
	execs := it.execs
	for _, f := range it.fires {
		execs = append(execs, entity.NewExecutions(&it.job, f, now)...)
	}
	why := message("the run could not be recorded: ", cause)
	reduced := make([]*entity.Execution, len(execs))
	for i, exec := range execs {
		reduced[i] = exec.Rejected(now, why)
	}
	nothing := direct.Reserve(m.Slots, m.Runner, entity.Slots{})
	return m.commit(ctx, []*item{{due: it.due, job: it.job, execs: reduced, last: it.last}}, now, false, nothing)
}

// recordBroken records that a due job cannot be planned, because its schedule no
// longer compiles (a time zone has left the zone data), its row cannot be read,
// or planning it panics: the fire that met this fails, one execution for each shard, and
// the job is paused with the reason. The times planned from then on until somebody
// resumes it are a range, as of every pause.
func (m *JobManager) recordBroken(ctx context.Context, job *entity.Job, cause error) {
	m.Logger.Error("a due job cannot be planned; it is paused", "job", job.ID, "error", cause, "stack",
		batch.StackOf(cause))
	now := m.StoreClock.Now()
	execs := rejectedExecutions(job, cause, now)
	err := m.Store.Write(ctx, repository.LaneFire, "fire.broken", func(ctx context.Context, tx repository.Tx) error {
		b := repository.JobBreak{
			ID: job.ID, Version: job.Version, From: job.NextFireTime, Next: afterFire(job.NextFireTime), At: now,
			Reason: "the job cannot be planned: " + cause.Error(),
		}
		if job.Schedule.Kind == schedule.FixedDelay {
			b.Next = time.Time{} // which depends on a run that there is not
		}
		paused, err := tx.Jobs.Break(ctx, b)
		if err != nil || !paused {
			return err
		}
		if err := tx.Executions.Insert(ctx, execs); err != nil {
			return err
		}
		return m.Admitter.RecordEnds(ctx, tx, now, execs)
	})
	if err != nil {
		m.Logger.Error("a broken job could not be paused; the next scan tries again", "job", job.ID, "error", err)
	}
}

// rejectedExecutions are the executions of the fire at a broken job's cursor.
func rejectedExecutions(job *entity.Job, cause error, now time.Time) []*entity.Execution {
	execs := entity.NewExecutions(job, entity.PlannedFire(job.NextFireTime, job.DueTime, entity.TriggerSchedule), now)
	why := message("the job was paused, because it cannot be planned: ", cause)
	for i, exec := range execs {
		execs[i] = exec.Rejected(now, why)
	}
	return execs
}

// maxMessage is the longest message of a fire that cannot be recorded, in bytes.
const maxMessage = 500

func message(what string, cause error) string { return validation.Text(what+cause.Error(), maxMessage) }
