package execution

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/backfill"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

// The bounds of a backfill.
const (
	// MaxBackfillTimes bounds the scheduled times of its range.
	MaxBackfillTimes = 10_000
	// MaxBackfillParallel bounds the fires that are live at once.
	MaxBackfillParallel = 100
)

// Backfill asks for the scheduled times of a job in the past range [From, To),
// whose bounds are whole milliseconds.
type Backfill struct {
	From, To time.Time
	// MaxParallel is 1–MaxBackfillParallel.
	MaxParallel int
	// IncludeFailed asks for the times, too, whose fires failed and were not made good.
	IncludeFailed bool
	// User is the name of who asks.
	User string
}

// Validate finds what is wrong of a backfill asked for at now.
func (b Backfill) Validate(now time.Time) []apperror.Field {
	var fields []apperror.Field
	add := func(field, code, message string) {
		fields = append(fields, apperror.Field{Field: field, Code: code, Message: message})
	}
	if b.From.IsZero() {
		add("from", "required", "give the first moment of the range")
	}
	switch {
	case b.To.IsZero():
		add("to", "required", "give the moment at which the range ends; it is not part of the range")
	case !b.From.Before(b.To):
		add("to", "out_of_order", "must be after from")
	case b.To.After(now):
		add("to", "in_the_future", "must not be later than now: times to come run by themselves")
	}
	if b.MaxParallel < 1 || b.MaxParallel > MaxBackfillParallel {
		add("maxParallel", "out_of_range", fmt.Sprintf("must be from 1 to %d", MaxBackfillParallel))
	}
	return fields
}

// BackfillPlan is what a backfill would do.
type BackfillPlan struct {
	// Times are those that would run, in order.
	Times []time.Time
	// Failed are those of them whose fires failed.
	Failed []time.Time
	// LeftOut are the others of the range: they ran already.
	LeftOut []time.Time
	// Total counts the times of the range, AlreadyRun those of them that ran.
	Total, AlreadyRun int

	schedule schedule.Spec
}

// BackfillService runs past times of jobs. Safe for concurrent use.
type BackfillService struct {
	Store     repository.Store
	Backfills repository.Backfills
	Jobs      repository.JobReader
	Admitter  *admission.Admitter
	Schedules admission.Compiler
	// Admit starts what a backfill may start.
	Admit  func(ctx context.Context, b entity.Backfill) error
	Clock  clock.StoreClock
	Logger *slog.Logger
}

// Plan says what a backfill would do; nothing is stored.
func (s *BackfillService) Plan(ctx context.Context, jobID string, r Backfill) (BackfillPlan, error) {
	var plan BackfillPlan
	if err := apperror.Invalid(r.Validate(s.Clock.Now())); err != nil {
		return plan, err
	}
	job, err := s.Jobs.Get(ctx, jobID)
	if err != nil {
		return plan, err
	}
	times, err := s.times(job, r)
	if err != nil {
		return plan, err
	}
	past, err := backfill.Look(ctx, s.Backfills, jobID, times, r.IncludeFailed)
	if err != nil {
		return plan, err
	}
	for _, at := range times {
		again := len(past.Again(at)) > 0
		if past.Ran(at) && !again {
			plan.LeftOut = append(plan.LeftOut, at)
			continue
		}
		plan.Times = append(plan.Times, at)
		if again {
			plan.Failed = append(plan.Failed, at)
		}
	}
	plan.Total, plan.AlreadyRun, plan.schedule = len(times), len(plan.LeftOut), job.Schedule
	return plan, nil
}

// times are the scheduled times of the range by the job's present schedule.
func (s *BackfillService) times(job *entity.Job, r Backfill) ([]time.Time, error) {
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return nil, fmt.Errorf("compile the schedule of job %s: %w", job.ID, err)
	}
	switch sched.Kind() {
	case schedule.FixedDelay:
		return nil, apperror.InvalidField("schedule", "no_planned_times",
			"the schedule of the job is FIXED_DELAY, whose times follow from its runs and are not planned; trigger the job "+
				"with a scheduledTime instead")
	case schedule.None:
		return nil, apperror.InvalidField("schedule", "no_planned_times",
			"the job has no schedule, so there are no planned times; trigger it with a scheduledTime instead, or give it a "+
				"schedule first")
	}
	times := sched.Unstarted().Between(r.From, r.To, MaxBackfillTimes+1)
	if len(times) <= MaxBackfillTimes {
		return times, nil
	}
	message := fmt.Sprintf("the range holds more than %d times; narrow the range, and call again for the rest",
		MaxBackfillTimes)
	return nil, apperror.Invalid([]apperror.Field{
		{Field: "from", Code: "too_many_times", Message: message}, {Field: "to", Code: "too_many_times", Message: message},
	})
}

// Start stores a backfill and begins with it. The job may be in any state but
// deleted: pausing stops planning only.
func (s *BackfillService) Start(ctx context.Context, jobID string, r Backfill) (entity.Backfill, error) {
	plan, err := s.Plan(ctx, jobID, r)
	if err != nil {
		return entity.Backfill{}, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return entity.Backfill{}, fmt.Errorf("make the id of a backfill: %w", err)
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	b := entity.Backfill{
		ID: id.String(), JobID: jobID, From: r.From, To: r.To, Schedule: plan.schedule, Cursor: r.From,
		MaxParallel: r.MaxParallel, IncludeFailed: r.IncludeFailed, Status: entity.BackfillActive,
		Total: plan.Total, AlreadyRun: plan.AlreadyRun,
		User: r.User, Version: 1, CreateTime: now, UpdateTime: now,
	}
	err = s.Store.Write(ctx, repository.LaneAPI, "backfill.create", func(ctx context.Context, tx repository.Tx) error {
		if err := s.lock(ctx, tx, jobID); err != nil {
			return err
		}
		return tx.Backfills.Add(ctx, b)
	})
	if err != nil {
		return entity.Backfill{}, err
	}
	if err := s.Admit(ctx, b); err != nil {
		s.Logger.Warn("a backfill could not begin at once; it is tried again", "backfill", b.ID, "error", err)
		return b, nil
	}
	if begun, err := s.Backfills.Backfill(ctx, b.ID); err == nil {
		return begun, nil
	}
	return b, nil
}

// lock locks a job that must exist.
func (s *BackfillService) lock(ctx context.Context, tx repository.Tx, jobID string) error {
	jobs, err := s.Admitter.Lock(ctx, tx, []string{jobID})
	if err == nil && jobs[jobID] == nil {
		return apperror.NotFound("job", jobID)
	}
	return err
}

// List is one page of the backfills of a job, newest first.
func (s *BackfillService) List(ctx context.Context, jobID string,
	p repository.Page,
) ([]entity.Backfill, string, error) {
	if _, err := s.Jobs.Get(ctx, jobID); err != nil {
		return nil, "", err
	}
	return s.Backfills.ListBackfills(ctx, jobID, p)
}

// Cancel stops a backfill: nothing more of it starts, and the runs that it made
// go on. Cancelling one that is cancelled changes nothing.
func (s *BackfillService) Cancel(ctx context.Context, jobID, id string) (entity.Backfill, error) {
	var b entity.Backfill
	err := s.Store.Write(ctx, repository.LaneAPI, "backfill.cancel", func(ctx context.Context, tx repository.Tx) error {
		if err := s.lock(ctx, tx, jobID); err != nil {
			return err
		}
		var err error
		if b, err = tx.Backfills.Get(ctx, id); err != nil {
			return err
		}
		switch {
		case b.JobID != jobID:
			return apperror.NotFound("backfill", id)
		case b.Status == entity.BackfillCancelled:
			return nil
		case b.Status == entity.BackfillDone:
			return apperror.Conflict("already_done", "the backfill is done; there is nothing left to cancel")
		}
		b.Status, b.UpdateTime = entity.BackfillCancelled, s.Clock.Now().Truncate(time.Millisecond)
		return tx.Backfills.Save(ctx, b)
	})
	return b, err
}
