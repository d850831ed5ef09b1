// Package partition shares the fixed partitions of the jobs among the live
// schedulers (engine rule 25). It is a rule without state: every scheduler
// computes it from the registry, and two that see the same members agree.
package partition

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// Contest is the schedulers among the nodes, as equals: what a node runs has a
// weight, what it plans has not.
func Contest(nodes []entity.Node) []rendezvous.Node {
	schedulers := liveness.Schedulers(nodes)
	out := make([]rendezvous.Node, len(schedulers))
	for i, id := range schedulers {
		out[i] = rendezvous.Node{ID: id, Weight: 1}
	}
	return out
}

// Owner is the id of the node that owns the partition, 0–entity.Partitions-1;
// empty when there are no nodes. Who needs more than one partition asks Table.
func Owner(partition int, nodes []rendezvous.Node) string {
	return rendezvous.New(nodes).Winner(uint64(partition))
}

// Owned lists the partitions of a node in ascending order; nil if it owns none
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

// Table is the owner of every partition; all are empty when there are no nodes.
func Table(nodes []rendezvous.Node) [entity.Partitions]string {
	var owners [entity.Partitions]string
	contest := rendezvous.New(nodes)
	for partition := range owners {
		owners[partition] = contest.Winner(uint64(partition))
	}
	return owners
}

// manyLate is how many nodes may be late at once before they are left out only
// together.
const manyLate = 8

// Scanned lists the partitions that a node scans, in ascending order: its own,
// and those that would be its own without the nodes that are late, each of them
// and all. So fires go on before anybody is declared DOWN. That the late ones
// scan them as well is harmless (engine rule 25).
func Scanned(node string, nodes []entity.Node, late map[string]bool) []int {
	contest := Contest(nodes)
	without := func(out func(id string) bool) []int {
		return Owned(node, slices.DeleteFunc(slices.Clone(contest), func(n rendezvous.Node) bool { return n.ID != node && out(n.ID) }))
	}
	scanned := without(func(string) bool { return false })
	var missing []string
	for _, n := range contest {
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
