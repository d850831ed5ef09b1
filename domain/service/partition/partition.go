// Package partition assigns the fixed partitions of the jobs to the live schedulers
// (engine rule 25). It holds no state: each scheduler computes the assignment from
// the registry, and two schedulers that see the same members agree.
package partition

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// Members returns the schedulers among the nodes, all with the same weight: a weight
// shares runs, not partitions.
func Members(nodes []entity.Node) []rendezvous.Node {
	schedulers := liveness.Schedulers(nodes)
	out := make([]rendezvous.Node, len(schedulers))
	for i, id := range schedulers {
		out[i] = rendezvous.Node{ID: id, Weight: 1}
	}
	return out
}

// Owner returns the id of the node that owns the partition, 0–entity.Partitions-1;
// empty when there are no nodes. For more than one partition call Table.
func Owner(partition int, nodes []rendezvous.Node) string {
	return rendezvous.New(nodes).Owner(uint64(partition))
}

// Owned returns the partitions of a node in ascending order; nil if it owns none
// or is not among the nodes.
func Owned(node string, nodes []rendezvous.Node) []int {
	if len(nodes) == 0 {
		return nil
	}
	var owned []int
	for partition, owner := range Table(nodes) {
		if owner == node {
			owned = append(owned, partition)
		}
	}
	return owned
}

// Table returns the owner of each partition; all are empty when there are no nodes.
func Table(nodes []rendezvous.Node) [entity.Partitions]string {
	var owners [entity.Partitions]string
	ring := rendezvous.New(nodes)
	for partition := range owners {
		owners[partition] = ring.Owner(uint64(partition))
	}
	return owners
}

// manyLate is the greatest number of late nodes for which Scanned leaves out each
// one alone. With more it leaves them out only together.
const manyLate = 8

// Scanned returns the partitions that a node scans, in ascending order. They are its own,
// and those that it would own without the late nodes, each alone and all together. So
// fires continue before a node is declared DOWN. A late node that scans them, too, does no
// harm (engine rule 25).
func Scanned(node string, nodes []entity.Node, late map[string]bool) []int {
	members := Members(nodes)
	without := func(out func(id string) bool) []int {
		return Owned(node, slices.DeleteFunc(slices.Clone(members), func(n rendezvous.Node) bool {
			return n.ID != node && out(n.ID)
		}))
	}
	scanned := without(func(string) bool { return false })
	var missing []string
	for _, n := range members {
		if late[n.ID] && n.ID != node {
			missing = append(missing, n.ID)
		}
	}
	if len(missing) == 0 {
		return scanned
	}
	scanned = append(scanned, without(func(id string) bool { return late[id] })...)
	if len(missing) > 1 && len(missing) <= manyLate {
		for _, one := range missing {
			scanned = append(scanned, without(func(id string) bool { return id == one })...)
		}
	}
	slices.Sort(scanned)
	return slices.Compact(scanned)
}
