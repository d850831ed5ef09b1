package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// MaxDeclared is how many jobs one call declares at most.
const MaxDeclared = 100

// MayDeclare returns the worker group of a token, and refuses one whose workers may not declare jobs.
func (s *WorkerService) MayDeclare(ctx context.Context, tokenGroup string) (worker.Group, error) {
	group, err := s.groups.WorkerGroup(ctx, tokenGroup)
	switch {
	case apperror.Is(err, apperror.KindNotFound):
		return group, errUnknownToken()
	case err == nil && !group.Declare:
		return group, apperror.New(apperror.KindForbidden, "declare_not_allowed", "the workers of the group "+group.Name+
			" may not declare jobs: let an administrator set its declare to true, or create the jobs by hand")
	}
	return group, err
}

// Undeclarable is what a worker of the group may not declare, by job, although people may. Its life must go on.
func (s *WorkerService) Undeclarable(ctx context.Context, group worker.Group, id string, epoch int64,
	jobs []*entity.Job,
) ([][]apperror.Field, error) {
	w, err := s.workers.Worker(ctx, id)
	switch {
	case apperror.Is(err, apperror.KindNotFound) || err == nil && (w.Epoch != epoch || w.Status == worker.Down):
		return nil, apperror.Conflict("epoch_lost", "this life of the worker is over: register anew")
	case err != nil:
		return nil, err
	}
	out := make([][]apperror.Field, len(jobs))
	for i, job := range jobs {
		out[i] = undeclarable(job, group, w.Handlers)
	}
	return out, nil
}

func undeclarable(job *entity.Job, group worker.Group, handlers []string) (wrong []apperror.Field) {
	add := func(field, code, format string, args ...any) {
		wrong = append(wrong, apperror.Field{Field: field, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if !group.Serves(job.Group) {
		add("group", "group_not_allowed", "must be one of the job groups of the worker group %s: %s", group.Name,
			strings.Join(group.JobGroups, ", "))
	}
	if job.Type != entity.JobCustom {
		add("jobType", "not_allowed", "must be CUSTOM, or left out: workers declare jobs for their own handlers alone")
	} else if job.Class != "" && !slices.Contains(handlers, job.Class) {
		add("jobClass", "unknown_handler", "must be a handler that this worker has registered with")
	}
	if job.Routing.Workers != group.Name {
		add("routing.workers", "not_allowed", "must be the worker group of the token, %s, or left out", group.Name)
	}
	if len(job.Next) > 0 {
		add("next", "not_allowed", "remove it: let a person say which jobs follow")
	}
	if names := placeholder.SecretNames(job.Data); len(names) > 0 && !group.Secrets {
		add("jobData", "secret_not_allowed", "names the secret %s, and the workers of the group %s get none: let an "+
			"administrator set its secrets to true, or remove it", names[0], group.Name)
	}
	return wrong
}
