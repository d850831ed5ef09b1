package job

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// WorkerGroups reads worker groups.
type WorkerGroups interface {
	// WorkerGroup is one; apperror.KindNotFound where there is none.
	WorkerGroup(ctx context.Context, name string) (worker.Group, error)
	// CountWorkers counts the workers of each group.
	CountWorkers(ctx context.Context) ([]repository.WorkerCount, error)
}

// checkWorkers says whether the workers that a definition names run jobs of its group, and commands where it is one. A
// worker group is a door into the programs of a team, and each team says whose jobs may come through it. A group that
// does not exist serves nobody, and the answer is the same, so that nobody learns of groups that are not for them.
func (s *JobService) checkWorkers(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	if !s.namesWorkers(job) {
		return nil, nil
	}
	g, err := s.Workers.WorkerGroup(ctx, job.Routing.Workers)
	if refused, err := refusedByWorkers(g, err, job); err != nil || len(refused) > 0 {
		return refused, err
	}
	return s.tooMany(ctx, job)
}

// tooMany says whether the worker group has more workers than one choice, or one broadcast, looks at. It holds for the
// moment: a group that grows later is still served, by its first workers, and its broadcasts fail and say why.
func (s *JobService) tooMany(ctx context.Context, job *entity.Job) ([]apperror.Field, error) {
	if job.Routing.Strategy == entity.RouteAny && !job.Broadcast {
		return nil, nil
	}
	counts, err := s.Workers.CountWorkers(ctx)
	if err != nil {
		return nil, fmt.Errorf("count the workers of %s: %w", job.Routing.Workers, err)
	}
	for _, c := range counts {
		there := c.Up + c.Draining
		if c.Group != job.Routing.Workers || there <= worker.MaxChoice {
			continue
		}
		field := "routing.strategy"
		if job.Broadcast {
			field = "broadcast"
		}
		return []apperror.Field{{
			Field: field, Code: "worker_group_too_large",
			Message: fmt.Sprintf("the worker group %s has %d workers, and this looks at no more than %d: use the strategy ANY "+
				"without broadcast, or divide the group", c.Group, there, worker.MaxChoice),
		}}, nil
	}
	return nil, nil
}

// holdWorkers asks the same in the transaction that stores the definition. Until it ends, nobody takes from the worker
// group what the job needs.
func (s *JobService) holdWorkers(ctx context.Context, tx repository.Tx, job *entity.Job) ([]apperror.Field, error) {
	if !s.namesWorkers(job) {
		return nil, nil
	}
	g, err := tx.WorkerGroups.HoldWorkerGroup(ctx, job.Routing.Workers)
	return refusedByWorkers(g, err, job)
}

func (s *JobService) namesWorkers(job *entity.Job) bool {
	return s.Workers != nil && worker.ValidGroup(job.Routing.Workers)
}

// refusedByWorkers says why the workers of a group do not run a job; err is that of reading the group.
func refusedByWorkers(g worker.Group, err error, job *entity.Job) ([]apperror.Field, error) {
	name := job.Routing.Workers
	if err != nil && !apperror.Is(err, apperror.KindNotFound) {
		return nil, err
	}
	serves := err == nil && g.Serves(job.Group)
	switch {
	case !serves:
		return []apperror.Field{{
			Field: "routing.workers", Code: "worker_group_not_allowed",
			Message: fmt.Sprintf("there is no worker group %s that serves the group %s: let an administrator make it, or add "+
				"the group to its job groups", name, job.Group),
		}}, nil
	case job.Type == entity.JobCommand && !g.Commands:
		return []apperror.Field{{
			Field: "routing.workers", Code: "worker_group_no_commands",
			Message: fmt.Sprintf("the workers of the group %s run no commands: let an administrator set its commands to "+
				"true, or name another worker group", name),
		}}, nil
	}
	return nil, nil
}
