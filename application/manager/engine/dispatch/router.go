// Package dispatch decides on which node waiting runs wait: when they become
// ready, and again when that node drains, dies or has no room (docs/routing.md;
// engine rules 15, 18 and 34 in docs/rules.md).
package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// Jobs gives current definitions.
type Jobs interface {
	// Load returns those that exist, in their current version, by id.
	Load(ctx context.Context, ids []string) (map[string]*entity.Job, error)
	// For returns what executions go by, see entity.Definitions.
	For(ctx context.Context, execs []*entity.Execution) (entity.Definitions, error)
}

// RouterDeps are the parts of a Router.
type RouterDeps struct {
	// Nodes is the registry as this node saw it last.
	Nodes func() []entity.Node
	Jobs  Jobs
	Runs  Runs
	// Workers are read a group at a time, when a job needs it.
	Workers Workers
	Groups  WorkerGroups
	// Now is the store's time.
	Now func() time.Time
	// Self is this node, with what it can.
	Self entity.Node
}

// Router places runs by a snapshot of the registry, and by what it has given
// out since: without that, all runs of one moment would see the same idle
// node. Runs that a failed transaction had given out count until the node's
// next beat, which does no harm. It implements admission.Router.
type Router struct {
	RouterDeps

	mu    sync.Mutex
	given map[string]given
	usage map[string]map[string]routing.Usage
	// proven are the nodes of the former release that ended runs of a job well.
	proven map[string]map[string]bool
	// members are worker groups, by name.
	members map[string]members
}

// given counts the runs that were given to a node since a beat of it, by the
// slots that they need.
type given struct {
	beat time.Time
	runs entity.Slots
}

// NewRouter wires the parts.
func NewRouter(d RouterDeps) *Router {
	return &Router{
		RouterDeps: d, given: map[string]given{}, usage: map[string]map[string]routing.Usage{},
		proven: map[string]map[string]bool{}, members: map[string]members{},
	}
}

// Route implements admission.Router.
func (r *Router) Route(job *entity.Job, exec *entity.Execution, fire int64) admission.Placement {
	class := entity.NodeClassOf(job)
	if exec.NodeID == "" && job.Routing.Strategy == entity.RouteAny && class.Anything() {
		return admission.Placement{Queue: entity.CommonQueue}
	}
	if class.Workers != "" {
		return r.routeToWorker(job, exec, fire, class)
	}
	nodes := r.Nodes()
	if former(nodes) {
		return r.routeFormerly(job, exec, fire, class, nodes)
	}
	if exec.NodeID != "" {
		return r.on(exec.NodeID, class.Kind())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	candidates := r.candidates(job, class, nodes)
	id, ok := r.choose(job.Routing.Strategy, job, exec, fire, candidates)
	switch {
	case !ok:
		return admission.Placement{Queue: entity.UnroutableQueue(class, routing.Unfit(class, nodes))}
	case id != "":
		return r.on(id, class.Kind())
	case class.Anything():
		return admission.Placement{Queue: entity.CommonQueue}
	}
	return admission.Placement{
		Queue: entity.ClassQueue(class), Away: routing.Missing(class, &r.Self) != entity.WaitNone,
		Takers: r.takers(candidates),
	}
}

// choose asks the strategy; the caller holds the lock.
func (r *Router) choose(s entity.RoutingStrategy, job *entity.Job, exec *entity.Execution, fire int64,
	candidates []routing.Candidate,
) (id string, ok bool) {
	return routing.Choose(s, job.ID, candidates, routing.State{
		Fire: fire, Shard: exec.ShardIndex, Shards: exec.ShardTotal,
		Draw: routing.Draw(exec.ID, exec.Attempt), Usage: r.usage[job.ID],
	})
}

func (r *Router) on(nodeID string, kind entity.SlotKind) admission.Placement {
	return admission.Placement{Queue: entity.NodeQueue(nodeID, kind), Away: nodeID != r.Self.ID}
}

// takers are the others among the candidates.
func (r *Router) takers(candidates []routing.Candidate) []string {
	var ids []string
	for i := range candidates {
		if c := &candidates[i]; c.ID != r.Self.ID && c.Status != entity.NodeDown {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// candidates are the nodes that are fit for the class, with what was given to
// them; the caller holds the lock.
func (r *Router) candidates(job *entity.Job, class entity.NodeClass, nodes []entity.Node) []routing.Candidate {
	out := make([]routing.Candidate, 0, len(nodes))
	for _, n := range nodes {
		if lacks := routing.Missing(class, &n); lacks == entity.WaitHandler && r.proven[job.ID][n.ID] && !n.Publishes() {
			// Its row does not say which handlers it has; its runs do.
		} else if lacks != entity.WaitNone {
			continue
		}
		kind := class.Kind()
		n.Running, n.Slots = n.Load(kind)
		if g := r.given[n.ID]; g.beat.Equal(n.LastHeartbeat) {
			n.Running += g.runs[kind]
		}
		out = append(out, routing.Candidate{Node: n, Weight: n.Weight})
	}
	return out
}

// RecordAssignment implements admission.Router.
func (r *Router) RecordAssignment(job *entity.Job, at admission.Placement, now time.Time) {
	id, ok := at.Queue.Node()
	if !ok {
		return
	}
	nodes := r.Nodes()
	r.mu.Lock()
	defer r.mu.Unlock()
	if beat, known := r.lastBeat(id, job.Routing.Workers, nodes); known {
		g := r.given[id]
		if !g.beat.Equal(beat) {
			g = given{beat: beat}
		}
		g.runs[job.SlotKind()]++
		r.given[id] = g
	}
	if !needsUsage(job) {
		return
	}
	state := routing.State{Usage: r.usage[job.ID]}
	routing.Assign(nil, &state, id, now)
	r.usage[job.ID] = state.Usage
}

// lastBeat is that of a node, or of a worker of a group, as it was read; the caller holds the lock.
func (r *Router) lastBeat(id, group string, nodes []entity.Node) (at time.Time, known bool) {
	for _, n := range nodes {
		if n.ID == id {
			return n.LastHeartbeat, true
		}
	}
	for i := range r.members[group].workers {
		if w := &r.members[group].workers[i]; w.ID == id {
			return w.LastBeat, true
		}
	}
	return at, false
}
