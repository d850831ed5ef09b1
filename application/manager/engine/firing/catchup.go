package firing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/planning"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// catchUpLimit is about the most runs that one transaction of an edit records; one
// fire is not divided.
const catchUpLimit = 2000

// CatchUpPlanner decides what is due and undecided of a job before its definition
// changes (engine rule 3).
type CatchUpPlanner struct {
	Admitter  *admission.Admitter
	Schedules admission.Compiler
}

// CatchUp records, in tx and under the job's present definition, what of the
// locked job is due at a moment, which is not after now: fires wait to be claimed,
// a paused span becomes one range row. The job's cursor is moved in memory; the
// caller stores it. Jobs that are not planned are left alone. When more is due than
// one transaction takes, more is true and the cursor stands before it.
func (s CatchUpPlanner) CatchUp(ctx context.Context, tx repository.Tx, job *entity.Job, at,
	now time.Time,
) (effect commit.PostCommit, more bool, err error) {
	if job.NextFireTime.IsZero() {
		return effect, false, nil
	}
	res := &result{}
	sched, err := s.Schedules.Compile(job.Schedule)
	switch {
	case err != nil:
		catchUpBroken(job, err, at, now, res)
		err = nil
	case job.Status == entity.JobEnabled:
		more, err = s.catchUpDue(ctx, tx, job, sched, at, now, res)
	case job.Status == entity.JobPaused:
		endPause(job, sched, at, now, res)
	}
	if err != nil {
		return effect, false, err
	}
	return res.postCommit, more, s.store(ctx, tx, job, res, now)
}

// Abandon decides what CatchUp has left of a schedule that ends now, because the
// job gets another one or is deleted. Scheduled times that have passed and are
// not due yet, because of the jitter, run at their due times. The times beyond CatchUp,
// and a span whose schedule cannot be read any more, become one
// range row with the reason.
func (s CatchUpPlanner) Abandon(ctx context.Context, tx repository.Tx, job *entity.Job, reason entity.Reason,
	now time.Time,
) (commit.PostCommit, error) {
	if job.NextFireTime.IsZero() || job.NextFireTime.After(now) {
		return commit.PostCommit{}, nil
	}
	res := &result{}
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		span := entity.SkippedRange{First: job.NextFireTime, End: now, AtLeast: true, Reason: reason}
		exec := entity.NewRange(job, span, now)
		if job.Status == entity.JobPaused {
			exec.Reason, exec.ErrorMessage = entity.ReasonPaused, job.Pause.String()
		}
		res.execs = append(res.execs, exec)
		job.DecideUntil(span.End)
		job.ClearCursor()
		return res.postCommit, s.store(ctx, tx, job, res, now)
	}
	if job.Status == entity.JobPaused {
		endPause(job, sched, now, now, res)
		return res.postCommit, s.store(ctx, tx, job, res, now)
	}
	if skip, next := planning.Span(planning.View(job, sched), job.NextFireTime, now.Add(-sched.Jitter(job.ID)),
		reason); skip != nil {
		res.execs = append(res.execs, entity.NewRange(job, *skip, now))
		job.DecideUntil(skip.End)
		job.Advance(sched, next)
	}
	// By its scheduled time all that has passed is due; the jitter is but later.
	plan := planning.Decide(planning.Input{
		Schedule: planning.View(job, sched), Cursor: job.NextFireTime, Now: now,
		Misfire: entity.Misfire{ThresholdSec: maxJitterSec}, MaxFires: s.fires(job),
	})
	for i := range plan.Fires {
		plan.Fires[i].DueTime = plan.Fires[i].ScheduledTime.Add(sched.Jitter(job.ID))
	}
	if err := s.admit(ctx, tx, job, plan, now, res); err != nil {
		return res.postCommit, err
	}
	plan.Apply(job, sched)
	if plan.Partial {
		skip, next := planning.Span(planning.View(job, sched), job.NextFireTime, now, reason)
		res.execs = append(res.execs, entity.NewRange(job, *skip, now))
		job.DecideUntil(skip.End)
		job.Advance(sched, next)
	}
	return res.postCommit, s.store(ctx, tx, job, res, now)
}

// maxJitterSec is more than any jitter lasts.
const maxJitterSec = 366 * 24 * 3600

// fires is how many fires of a job one transaction takes.
func (s CatchUpPlanner) fires(job *entity.Job) int {
	return max(catchUpLimit/job.ExecutionsPerFire(), 1)
}

func (s CatchUpPlanner) store(ctx context.Context, tx repository.Tx, job *entity.Job, res *result,
	now time.Time,
) error {
	if len(res.execs) == 0 {
		return nil
	}
	slices.SortFunc(res.execs, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	if err := tx.Executions.Insert(ctx, res.execs); err != nil {
		return fmt.Errorf("insert %d executions of a catch-up: %w", len(res.execs), err)
	}
	if err := s.Admitter.RecordDeadlines(ctx, tx, res.execs, job); err != nil {
		return err
	}
	return s.Admitter.RecordEnds(ctx, tx, now, res.ended())
}

func (s CatchUpPlanner) catchUpDue(ctx context.Context, tx repository.Tx, job *entity.Job, sched *schedule.Schedule, at,
	now time.Time, res *result,
) (more bool, err error) {
	plan := planning.Due(job, sched, at, s.fires(job))
	if err := s.admit(ctx, tx, job, plan, now, res); err != nil {
		return false, err
	}
	plan.Apply(job, sched)
	return plan.Partial, nil
}

// admit adds the executions of a plan.
func (s CatchUpPlanner) admit(ctx context.Context, tx repository.Tx, job *entity.Job, plan planning.Plan, now time.Time,
	res *result,
) error {
	if plan.Skip != nil {
		res.execs = append(res.execs, entity.NewRange(job, *plan.Skip, now))
	}
	if len(plan.Fires) == 0 {
		return nil
	}
	a, err := s.Admitter.AdmitAll(ctx, tx, now, job, plan.Fires...)
	if err != nil {
		return err
	}
	res.execs = append(res.execs, a.Executions...)
	res.postCommit.Add(a.PostCommit)
	if len(a.InFlightFires) == 0 {
		return nil
	}
	return tx.InFlightFires.Insert(ctx, a.InFlightFires)
}

// EndPause ends the span of a paused job at a moment: its range row, if there is
// one, is returned, and the cursor moved in memory. The error is that its schedule
// does not compile.
func (s CatchUpPlanner) EndPause(job *entity.Job, until, now time.Time) ([]*entity.Execution, error) {
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return nil, fmt.Errorf("compile the schedule of job %s: %w", job.ID, err)
	}
	res := &result{}
	endPause(job, sched, until, now, res)
	return res.execs, nil
}

// endPause ends the span of a pause at a moment.
func endPause(job *entity.Job, sched *schedule.Schedule, until, now time.Time, res *result) {
	cursor := job.NextFireTime
	if cursor.Equal(afterFire(job.LastFireTime)) && job.Schedule.Kind != schedule.FixedDelay {
		// It says which fire was the last to be decided, see recordBroken.
		cursor, _ = sched.Next(job.LastFireTime)
	}
	skip, next := planning.Span(planning.View(job, sched), cursor, until, entity.ReasonPaused)
	if skip != nil {
		exec := entity.NewRange(job, *skip, now)
		exec.ErrorMessage = job.Pause.String()
		res.execs = append(res.execs, exec)
		job.DecideUntil(skip.End)
	}
	job.NextFireTime, job.DueTime = next, time.Time{}
}

// afterFire is the first moment that a fire has not decided, of a job whose next
// scheduled time is not known.
func afterFire(scheduled time.Time) time.Time { return scheduled.Add(time.Millisecond) }

// catchUpBroken decides what is due of a job whose schedule cannot be read: as
// the planner would, the fire at its cursor fails. The cursor of a paused one
// stays where the pause began.
func catchUpBroken(job *entity.Job, cause error, at, now time.Time, res *result) {
	if job.Status != entity.JobEnabled || job.DueTime.IsZero() || job.DueTime.After(at) {
		return
	}
	res.execs = append(res.execs, rejectedExecutions(job, cause, now)...)
	job.LastFireTime, job.NextFireTime = job.NextFireTime, afterFire(job.NextFireTime)
	if job.Schedule.Kind == schedule.FixedDelay {
		job.NextFireTime = time.Time{}
	}
}
