package gateway

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/delivery"
)

// met is an attempt that another gateway has claimed or delivered, as the store has it.
type met struct {
	run    entity.Run
	end    repository.LogEnd
	hiding redact.Hiding
	// gone: the store does not have it as the worker's any more.
	gone bool
}

// meetRuns reads executions whole, with their jobs, how far their logs go, and what hides their secrets. Of a deleted
// job no more than its id is left.
func (g *Gateway) meetRuns(ctx context.Context, ids []string) ([]met, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	execs, err := g.Executions.ByIDs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read runs of workers: %w", err)
	}
	jobs, err := g.Jobs.For(ctx, execs)
	if err != nil {
		return nil, fmt.Errorf("load the jobs of workers' runs: %w", err)
	}
	ends, err := g.Logs.LogEnds(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read how far the logs of workers' runs go: %w", err)
	}
	hidings, err := g.Sealed.Hidings(ctx, execs)
	if err != nil {
		return nil, err
	}
	out := make([]met, len(execs))
	for i, e := range execs {
		out[i] = met{run: entity.Run{Job: entity.JobOf(e, jobs), Execution: e}, hiding: hidings[e.ID]}
		for _, end := range ends {
			if end.ExecutionID == e.ID && end.Attempt == e.Attempt {
				out[i].end = end
			}
		}
	}
	return out, nil
}

// isNew: nothing was read yet that is the same for all workers.
func (g *Gateway) isNew() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.groups == nil
}

// stand reads what is the same for all workers: how many there are, which of those here drain, and their groups.
func (g *Gateway) stand(ctx context.Context) error {
	alive, draining, err := g.Workers.WorkersAlive(ctx)
	if err != nil {
		return fmt.Errorf("count the workers: %w", err)
	}
	if _, err := g.readGroups(ctx); err != nil {
		return err
	}
	drains := make(map[string]bool, len(draining))
	for _, id := range draining {
		drains[id] = true
	}
	g.mu.Lock()
	g.timing = delivery.TimingFor(alive)
	g.mu.Unlock()
	g.each(func(s *session) {
		status := worker.Up
		if drains[s.id] {
			status = worker.Draining
		}
		if s.known && s.row.Status != status {
			s.row.Status = status
			s.tell()
		}
	})
	return nil
}

// readGroups reads the worker groups, and keeps them.
func (g *Gateway) readGroups(ctx context.Context) (map[string]worker.Group, error) {
	rows, err := g.Groups.WorkerGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the worker groups: %w", err)
	}
	groups := make(map[string]worker.Group, len(rows))
	for _, row := range rows {
		groups[row.Name] = row
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.groups = groups
	return groups, nil
}
