package admission

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// resolveNodes reads, inside the fire's transaction, which nodes a broadcast is for;
// from then on shard i belongs to the i-th of them (engine rule 18). A run that
// is repeated by hand stays with its node; a fire that found nobody is repeated
// as a whole.
func resolveNodes(ctx context.Context, tx repository.Tx, job *entity.Job, f *entity.Fire) error {
	all, err := tx.Nodes.All(ctx)
	if err != nil {
		return fmt.Errorf("read the nodes of the broadcast %s: %w", f.Key, err)
	}
	f.Nodes = routing.Broadcast(all, entity.NodeClassOf(job))
	switch {
	case f.OnlyShard < 0:
	case f.OnlyNode == "":
		f.OnlyShard = -1
	default:
		f.Nodes = slices.DeleteFunc(f.Nodes, func(id string) bool { return id != f.OnlyNode })
	}
	return nil
}
