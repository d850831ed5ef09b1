package admission

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

// broadcastParts reads, inside the fire's transaction, which nodes a broadcast is for;
// from then on shard i belongs to the i-th of them (engine rule 18). A run that
// is repeated by hand stays with its node; a fire that found nobody is repeated
// as a whole.
func broadcastParts(ctx context.Context, tx repository.Tx, job *entity.Job, f entity.Fire) ([]entity.Part, error) {
	all, err := tx.Nodes.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the nodes of the broadcast %s: %w", f.Key, err)
	}
	nodes := routing.Broadcast(all, entity.NodeClassOf(job))
	whole := entity.Part{}
	if len(f.Parts) > 0 {
		i := slices.IndexFunc(f.Parts, func(p entity.Part) bool { return p.Node == "" })
		if i < 0 {
			return slices.DeleteFunc(slices.Clone(f.Parts), func(p entity.Part) bool {
				return !slices.Contains(nodes, p.Node)
			}), nil
		}
		whole = f.Parts[i]
	}
	parts := make([]entity.Part, len(nodes))
	for i, node := range nodes {
		parts[i] = whole
		parts[i].Shard, parts[i].Node = sharding.Shard{Index: i, Total: len(nodes)}, node
	}
	return parts, nil
}
