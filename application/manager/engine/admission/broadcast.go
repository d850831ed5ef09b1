package admission

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

// errBroadcast says why a broadcast cannot be made of a fire.
type errBroadcast struct{ message string }

// Error implements error.
func (e *errBroadcast) Error() string { return e.message }

// addressees reads, inside the fire's transaction, which nodes, or workers of its group, a broadcast is for.
func addressees(ctx context.Context, tx repository.Tx, job *entity.Job) ([]string, error) {
	class := entity.NodeClassOf(job)
	if class.Workers == "" {
		all, err := tx.Nodes.All(ctx)
		return routing.Broadcast(all, class), err
	}
	group, err := tx.Workers.WorkerGroup(ctx, class.Workers)
	if apperror.Is(err, apperror.KindNotFound) || err == nil && !group.Runs(job) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := tx.Workers.WorkersOf(ctx, class.Workers, worker.MaxChoice+1)
	if len(all) > worker.MaxChoice {
		return nil, &errBroadcast{fmt.Sprintf("the worker group %s has more than %d workers, and a broadcast reaches no "+
			"more: divide the group", class.Workers, worker.MaxChoice)}
	}
	return routing.BroadcastToWorkers(all, class), err
}

// broadcastParts says whom a broadcast is for; from then on shard i belongs to the i-th of them (engine rule 18). A run
// that is repeated by hand stays with its node; a fire that found nobody is repeated as a whole.
func broadcastParts(ctx context.Context, tx repository.Tx, job *entity.Job, f entity.Fire) ([]entity.Part, error) {
	ids, err := addressees(ctx, tx, job)
	if err != nil {
		return nil, fmt.Errorf("read whom the broadcast %s is for: %w", f.Key, err)
	}
	whole := entity.Part{}
	if len(f.Parts) > 0 {
		i := slices.IndexFunc(f.Parts, func(p entity.Part) bool { return p.Node == "" })
		if i < 0 {
			return slices.DeleteFunc(slices.Clone(f.Parts), func(p entity.Part) bool {
				return !slices.Contains(ids, p.Node)
			}), nil
		}
		whole = f.Parts[i]
	}
	parts := make([]entity.Part, len(ids))
	for i, id := range ids {
		parts[i] = whole
		parts[i].Shard, parts[i].Node = sharding.Shard{Index: i, Total: len(ids)}, id
	}
	return parts, nil
}
