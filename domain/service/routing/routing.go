// Package routing chooses the node of a run. It is pure: its input is a snapshot of the
// nodes and what the caller knows of the job. The same input gives the same answer in
// any order of the nodes, so that a repeated transaction chooses the same node.
package routing

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/rendezvous"
)

// Candidate is a node that is fit for the runs of the job (see Missing), as the
// snapshot knows it. Its Slots and Running are of the kind that the runs need.
type Candidate struct {
	entity.Node
	// Weight is the node's share under WEIGHTED, 1–rendezvous.MaxWeight; what is
	// out of range counts as the bound.
	Weight int
}

// Usage is what is known of one job's runs on one node.
type Usage struct {
	// Runs counts the starts within the history that the caller keeps.
	Runs int
	// Last is the latest start; zero: none is known.
	Last time.Time
	// Live counts the runs that have not ended.
	Live int
}

// State is what a strategy may need beside the nodes. Fields that the job's
// strategy does not use can be left out.
type State struct {
	// Fire is the number of the fire within its job, from 0, under ROUND_ROBIN. The engine
	// takes it under the job's lock, so that the turn is even over all schedulers.
	Fire int64
	// Shard is the run's shard, and Shards how many its fire has; none is one.
	Shard  int
	Shards int
	// Draw is a random number for RANDOM and WEIGHTED, uniform over 64 bits.
	Draw uint64
	// Usage is by node id, under LFU, LRU and BUSY_OVER. A missing node never
	// ran the job.
	Usage map[string]Usage
}

// Draw is a random number of one attempt of one run. The choice is random over runs,
// and the same when it is made again.
func Draw(executionID string, attempt int) uint64 {
	return rendezvous.Key(executionID, attempt)
}

// Match reports whether a node carries every label that is asked for. A label
// with an empty value must be there, too.
func Match(required, labels map[string]string) bool {
	for key, want := range required {
		if have, there := labels[key]; !there || have != want {
			return false
		}
	}
	return true
}

// Choose names the node of a run; false when no candidate can take it. The empty node with
// true leaves the run to any free node. That is ANY, and the answer to a strategy that
// this release does not know.
//
// Every strategy chooses within the best rank that is present. The ranks are nodes that
// are up with a free slot, other nodes that are up, and suspects. Nodes that drain, are
// down or have no slots at all are never chosen.
func Choose(strategy entity.RoutingStrategy, jobID string, candidates []Candidate,
	state State,
) (nodeID string, ok bool) {
	nodes, best := foremost(candidates)
	if len(nodes) == 0 || best == suspect && strategy == entity.RouteFailover {
		return "", false
	}
	switch strategy {
	case entity.RouteFirst, entity.RouteFailover:
		return nodes[0].ID, true
	case entity.RouteLast:
		return nodes[len(nodes)-1].ID, true
	case entity.RouteRoundRobin:
		return nodes[state.turn(jobID, len(nodes))].ID, true
	case entity.RouteRandom:
		return nodes[share(state.Draw, len(nodes))].ID, true
	case entity.RouteWeighted:
		return weighted(nodes, state.Draw), true
	case entity.RouteConsistentHash:
		return hashed(nodes, jobID, state.Shard), true
	case entity.RouteLeastLoaded:
		return hashed(least(nodes, byLoad), jobID, state.Shard), true
	case entity.RouteLFU:
		return hashed(least(nodes, state.byRuns), jobID, state.Shard), true
	case entity.RouteLRU:
		return hashed(least(nodes, state.byLast), jobID, state.Shard), true
	case entity.RouteBusyOver:
		return least(nodes, state.byLive)[0].ID, true
	default:
		return "", true
	}
}

// Assign counts a choice in the snapshot and in the state of its job. So the next choice
// sees it before the node's next heartbeat.
func Assign(candidates []Candidate, state *State, nodeID string, at time.Time) {
	for i := range candidates {
		if candidates[i].ID == nodeID {
			candidates[i].Running++
		}
	}
	if state.Usage == nil {
		state.Usage = map[string]Usage{}
	}
	used := state.Usage[nodeID]
	used.Runs++
	used.Live++
	if at.After(used.Last) {
		used.Last = at
	}
	state.Usage[nodeID] = used
}

// Broadcast is the order of shards of a fire that runs on every node: shard i belongs to
// the i-th node, by id. It names the nodes that are fit for the class and are up or
// suspect. A suspect may be alive. If it is not, its shard fails, while leaving it out
// would skip it in silence. The caller freezes the list in the fire (engine rule 18);
// empty: nobody is there.
func Broadcast(nodes []entity.Node, class entity.NodeClass) []string {
	var ids []string
	for i := range nodes {
		if n := &nodes[i]; rankFor(class, n) != unfit && Missing(class, n) == entity.WaitNone {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// rank says how fit a node is for a new run; the smallest is the best.
type rank int

const (
	roomy rank = iota
	full
	suspect
	unfit
)

func rankOf(status entity.NodeStatus, running, slots int) rank {
	switch {
	case slots < 1:
		return unfit
	case status == entity.NodeSuspect:
		return suspect
	case status != entity.NodeUp:
		return unfit
	case running >= slots:
		return full
	default:
		return roomy
	}
}

func (c *Candidate) rank() rank { return rankOf(c.Status, c.Running, c.Slots) }

// rankFor is the rank of a node of the registry, by the slots that the class needs.
func rankFor(class entity.NodeClass, n *entity.Node) rank {
	running, slots := n.Load(class.Kind())
	return rankOf(n.Status, running, slots)
}

// foremost are the candidates of the best rank, by id.
func foremost(candidates []Candidate) ([]*Candidate, rank) {
	best := unfit
	for i := range candidates {
		best = min(best, candidates[i].rank())
	}
	if best == unfit {
		return nil, unfit
	}
	nodes := make([]*Candidate, 0, len(candidates))
	for i := range candidates {
		if candidates[i].rank() == best {
			nodes = append(nodes, &candidates[i])
		}
	}
	slices.SortFunc(nodes, func(a, b *Candidate) int { return strings.Compare(a.ID, b.ID) })
	return nodes, best
}

// least are the nodes of which none comes before, in the order they had.
func least(nodes []*Candidate, compare func(a, b *Candidate) int) []*Candidate {
	lowest := slices.MinFunc(nodes, compare)
	return slices.DeleteFunc(nodes, func(n *Candidate) bool { return compare(n, lowest) != 0 })
}

func byLoad(a, b *Candidate) int {
	return cmp.Compare(float64(a.Running)/float64(a.Slots), float64(b.Running)/float64(b.Slots))
}

func (s State) byRuns(a, b *Candidate) int {
	return cmp.Compare(s.Usage[a.ID].Runs, s.Usage[b.ID].Runs)
}

func (s State) byLast(a, b *Candidate) int {
	return s.Usage[a.ID].Last.Compare(s.Usage[b.ID].Last)
}

func (s State) byLive(a, b *Candidate) int {
	return cmp.Compare(s.Usage[a.ID].Live, s.Usage[b.ID].Live)
}
