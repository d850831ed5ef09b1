package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// sweepPage is how many jobs of a group are looked up at once.
	sweepPage = 200
	// sweepNow bounds how long a call waits for the jobs to follow; the duty
	// goes on where it stopped.
	sweepNow = 3 * time.Second
)

// JobHolder makes a job follow its group.
type JobHolder interface {
	// FollowGroup pauses or resumes a job as its group says, and binds it by the
	// group's limit or frees it.
	FollowGroup(ctx context.Context, id string) error
	// OpenGroup gives the free places of a group to the fires that wait for them.
	OpenGroup(ctx context.Context, name string) error
}

// GroupService manages groups of jobs. Pausing a group is a wish in its row:
// the jobs that are there follow one by one, each in a transaction of its own,
// and those that join it are paused as they come. A crash in between leaves
// the wish, and the duty Sweep goes on. Safe for concurrent use.
type GroupService struct {
	groups repository.Groups
	jobs   JobHolder
	clock  StoreClock
	logger *slog.Logger
}

// NewGroupService wires the parts.
func NewGroupService(groups repository.Groups, jobs JobHolder, c StoreClock, l *slog.Logger) *GroupService {
	return &GroupService{groups: groups, jobs: jobs, clock: c, logger: l}
}

// List is one page of groups by name; names are those that may be seen, nil is
// all.
func (s *GroupService) List(ctx context.Context, names []string, p repository.Page) ([]entity.Group, string, error) {
	return s.groups.ListGroups(ctx, names, p)
}

// Get returns fault.KindNotFound for an unknown name.
func (s *GroupService) Get(ctx context.Context, name string) (entity.Group, error) {
	if name == entity.AllJobs {
		return entity.Group{}, fault.NotFound("group", name)
	}
	return s.groups.Group(ctx, name)
}

// Create adds a group.
func (s *GroupService) Create(ctx context.Context, name string, maxConcurrency int) (entity.Group, error) {
	g := entity.Group{Name: name, MaxConcurrency: maxConcurrency, CreateTime: s.clock.Now().Truncate(time.Millisecond)}
	if err := fault.Invalid(validation.Group(g)); err != nil {
		return entity.Group{}, err
	}
	if err := s.groups.AddGroup(ctx, g); err != nil {
		return entity.Group{}, err
	}
	return s.groups.Group(ctx, name)
}

// Limit changes the bound on the fires of a group that run at once. What runs
// goes on. A first limit, or none any more, is told to the jobs like a pause;
// Settled of what it returns says whether all of them know. version is what the
// caller has read; 0 is not given.
func (s *GroupService) Limit(ctx context.Context, name string, maxConcurrency, version int) (entity.Group, error) {
	g, err := s.Get(ctx, name)
	if err != nil {
		return g, err
	}
	g.MaxConcurrency = maxConcurrency
	if err := fault.Invalid(validation.Group(g)); err != nil {
		return g, err
	}
	if g, err = s.groups.LimitGroup(ctx, name, maxConcurrency, version, s.clock.Now()); err != nil {
		return g, err
	}
	if err := s.jobs.OpenGroup(ctx, name); err != nil { // the sweep does it again
		s.logger.Warn("what waits for a group was not let go after an edit of its limit", "group", name, "error", err)
	}
	return s.settleSoon(ctx, g)
}

// Delete removes a group that has no jobs.
func (s *GroupService) Delete(ctx context.Context, name string) error {
	if _, err := s.Get(ctx, name); err != nil {
		return err
	}
	return s.groups.DropGroup(ctx, name)
}

// Hold pauses or resumes a group, or with entity.AllJobs every job. It waits a
// little for the jobs to follow; Settled of what it returns says whether all
// of them have.
func (s *GroupService) Hold(ctx context.Context, name string, paused bool) (entity.Group, error) {
	g, err := s.groups.HoldGroup(ctx, name, paused, s.clock.Now())
	if err != nil {
		return g, err
	}
	return s.settleSoon(ctx, g)
}

// settleSoon waits a little for the jobs to follow.
func (s *GroupService) settleSoon(ctx context.Context, g entity.Group) (entity.Group, error) {
	if g.Settled {
		return g, nil
	}
	bounded, cancel := context.WithTimeout(ctx, sweepNow)
	defer cancel()
	if err := s.settle(bounded, g); err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			return g, nil // the duty does the rest
		}
		return g, err
	}
	return s.groups.Group(ctx, g.Name)
}

// Sweep makes the jobs follow of groups whose pause or resume was cut short.
func (s *GroupService) Sweep(ctx context.Context) error {
	groups, err := s.groups.UnsettledGroups(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range groups {
		errs = append(errs, s.settle(ctx, g))
	}
	return errors.Join(errs...)
}

func (s *GroupService) settle(ctx context.Context, g entity.Group) error {
	after := ""
	for {
		ids, err := s.groups.Strays(ctx, g, after, sweepPage)
		if err != nil {
			return fmt.Errorf("find the jobs of group %q: %w", g.Name, err)
		}
		if len(ids) == 0 {
			return s.groups.SettleGroup(ctx, g.Name, g.Version)
		}
		for _, id := range ids {
			if err := s.jobs.FollowGroup(ctx, id); err != nil {
				if fault.Is(err, fault.KindUnavailable) || ctx.Err() != nil {
					return err
				}
				s.logger.Error("a job does not follow its group", "job", id, "group", g.Name, "error", err)
			}
		}
		after = ids[len(ids)-1]
	}
}

// FollowGroup implements JobHolder.
func (s *JobService) FollowGroup(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, "job.group", func(old *entity.Job) []string { return []string{old.Group} }, func(ctx context.Context, tx repository.Tx, old *entity.Job, now time.Time) (*entity.Job, error) {
		next, err := s.follow(ctx, tx, old, now)
		if err == nil && next == old {
			return nil, errAsItShould
		}
		return next, err
	})
	if errors.Is(err, errAsItShould) || fault.Is(err, fault.KindNotFound) {
		return nil
	}
	return err
}

// errAsItShould ends a change that is none.
var errAsItShould = errors.New("the job follows its group")

// OpenGroup implements JobHolder.
func (s *JobService) OpenGroup(ctx context.Context, name string) error {
	for {
		var effect coordination.Effect
		err := s.Store.Write(ctx, repository.LaneAPI, "group.open", func(ctx context.Context, tx repository.Tx) error {
			effect = coordination.Effect{}
			return s.Places.Open(ctx, tx, s.Clock.Now(), &effect, name)
		})
		if err != nil || effect.Ready+effect.Away == 0 {
			return err
		}
		s.Engine.Notice(effect)
	}
}

// follow returns the job as its group wants it: bound by its limit, paused when
// the group is, and planned again when nothing but the group held it. One that
// cannot be planned again stays paused, by itself.
func (s *JobService) follow(ctx context.Context, tx repository.Tx, job *entity.Job, now time.Time) (*entity.Job, error) {
	terms, err := tx.Groups.Terms(ctx, job.Group)
	if err != nil {
		return job, err
	}
	if job.Limited != terms.Limited {
		bound := *job
		bound.Limited = terms.Limited
		job = &bound
	}
	enabled, held := job.Status == entity.JobEnabled, terms.Paused
	if !enabled && (job.Status != entity.JobPaused || job.PausedBy != entity.PausedByGroup) || held != enabled {
		return job, nil
	}
	next := *job
	if held {
		pause(&next, entity.PausedByGroup, now)
		return &next, nil
	}
	resumed, err := s.resumed(job, now)
	if err != nil {
		s.Logger.Warn("a job stays paused although its group is not", "job", job.ID, "error", err)
		next.PausedBy = entity.PausedByUser
		return &next, nil
	}
	return resumed, nil
}
