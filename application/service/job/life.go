package job

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Delete ends a job: it records what is due, what waits is cancelled, what runs may end.
// Steps after the deletion cancel the runs of a long queue; what a call leaves, the sweep
// of the slots does. An ifMatch of zero means not given.
func (s *JobService) Delete(ctx context.Context, id string, ifMatch int) error {
	var effect commit.PostCommit
	var deleted *entity.Job
	err := s.Store.Write(ctx, repository.LaneAPI, "job.deleted", func(ctx context.Context, tx repository.Tx) error {
		job, err := tx.Jobs.LockFull(ctx, id)
		if err != nil {
			return err
		}
		if ifMatch != 0 && ifMatch != job.Version {
			return apperror.New(apperror.KindPrecondition, "version_mismatch",
				fmt.Sprintf("the job is at version %d, not %d: read it again", job.Version, ifMatch))
		}
		if err := admission.LockGroups(ctx, tx, []*entity.Job{job}); err != nil {
			return err
		}
		now := s.Clock.Now()
		terms, err := tx.Groups.Terms(ctx, job.Group)
		if err != nil {
			return err
		}
		if effect, _, err = s.catchUp(ctx, tx, job, terms, now, now, false); err != nil {
			return err
		}
		left, err := s.settler.Abandon(ctx, tx, job, entity.ReasonDeleted, now)
		if err != nil {
			return err
		}
		effect.Add(left)
		if err := s.Admitter.FillGroupSlotsOf(ctx, tx, now, &effect, job); err != nil {
			return err
		}
		job.Version++
		job.UpdateTime = now
		job.ClearCursor()
		if err := tx.Jobs.Update(ctx, job, true); err != nil {
			return err
		}
		if err := s.registerNext(ctx, tx, job, &entity.Job{ID: job.ID}); err != nil {
			return err
		}
		if job.Type == entity.JobWorkflow {
			if err := tx.Todos.AddTodos(ctx, []entity.Todo{wf.Todo(id, wf.OwesEnds, now)}); err != nil {
				return err
			}
		}
		deleted = job
		return s.addJobEvent(ctx, tx, job, "job.deleted")
	})
	if err != nil {
		return err
	}
	gone := *deleted
	gone.Finish()
	s.Engine.JobChanged(&gone)
	s.Engine.AfterCommit(effect)
	s.closeWaiting(ctx, deleted)
	return nil
}

// Undelete brings a deleted job back while retention keeps it, with its runs, versions and id. A job that was
// enabled or paused is paused since its deletion, without an end: nothing fires before somebody resumes it, and the
// cursor tells the resume which fires the ledger lacks. permit is asked in the transaction whether the caller may
// have such a job. A taken name is a conflict, and so are runs that the deletion has not cancelled yet.
func (s *JobService) Undelete(ctx context.Context, id, user string,
	permit func(*entity.Job) error,
) (*entity.Job, error) {
	ending, err := s.Claims.WaitingOf(ctx, id, 1)
	if err != nil {
		return nil, err
	}
	var back *entity.Job
	err = s.Store.Write(ctx, repository.LaneAPI, "job.undeleted", func(ctx context.Context, tx repository.Tx) error {
		job, err := tx.Jobs.LockDeleted(ctx, id)
		if err != nil {
			return err
		}
		if err := permit(job); err != nil {
			return err
		}
		owed, err := tx.Todos.DropTodos(ctx, []entity.Todo{wf.Todo(id, wf.OwesEnds, s.Clock.Now())})
		if err != nil {
			return err
		}
		if len(ending) > 0 || owed > 0 {
			return apperror.Conflict("still_ending",
				"runs of the job are still being cancelled; try again in some seconds")
		}
		if err := admission.LockGroups(ctx, tx, nil, job.Group); err != nil {
			return err
		}
		terms, err := tx.Groups.Terms(ctx, job.Group)
		if err != nil {
			return err
		}
		wrong, err := s.holdWorkers(ctx, tx, job)
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			return apperror.Conflict(wrong[0].Code, "the job cannot come back: %s", wrong[0].Message)
		}
		job.Limited = terms.Limited
		s.comeBack(job, user)
		job.Version++
		job.UpdateTime = s.Clock.Now()
		if err := tx.Jobs.Update(ctx, job, false); err != nil {
			return err
		}
		if err := s.registerNext(ctx, tx, nil, job); err != nil {
			return err
		}
		back = job
		return s.addJobEvent(ctx, tx, job, "job.undeleted")
	})
	if err != nil {
		return nil, err
	}
	s.Engine.JobChanged(back)
	return back, nil
}

// comeBack pauses a deleted job since its deletion, unless it had no plan. A schedule that cannot be read has no
// cursor.
func (s *JobService) comeBack(job *entity.Job, user string) {
	if job.Status != entity.JobEnabled && job.Status != entity.JobPaused {
		return
	}
	since := job.UpdateTime
	if err := s.arm(job, since); err != nil {
		job.ClearCursor()
	}
	if job.Status == entity.JobEnabled {
		job.PauseBy(entity.PausedByUser, entity.Pause{User: user, Reason: "it was deleted, and brought back"}, since)
	}
}

// Trigger asks for a run outside the schedule.
type Trigger struct {
	// Params is a JSON object for the run, or empty.
	Params string
	// ScheduledTime is the scheduled time of the run; zero means now.
	ScheduledTime time.Time
	// DelaySec delays the start, 0–MaxDelaySec.
	DelaySec int
	// Source is MANUAL or API; By is the caller.
	Source entity.Trigger
	By     entity.Actor
	// Parent is the span of the caller; empty is none.
	Parent entity.TraceContext
	// Also runs in the same transaction, with the new executions. It may be nil.
	Also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error
}

// MaxDelaySec bounds the delay of a trigger: one year.
const MaxDelaySec = 366 * 24 * 3600

// Trigger runs a job outside its schedule, in any state but deleted: pausing
// stops planning only. It returns the ids of the runs, one for each shard, or
// the id of the row that says why there is none.
func (s *JobService) Trigger(ctx context.Context, id string, t Trigger) ([]string, error) {
	if t.DelaySec < 0 || t.DelaySec > MaxDelaySec {
		return nil, apperror.InvalidField("delaySec", "out_of_range", fmt.Sprintf("must be between 0 and %d", MaxDelaySec))
	}
	params, err := s.permitTrigger(ctx, id, t.Params)
	if err != nil {
		return nil, err
	}
	now := s.Clock.Now()
	scheduled := t.ScheduledTime
	if scheduled.IsZero() {
		scheduled = now.Add(time.Duration(t.DelaySec) * time.Second)
	}
	fire := entity.ExtraFire(t.Source, scheduled, now.Add(time.Duration(t.DelaySec)*time.Second), now, params)
	fire.By, fire.Parent = t.By, t.Parent
	return s.FireExtra(ctx, id, fire, t.Also)
}

// FireExtra records a fire outside the schedule and returns the ids of its executions.
// also runs in the same transaction, with the new executions; it may be nil.
func (s *JobService) FireExtra(ctx context.Context, jobID string, fire entity.Fire,
	also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error,
) ([]string, error) {
	var a admission.Admission
	s.Admitter.PrepareIDs(ctx, jobID)
	err := s.Store.Write(ctx, repository.LaneAPI, "job.trigger", func(ctx context.Context, tx repository.Tx) error {
		jobs, err := s.Admitter.Lock(ctx, tx, []string{jobID})
		if err != nil {
			return err
		}
		job := jobs[jobID]
		if job == nil {
			return apperror.NotFound("job", jobID)
		}
		if err := readable(job); err != nil {
			return err
		}
		if a, err = s.Admitter.Fire(ctx, tx, s.Clock.Now(), job, fire); err != nil || also == nil {
			return err
		}
		return also(ctx, tx, a.Executions)
	})
	if err != nil {
		return nil, err
	}
	s.Engine.AfterCommit(a.PostCommit)
	ids := convert.All(a.Executions, func(row *entity.Execution) string { return row.ID })
	return ids, nil
}
