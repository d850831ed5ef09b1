package admission

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// pauseBroken pauses a locked FIXED_DELAY job whose schedule does not compile
// any more, which happens when a time zone leaves the zone data. The fire that
// cannot follow is recorded with the reason.
func (p *Admitter) pauseBroken(ctx context.Context, tx repository.Tx, job *entity.Job, end time.Time,
	cause error,
) error {
	next := end.Add(time.Duration(job.Schedule.IntervalMs) * time.Millisecond).Truncate(time.Millisecond)
	message := validation.Text("the job was paused, because its schedule is not valid any more: "+cause.Error(), maxWhy)
	exec := entity.NewInvalid(job, entity.PlannedFire(next, next, entity.TriggerSchedule), end, message)
	if err := tx.Executions.Insert(ctx, []*entity.Execution{exec}); err != nil {
		return fmt.Errorf("record why job %s is paused: %w", job.ID, err)
	}
	// The job is not known here in whole.
	full, err := tx.Jobs.LockFull(ctx, job.ID)
	if err != nil {
		return fmt.Errorf("read job %s, which is to be paused: %w", job.ID, err)
	}
	why := validation.Text("its schedule is not valid any more: "+cause.Error(), entity.MaxPauseReason)
	full.PauseBy(entity.PausedByUser, entity.Pause{Reason: why}, end)
	full.ClearCursor()
	full.LastFireTime = next
	full.Version++
	full.UpdateTime = end
	if err := tx.Jobs.Update(ctx, full, false); err != nil {
		return fmt.Errorf("pause job %s: %w", job.ID, err)
	}
	*job = *full
	return p.RecordEnds(ctx, tx, end, []*entity.Execution{exec})
}

// maxWhy is the longest reason recorded for a job that was paused, in bytes.
const maxWhy = 500
