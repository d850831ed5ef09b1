package job

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
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
}

// MaxDelaySec bounds the delay of a trigger: one year.
const MaxDelaySec = 366 * 24 * 3600

// Trigger runs a job outside its schedule, in any state but deleted: pausing
// stops planning only. It returns the ids of the runs, one for each shard, or
// the id of the row that says why there is none.
func (s *JobService) Trigger(ctx context.Context, id string, t Trigger) ([]string, error) {
	return s.TriggerAlso(ctx, id, t, nil)
}

// TriggerAlso is Trigger; also runs in the same transaction, with the new executions. It may be nil.
func (s *JobService) TriggerAlso(ctx context.Context, id string, t Trigger,
	also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error,
) ([]string, error) {
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
	return s.FireExtra(ctx, id, fire, also)
}

// FireExtra records a fire outside the schedule and returns the ids of its executions.
// also runs in the same transaction, with the new executions; it may be nil.
func (s *JobService) FireExtra(ctx context.Context, jobID string, fire entity.Fire,
	also func(ctx context.Context, tx repository.Tx, executions []*entity.Execution) error,
) ([]string, error) {
	var a admission.Admission
	s.Admitter.PrepareIDs(ctx, jobID)
	err := s.Store.Write(ctx, repository.LaneAPI, "job.trigger", func(ctx context.Context, tx repository.Tx) error {
		a = admission.Admission{}
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
		fires, err := admission.LiveOf(ctx, tx, job)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if err := s.Admitter.Admit(ctx, tx, now, job, fires[jobID], fire, &a); err != nil {
			return err
		}
		if err := s.Admitter.Record(ctx, tx, now, job, &a); err != nil {
			return err
		}
		if also == nil {
			return nil
		}
		return also(ctx, tx, a.Executions)
	})
	if err != nil {
		return nil, err
	}
	s.Engine.AfterCommit(a.PostCommit)
	ids := make([]string, len(a.Executions))
	for i, row := range a.Executions {
		ids[i] = row.ID
	}
	return ids, nil
}
