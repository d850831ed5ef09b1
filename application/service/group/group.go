// Package group manages groups of jobs: their limits and their pauses.
package group

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

const (
	// sweepPage is how many jobs of a group are looked up and changed at once.
	sweepPage = 500
	// sweepNow bounds how long a call waits for the jobs to follow. The periodic task
	// Sweep does the rest.
	sweepNow = 3 * time.Second
)

// JobHolder makes a job follow its group.
type JobHolder interface {
	// FollowGroup pauses or resumes a job as its group says, and binds it by the
	// group's limit or frees it.
	FollowGroup(ctx context.Context, id string) error
	// FollowGroups is FollowGroup for many jobs in one transaction. It leaves out
	// those of which more is to be decided, and returns them.
	FollowGroups(ctx context.Context, ids []string) (left []string, err error)
	// OpenGroup gives the free slots of a group to the fires that wait for them.
	OpenGroup(ctx context.Context, name string) error
	// MayLimit refuses a limit of a group by which a workflow would hold a place while it waits for another one. limited
	// tells which other groups have a limit.
	MayLimit(ctx context.Context, group string, limited func(group string) (bool, error)) error
}

// GroupChanges learns that this node paused or resumed a group. A lost call costs half a
// second, and no correctness.
type GroupChanges interface {
	GroupsChanged()
}

// GroupService manages groups of jobs. A group is paused by its row: planners plan none of
// its jobs from then on. The present jobs follow in the order of their ids, many in a
// transaction. A job that joins the group is paused when it joins. After a crash in
// between, the row stays, and the periodic task Sweep goes on. Safe for concurrent use.
type GroupService struct {
	groups  repository.Groups
	jobs    JobHolder
	changes GroupChanges
	clock   clock.StoreClock
	logger  *slog.Logger
}

// NewGroupService wires the parts.
func NewGroupService(groups repository.Groups, jobs JobHolder, news GroupChanges, c clock.StoreClock,
	l *slog.Logger,
) *GroupService {
	return &GroupService{groups: groups, jobs: jobs, changes: news, clock: c, logger: l}
}

// List is one page of groups by name; names are those that may be seen, nil is
// all.
func (s *GroupService) List(ctx context.Context, names []string, p repository.Page) ([]entity.Group, string, error) {
	return s.groups.ListGroups(ctx, names, p)
}

// Get returns apperror.KindNotFound for an unknown name.
func (s *GroupService) Get(ctx context.Context, name string) (entity.Group, error) {
	if name == entity.AllJobs {
		return entity.Group{}, apperror.NotFound("group", name)
	}
	return s.groups.Group(ctx, name)
}

// Create adds a group.
func (s *GroupService) Create(ctx context.Context, name string, maxConcurrency int) (entity.Group, error) {
	g := entity.Group{Name: name, MaxConcurrency: maxConcurrency, CreateTime: s.clock.Now().Truncate(time.Millisecond)}
	if err := apperror.Invalid(validation.Group(g)); err != nil {
		return entity.Group{}, err
	}
	if err := s.groups.AddGroup(ctx, g); err != nil {
		return entity.Group{}, err
	}
	return s.groups.Group(ctx, name)
}

// Limit changes the bound on the fires of a group that run at once. Runs go
// on. The jobs follow a first limit, or the end of the limit, like a pause;
// Converged of what it returns says whether all of them know. version is what the
// caller has read; 0 is not given.
func (s *GroupService) Limit(ctx context.Context, name string, maxConcurrency, version int) (entity.Group, error) {
	g, err := s.Get(ctx, name)
	if err != nil {
		return g, err
	}
	before := g.MaxConcurrency
	g.MaxConcurrency = maxConcurrency
	if err := apperror.Invalid(validation.Group(g)); err != nil {
		return g, err
	}
	first := before == 0 && maxConcurrency > 0
	if first {
		if err := s.mayLimit(ctx, name); err != nil {
			return g, err
		}
	}
	if g, err = s.groups.LimitGroup(ctx, name, maxConcurrency, version, s.clock.Now()); err != nil {
		return g, err
	}
	if first { // a workflow may have been saved meanwhile; from now on, those who save one see the limit
		if err := s.mayLimit(ctx, name); err != nil {
			if _, back := s.groups.LimitGroup(ctx, name, 0, 0, s.clock.Now()); back != nil {
				return g, fmt.Errorf("take back the limit of the group %s, with which workflows may wait for themselves: %w",
					name, back)
			}
			return g, err
		}
	}
	if err := s.jobs.OpenGroup(ctx, name); err != nil { // the sweep does it again
		s.logger.Warn("what waits for a group was not let go after an edit of its limit", "group", name, "error", err)
	}
	return s.convergeSoon(ctx, g)
}

// mayLimit refuses a limit by which a workflow would wait for itself.
func (s *GroupService) mayLimit(ctx context.Context, name string) error {
	return s.jobs.MayLimit(ctx, name, func(group string) (bool, error) {
		g, err := s.groups.Group(ctx, group)
		if apperror.Is(err, apperror.KindNotFound) {
			return false, nil
		}
		return g.MaxConcurrency > 0, err
	})
}

// Delete removes a group that has no jobs.
func (s *GroupService) Delete(ctx context.Context, name string) error {
	if _, err := s.Get(ctx, name); err != nil {
		return err
	}
	return s.groups.DropGroup(ctx, name)
}

// Pause pauses a group, or with entity.AllJobs every job, until its end or until a caller
// resumes it. Half a second later no node plans its jobs any more. It waits a short time
// for the jobs to follow; Converged of the result says whether all of them do. Pausing a
// paused group changes nothing, unless the call names a reason or an end; then these
// replace the former ones.
func (s *GroupService) Pause(ctx context.Context, name string, p entity.Pause) (entity.Group, error) {
	p.Until = p.Until.Truncate(time.Millisecond)
	if err := apperror.Invalid(validation.Pause(p, s.clock.Now())); err != nil {
		return entity.Group{}, err
	}
	return s.hold(ctx, name, true, p, s.clock.Now())
}

// Resume ends the pause of a group, or with entity.AllJobs that of every job. It
// waits a little for the jobs to follow.
func (s *GroupService) Resume(ctx context.Context, name string) (entity.Group, error) {
	return s.hold(ctx, name, false, entity.Pause{}, s.clock.Now())
}

// ResumeDue ends the pauses whose end has come, at that moment. It is a periodic task, and
// several nodes may do it at once.
func (s *GroupService) ResumeDue(ctx context.Context) error {
	groups, err := s.groups.PausesOver(ctx, s.clock.Now())
	if err != nil {
		return fmt.Errorf("find pauses of groups that are over: %w", err)
	}
	var errs []error
	for _, g := range groups {
		if _, err := s.hold(ctx, g.Name, false, entity.Pause{}, g.Pause.Until); err != nil {
			errs = append(errs, fmt.Errorf("end the pause of the group %q: %w", g.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (s *GroupService) hold(ctx context.Context, name string, paused bool, p entity.Pause,
	at time.Time,
) (entity.Group, error) {
	g, err := s.groups.PauseGroup(ctx, name, paused, p, at.Truncate(time.Millisecond))
	if err != nil {
		return g, err
	}
	s.changes.GroupsChanged()
	return s.convergeSoon(ctx, g)
}

// convergeSoon waits a short time until the jobs follow the group.
func (s *GroupService) convergeSoon(ctx context.Context, g entity.Group) (entity.Group, error) {
	if g.Converged {
		return g, nil
	}
	bounded, cancel := context.WithTimeout(ctx, sweepNow)
	defer cancel()
	if err := s.converge(bounded, g); err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			return g, nil // the task of the leader does the rest
		}
		return g, err
	}
	return s.groups.Group(ctx, g.Name)
}

// Sweep lets the jobs follow their groups where a pause or resume was interrupted.
func (s *GroupService) Sweep(ctx context.Context) error {
	groups, err := s.groups.DivergedGroups(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, g := range groups {
		errs = append(errs, s.converge(ctx, g))
	}
	return errors.Join(errs...)
}

func (s *GroupService) converge(ctx context.Context, g entity.Group) error {
	after := ""
	for {
		ids, err := s.groups.JobsOutOfSync(ctx, g, after, sweepPage)
		if err != nil {
			return fmt.Errorf("find the jobs of group %q: %w", g.Name, err)
		}
		if len(ids) == 0 {
			return s.groups.MarkConverged(ctx, g.Name, g.Version)
		}
		left, err := s.jobs.FollowGroups(ctx, ids)
		if err != nil {
			if apperror.Is(err, apperror.KindUnavailable) || ctx.Err() != nil {
				return err
			}
			s.logger.Warn("jobs follow their group one by one", "group", g.Name, "error", err)
			left = ids
		}
		for _, id := range left {
			if err := s.jobs.FollowGroup(ctx, id); err != nil {
				if apperror.Is(err, apperror.KindUnavailable) || ctx.Err() != nil {
					return err
				}
				s.logger.Error("a job does not follow its group", "job", id, "group", g.Name, "error", err)
			}
		}
		after = ids[len(ids)-1]
	}
}
