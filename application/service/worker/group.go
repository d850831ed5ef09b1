// Package worker is for workers: programs of users that run jobs (docs/workers). It keeps their groups and tokens, lets
// them register and leave, and shows and drains them. Polls and reports go to the gateway.
package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// GroupService manages worker groups and their tokens. It is safe for concurrent use.
type GroupService struct {
	GroupDeps
}

// GroupDeps are the parts of a GroupService.
type GroupDeps struct {
	Groups repository.WorkerGroups
	// Nodes are asked before the first group is made: Release is that of this program.
	Nodes   repository.NodeReader
	Release string
	// Auth hears of tokens that are revoked.
	Auth *Authenticator
	// Clock is the store's.
	Clock clock.Clock
}

// NewGroupService wires the parts.
func NewGroupService(d GroupDeps) *GroupService { return &GroupService{d} }

// GroupInput is what a caller gives for a worker group.
type GroupInput struct {
	Name      string
	JobGroups []string
	// Secrets, Commands and Declare are what its workers may.
	Secrets, Commands, Declare bool
	MaxWorkers                 int
	// Version is the one that the caller has seen; 0 changes whichever is there.
	Version int
}

// codeStale is the code of an edit of a version that is not the newest.
const codeStale = "stale_version"

// Group is a worker group with its workers: how many of them are in each state.
type Group struct {
	worker.Group
	Workers repository.WorkerCount
}

// List is every worker group, by name.
func (s *GroupService) List(ctx context.Context) ([]Group, error) {
	groups, err := s.Groups.WorkerGroups(ctx)
	if err != nil {
		return nil, err
	}
	return s.counted(ctx, groups...)
}

// Get is one of them.
func (s *GroupService) Get(ctx context.Context, name string) (Group, error) {
	group, err := s.Groups.WorkerGroup(ctx, name)
	if err != nil {
		return Group{}, err
	}
	return s.Counted(ctx, group)
}

// Counted is a group with its workers.
func (s *GroupService) Counted(ctx context.Context, group worker.Group) (Group, error) {
	out, err := s.counted(ctx, group)
	if err != nil {
		return Group{}, err
	}
	return out[0], nil
}

func (s *GroupService) counted(ctx context.Context, groups ...worker.Group) ([]Group, error) {
	counts, err := s.Groups.CountWorkers(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[string]repository.WorkerCount, len(counts))
	for _, c := range counts {
		of[c.Group] = c
	}
	return convert.All(groups, func(g worker.Group) Group { return Group{g, of[g.Name]} }), nil
}

// Put makes a worker group, or changes it. before is nil where there was none.
func (s *GroupService) Put(ctx context.Context, n GroupInput) (before *worker.Group, after worker.Group, err error) {
	if err := apperror.Invalid(n.wrong()); err != nil {
		return nil, after, err
	}
	const tries = 3
	for try := 1; ; try++ {
		before, after, err = s.put(ctx, n)
		// Without a version the last edit wins, also over one at the same time.
		if n.Version != 0 || try == tries || !lostRace(err) {
			return before, after, err
		}
	}
}

func (s *GroupService) put(ctx context.Context, n GroupInput) (before *worker.Group, after worker.Group, err error) {
	g := worker.Group{
		Name: n.Name, JobGroups: slices.Compact(slices.Sorted(slices.Values(n.JobGroups))), Secrets: n.Secrets,
		Commands: n.Commands, Declare: n.Declare, MaxWorkers: n.MaxWorkers,
	}
	found, err := s.Groups.WorkerGroup(ctx, n.Name)
	switch {
	case err == nil:
		before, g.Version = &found, found.Version
		if n.Version != 0 && n.Version != found.Version {
			return nil, after, apperror.Conflict(codeStale, "the worker group %s has version %d now; read it, and change "+
				"it again", n.Name, found.Version)
		}
	case !apperror.Is(err, apperror.KindNotFound) || n.Version != 0:
		return nil, after, err
	}
	if before == nil {
		if err := s.refuseOldNodes(ctx); err != nil {
			return nil, after, err
		}
	}
	after, err = s.Groups.PutWorkerGroup(ctx, g, func(jobs []*entity.Job) error {
		return inUse(n.Name, "its workers would not run them any more", jobs)
	})
	return before, after, err
}

// lostRace reports whether another caller made or changed the group meanwhile.
func lostRace(err error) bool {
	var f *apperror.Error
	return errors.As(err, &f) && (f.Code == codeStale || f.Code == "worker_group_exists")
}

// wrong is all that is wrong with a group.
func (n *GroupInput) wrong() (wrong []apperror.Field) {
	add := func(field, code, format string, args ...any) {
		wrong = append(wrong, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if !worker.ValidGroup(n.Name) {
		add("name", "invalid", "must have 1 to %d of a-z 0-9 . - _", worker.MaxGroup)
	}
	switch {
	case len(n.JobGroups) == 0:
		add("jobGroups", "required", "name the groups of jobs that its workers may run")
	case len(n.JobGroups) > worker.MaxJobGroups:
		add("jobGroups", "too_many", "must name at most %d groups", worker.MaxJobGroups)
	default:
		for i, group := range n.JobGroups {
			if remedy := validation.GroupName(group); remedy != "" {
				add(fmt.Sprintf("jobGroups[%d]", i), "invalid", "names a group that cannot be: %s", remedy)
			}
		}
	}
	if n.MaxWorkers < 1 || n.MaxWorkers > worker.MostWorkers {
		add("maxWorkers", "out_of_range", "must be from 1 to %d", worker.MostWorkers)
	}
	return wrong
}

// Delete removes a worker group with its tokens. One with workers that are not DOWN is a conflict, and so is one that
// jobs name: their runs would wait for workers that can never come.
func (s *GroupService) Delete(ctx context.Context, name string) error {
	defer s.Auth.Forget(name)
	return s.Groups.DropWorkerGroup(ctx, name, func(jobs []*entity.Job) error { return inUse(name, "", jobs) })
}

// inUse refuses to delete or to narrow a worker group that jobs name.
func inUse(name, why string, jobs []*entity.Job) error {
	more := ""
	if len(jobs) == repository.MaxStranded {
		jobs, more = jobs[:len(jobs)-1], ", and more"
	}
	if why != "" {
		why = ", and " + why
	}
	named := convert.All(jobs, func(j *entity.Job) string { return j.Group + "/" + j.Name })
	used := apperror.New(apperror.KindConflict, "worker_group_in_use", fmt.Sprintf("jobs name the worker group %s%s: %s"+
		"%s; give them another routing.workers or none, or delete them, and try again",
		name, why, strings.Join(named, ", "), more))
	used.Fields = convert.All(jobs, func(j *entity.Job) apperror.Field {
		return apperror.Field{
			Field: "routing.workers", Code: "job", Message: fmt.Sprintf("%s/%s (%s)", j.Group, j.Name, j.ID),
		}
	})
	return used
}

// refuseOldNodes refuses a new group while a node is up that runs another program: it would run jobs of workers itself.
// From the first group on the store refuses such programs.
func (s *GroupService) refuseOldNodes(ctx context.Context) error {
	nodes, err := s.Nodes.All(ctx)
	if err != nil {
		return fmt.Errorf("read the nodes: %w", err)
	}
	old := entity.OldNodes(nodes, s.Release)
	if old == "" {
		return nil
	}
	return apperror.Conflict(
		"old_nodes",
		"workers need one release on all nodes: bring %s to %s, and try again; they would "+
			"run the jobs of workers themselves",
		old,
		s.Release,
	)
}
