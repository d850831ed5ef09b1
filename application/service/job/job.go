// Package job holds the use cases of jobs: create, edit, pause, trigger, delete.
// Each edit of a job goes through one frame, JobService.change.
package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"

	"github.com/google/uuid"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/firing"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/approval"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// DefinitionChecker checks the executor's part of a definition.
type DefinitionChecker interface {
	Check(job *entity.Job) []apperror.Field
}

// Engine learns of changes made here. A lost call costs time, and no correctness.
type Engine interface {
	// JobChanged learns the new state of a job.
	JobChanged(job *entity.Job)
	// AfterCommit learns what a transaction made ready, scheduled or asked to stop.
	AfterCommit(e commit.PostCommit)
}

// JobDeps are the parts of a JobService.
type JobDeps struct {
	Store repository.Store
	Jobs  repository.JobReader
	// Names finds the jobs that definitions name.
	Names repository.Definitions
	// Chains tells which jobs start which others.
	Chains repository.ChainReader
	// Release is that of this program.
	Release   string
	Claims    repository.ClaimReader
	Plans     repository.JobPlanReader
	Admitter  *admission.Admitter
	Schedules admission.Compiler
	Checker   DefinitionChecker
	Engine    Engine
	Clock     clock.StoreClock
	// Secrets tells which secrets definitions may name; nil is all.
	Secrets *secret.SecretService
	// Electorate tells which users and teams approvals may name; nil is all.
	Electorate *approval.Electorate
	// Workers tells which job groups worker groups serve; nil is all.
	Workers WorkerGroups
	// Channels tells which channels definitions may name; nil is all.
	Channels repository.AlertSettings
	// Replaced hears of a definition that took the place of a former one, after the commit; it may be nil.
	Replaced func(ctx context.Context, former, next *entity.Job)
	// Latest is the definition of a job that was seen last, or nil; it may be old.
	// It may be nil itself.
	Latest func(id string) *entity.Job
	// Working reports whether this node works, and does not stand by; nil is always.
	Working func() bool
	// EventReaders read the events of jobs; without them there are none.
	EventReaders entity.EventReaders
	// TimeZone is the zone of schedules that name none.
	TimeZone string
	Logger   *slog.Logger
}

// JobService manages job definitions. Safe for concurrent use.
type JobService struct {
	JobDeps
	settler firing.CatchUpPlanner
}

// NewJobService wires the parts.
func NewJobService(d JobDeps) *JobService {
	return &JobService{JobDeps: d, settler: firing.CatchUpPlanner{Admitter: d.Admitter, Schedules: d.Schedules}}
}

// findings fills the defaults in and lists everything that is wrong.
func (s *JobService) findings(job *entity.Job, now time.Time) []apperror.Field {
	validation.Defaults(job, s.TimeZone)
	return append(validation.Job(job, now), s.Checker.Check(job)...)
}

// ownCopy lets a call fill defaults in while the caller, or another call, reads the
// definition. Defaults are written into fields, never into what they point to.
func ownCopy(job *entity.Job) *entity.Job {
	own := *job
	return &own
}

// Create adds a job; enabled false leaves it CREATED, without a plan, so that
// its schedule need not name a time to come. The caller's job stays as it is.
func (s *JobService) Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	job = ownCopy(job)
	now := s.Clock.Now().Truncate(time.Millisecond) // as the store keeps it
	fields := s.findings(job, now)
	if !enabled {
		fields = withoutPast(fields)
	}
	foreign, err := s.checkNames(ctx, job)
	if err != nil {
		return nil, err
	}
	if err := apperror.Invalid(append(fields, foreign...)); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make a job id: %w", err)
	}
	created := *job
	created.ID, created.Partition = id.String(), entity.PartitionOf(id.String())
	created.Version, created.FenceSeq, created.DecidedUntil = 1, 0, time.Time{}
	created.EditedBy = repository.User(ctx)
	created.CreateTime, created.UpdateTime = now, now
	created.Schedule.Anchor = now
	created.Status = entity.JobCreated
	created.PausedBy, created.Pause = entity.PausedByUser, entity.Pause{}
	if enabled {
		if err := s.arm(&created, now); err != nil {
			return nil, err
		}
	}
	var stored *entity.Job
	err = s.Store.Write(ctx, repository.LaneAPI, "job.create", func(ctx context.Context, tx repository.Tx) error {
		stored, err = s.follow(ctx, tx, &created, now)
		if err != nil {
			return err
		}
		if wrong, err := s.holdWorkers(ctx, tx, stored); err != nil || len(wrong) > 0 {
			return cmp.Or(err, apperror.Invalid(wrong))
		}
		if err := tx.Jobs.Insert(ctx, stored); err != nil {
			return err
		}
		if err := s.registerNext(ctx, tx, nil, stored); err != nil {
			return err
		}
		return s.addJobEvent(ctx, tx, stored, "job.created")
	})
	if err != nil {
		return nil, err
	}
	s.Engine.JobChanged(stored)
	return stored, nil
}

// arm enables a job and plans its first fire after now.
func (s *JobService) arm(job *entity.Job, now time.Time) error {
	job.Resume()
	job.ClearCursor()
	if job.Schedule.Kind == schedule.None {
		return nil
	}
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return apperror.InvalidField("schedule", "invalid", err.Error())
	}
	after := now
	if decided := job.Decided(); decided.After(after) {
		after = decided
	}
	next, _ := sched.Next(after)
	job.Advance(sched, next)
	return nil
}

// Get returns one job.
func (s *JobService) Get(ctx context.Context, id string) (*entity.Job, error) {
	job, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return job, s.NameNext(ctx, job)
}

// List returns a page of jobs, newest first.
func (s *JobService) List(ctx context.Context, f repository.JobFilter,
	p repository.Page,
) ([]*entity.Job, string, error) {
	jobs, next, err := s.Jobs.List(ctx, f, p)
	if err != nil {
		return nil, "", err
	}
	return jobs, next, s.NameNext(ctx, jobs...)
}

// GroupsOf maps jobs to their groups.
func (s *JobService) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	return s.Jobs.GroupsOf(ctx, ids)
}

// Replace puts a new definition in the place of the old one. It first decides what is due
// under the old definition (engine rule 3). version is what the caller edited, ifMatch the
// same from a header; zero means not given. Replace fills defaults in job, which therefore
// belongs to one call.
func (s *JobService) Replace(ctx context.Context, id string, job *entity.Job, version,
	ifMatch int,
) (*entity.Job, error) {
	job = ownCopy(job)
	now := s.Clock.Now()
	if err := s.validateEdit(ctx, id, job, now); err != nil {
		return nil, err
	}
	var former *entity.Job
	next, err := s.change(ctx, id, edit{what: "job.replaced", reschedules: func(old *entity.Job) bool {
		return !old.SameSchedule(job)
	}, groups: func(old *entity.Job) []string {
		if job.Group == old.Group {
			return nil
		}
		return []string{old.Group, job.Group}
	}, apply: func(ctx context.Context, tx repository.Tx, old *entity.Job, _ repository.GroupTerms,
		now time.Time,
	) (*entity.Job, error) {
		if ifMatch != 0 && ifMatch != old.Version {
			return nil, apperror.New(apperror.KindPrecondition, "version_mismatch",
				fmt.Sprintf("the job is at version %d, not %d: read it again", old.Version, ifMatch))
		}
		if version != 0 && version != old.Version {
			return nil, apperror.Conflict("stale_version", "the job is at version %d, not %d: read it again and repeat the edit",
				old.Version, version)
		}
		former = old
		next := old.WithDefinition(job)
		next.EditedBy = repository.User(ctx)
		if wrong, err := s.holdWorkers(ctx, tx, next); err != nil || len(wrong) > 0 {
			return nil, cmp.Or(err, apperror.Invalid(wrong))
		}
		if err := s.replan(old, next, now); err != nil {
			return nil, err
		}
		return s.follow(ctx, tx, next, now)
	}})
	if err == nil && s.Replaced != nil {
		s.Replaced(ctx, former, next)
	}
	return next, err
}

// validateEdit checks the new definition. A schedule whose last time has passed is no
// error if the job has its times already. So a user can edit the other fields of a
// finished job, and the jitter.
func (s *JobService) validateEdit(ctx context.Context, id string, job *entity.Job, now time.Time) error {
	old, err := s.Jobs.Get(ctx, id)
	if err != nil {
		return err
	}
	fields := s.findings(job, now)
	if old.Schedule.SameTimes(job.Schedule) {
		fields = withoutPast(fields)
	}
	if maps.Equal(old.Labels, job.Labels) { // an older release took more of them
		fields = slices.DeleteFunc(fields, func(f apperror.Field) bool {
			return f.Field == validation.LabelsField && f.Code == validation.CodeTooLarge
		})
	}
	foreign, err := s.checkNames(ctx, job)
	if err != nil {
		return err
	}
	return apperror.Invalid(append(fields, foreign...))
}

// withoutPast leaves out what says that a schedule names no time to come.
func withoutPast(fields []apperror.Field) []apperror.Field {
	return slices.DeleteFunc(fields, func(f apperror.Field) bool {
		return f.Code == schedule.CodeInPast || f.Code == schedule.CodeNeverFires
	})
}

// replan moves the cursor where the schedule names other times now. Else the cursor goes on from
// the catch-up: a jitter moves no scheduled time, and so neither what they are counted from.
func (s *JobService) replan(old, next *entity.Job, now time.Time) error {
	if old.Schedule.SameTimes(next.Schedule) || sameDelay(old, next) {
		if next.Status == entity.JobEnabled && !next.NextFireTime.IsZero() {
			return s.keepCursor(next)
		}
		return nil
	}
	if !old.Schedule.SameRhythm(next.Schedule) {
		next.Schedule.Anchor = now
	}
	switch next.Status {
	case entity.JobEnabled, entity.JobFinished:
		return s.armEdited(next, now)
	case entity.JobPaused:
		paused := *next
		if err := s.armEdited(next, now); err != nil {
			return err
		}
		next.PauseBy(paused.PausedBy, paused.Pause, paused.PausedAt)
	}
	return nil
}

// armEdited is arm, but refuses a schedule that only names times which are decided although they lie ahead: the clock
// was set back. The job would never fire, and nobody would say so.
func (s *JobService) armEdited(job *entity.Job, now time.Time) error {
	if err := s.arm(job, now); err != nil || job.Status != entity.JobFinished {
		return err
	}
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return err
	}
	if _, ahead := sched.Next(now); !ahead {
		return nil
	}
	field := "schedule.endTime"
	if job.Schedule.Kind == schedule.Once {
		field = "schedule.at"
	}
	return apperror.InvalidField(field, schedule.CodeInPast, "is in time that the job has decided already, up to "+
		clock.Text(job.Decided())+", because the clock was set back since; give a later time")
}

// sameDelay reports whether a FIXED_DELAY still counts from the end of its latest run. It has no cursor while that
// lasts.
func sameDelay(old, next *entity.Job) bool {
	end := next.Schedule.EndTime
	return next.Schedule.Kind == schedule.FixedDelay && old.Schedule.SameRhythm(next.Schedule) &&
		next.Status != entity.JobFinished && (end.IsZero() || !next.NextFireTime.After(end))
}

func (s *JobService) keepCursor(job *entity.Job) error {
	sched, err := s.Schedules.Compile(job.Schedule)
	if err != nil {
		return apperror.InvalidField("schedule", "invalid", err.Error())
	}
	job.Advance(sched, job.NextFireTime)
	return nil
}

// JobEventData is the data of a job's event.
type JobEventData struct {
	JobID   string           `json:"jobId"`
	Name    string           `json:"name"`
	Group   string           `json:"group"`
	Owner   string           `json:"owner,omitempty"`
	Status  entity.JobStatus `json:"status"`
	Version int              `json:"version"`
}

func (s *JobService) addJobEvent(ctx context.Context, tx repository.Tx, job *entity.Job, what string) error {
	e, err := s.jobEvent(job, what)
	if err != nil {
		return err
	}
	return tx.Records.AddEvents(ctx, []entity.Event{e})
}

func (s *JobService) jobEvent(job *entity.Job, what string) (entity.Event, error) {
	payload, err := json.Marshal(JobEventData{
		JobID: job.ID, Name: job.Name, Group: job.Group, Owner: job.Owner,
		Status: job.Status, Version: job.Version,
	})
	if err != nil {
		return entity.Event{}, fmt.Errorf("encode the event of job %s: %w", job.ID, err)
	}
	return entity.Event{
		ID: fmt.Sprintf("%s:%d:%s", job.ID, job.Version, what), Topic: entity.TopicJobs, Key: job.ID,
		Type: what, Payload: string(payload), CreateTime: job.UpdateTime, Readers: s.EventReaders,
	}, nil
}
