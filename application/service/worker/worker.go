package worker

import (
	"context"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// Deps are the parts of a WorkerService.
type Deps struct {
	Workers repository.Workers
	Groups  repository.WorkerGroups
	// Timing is what a worker that registers now is told.
	Timing func() delivery.Timing
	// Clock is the store's.
	Clock  clock.Clock
	Logger *slog.Logger
}

// WorkerService lets workers in, and shows and drains them. It is safe for concurrent use.
type WorkerService struct {
	workers     repository.Workers
	groups      repository.WorkerGroups
	timing      func() delivery.Timing
	clock       clock.Clock
	logger      *slog.Logger
	registering chan struct{}
}

// NewWorkerService wires the parts.
func NewWorkerService(d Deps) *WorkerService {
	return &WorkerService{
		d.Workers, d.Groups, d.Timing, d.Clock, d.Logger, make(chan struct{}, registrationsAtOnce),
	}
}

// Worker is a worker with what its group says.
type Worker struct {
	worker.Worker
	// JobGroups are those whose jobs it may run; nil where the worker group is gone.
	JobGroups []string
	// Suspect: it may be gone.
	Suspect bool
}

// Sees tells which workers a caller may see, by the job groups that they serve.
type Sees func(jobGroups []string) bool

// Speaks is nil where a token of the group may speak for the worker.
func Speaks(group, workerID string) error {
	if group != "" && worker.GroupOf(workerID) == group {
		return nil
	}
	return errForeign("this worker is not of the worker group " + group + ", which the token is of")
}

// Leave ends a life in order. A worker may repeat it.
func (s *WorkerService) Leave(ctx context.Context, id string, epoch int64) error {
	left, err := s.workers.LeaveWorker(ctx, id, epoch)
	if err != nil {
		return err
	}
	if left {
		s.logger.Info("a worker has left", "worker", id, "epoch", epoch)
		return nil
	}
	w, err := s.workers.Worker(ctx, id)
	switch {
	case apperror.Is(err, apperror.KindNotFound) || err == nil && w.Epoch != epoch:
		return apperror.Conflict("epoch_lost", "this life of the worker is over already")
	}
	return err
}

// Filter narrows a list; empty fields do not filter.
type Filter struct {
	Group  string
	Status worker.Status
}

// longestSearch bounds the pages that one list reads for a caller who sees few of all workers.
const longestSearch = 10

// List is a page of workers that a caller sees, by id.
func (s *WorkerService) List(ctx context.Context, f Filter, p repository.Page, sees Sees) (
	out []Worker, next string, err error,
) {
	groups, err := s.jobGroups(ctx)
	if err != nil {
		return nil, "", err
	}
	if f.Group != "" && !sees(groups[f.Group]) {
		return nil, "", nil
	}
	now := s.clock.Now()
	for range longestSearch {
		found, after, err := s.workers.ListWorkers(ctx, f.Group, f.Status,
			repository.Page{Cursor: p.Cursor, Limit: p.Limit - len(out)})
		if err != nil {
			return nil, "", err
		}
		for _, w := range found {
			if sees(groups[w.Group]) {
				out = append(out, shown(w, groups[w.Group], now))
			}
		}
		if next, p.Cursor = after, after; next == "" || len(out) == p.Limit {
			break
		}
	}
	return out, next, nil
}

// jobGroups are those that each worker group serves.
func (s *WorkerService) jobGroups(ctx context.Context) (map[string][]string, error) {
	all, err := s.groups.WorkerGroups(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string, len(all))
	for _, g := range all {
		out[g.Name] = g.JobGroups
	}
	return out, nil
}

func shown(w worker.Worker, jobGroups []string, now time.Time) Worker {
	return Worker{Worker: w, JobGroups: jobGroups, Suspect: w.Suspect(now)}
}

// Get is one worker; apperror.KindNotFound for one that the caller does not see.
func (s *WorkerService) Get(ctx context.Context, id string, sees Sees) (Worker, error) {
	w, err := s.workers.Worker(ctx, id)
	if err != nil {
		return Worker{}, err
	}
	group, err := s.groups.WorkerGroup(ctx, w.Group)
	if err != nil && !apperror.Is(err, apperror.KindNotFound) {
		return Worker{}, err
	}
	if !sees(group.JobGroups) {
		return Worker{}, apperror.NotFound("worker", id)
	}
	return shown(w, group.JobGroups, s.clock.Now()), nil
}

// Drain keeps new runs away from a worker; what it runs goes on. Doing it twice changes nothing.
func (s *WorkerService) Drain(ctx context.Context, id string) error {
	return s.workers.DrainWorker(ctx, id, true)
}

// Resume lets new runs in again.
func (s *WorkerService) Resume(ctx context.Context, id string) error {
	return s.workers.DrainWorker(ctx, id, false)
}
