// Package dispatch decides on which node waiting runs wait: when they become
// ready, and again when that node drains, dies or has no room (docs/routing.md).
package dispatch

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/coordination"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// Jobs gives current definitions.
type Jobs interface {
	// Load returns those that exist, in their current version, by id.
	Load(ctx context.Context, ids []string) (map[string]*entity.Job, error)
}

// RouterDeps are the parts of a Router.
type RouterDeps struct {
	// Nodes is the registry as this node saw it last.
	Nodes func() []entity.Node
	Jobs  Jobs
	Runs  Runs
	// NodeID and Labels are this node's.
	NodeID string
	Labels map[string]string
}

// Router places runs by a snapshot of the registry, and by what it has given
// out since: without that, all runs of one moment would see the same idle
// node. What a transaction that failed had given out counts until the node's
// next beat, which does no harm. It implements coordination.Router.
type Router struct {
	RouterDeps

	mu    sync.Mutex
	given map[string]given
	usage map[string]map[string]routing.Usage
}

// given counts the runs that were given to a node since a beat of it.
type given struct {
	beat time.Time
	runs int
}

// NewRouter wires the parts.
func NewRouter(d RouterDeps) *Router {
	return &Router{RouterDeps: d, given: map[string]given{}, usage: map[string]map[string]routing.Usage{}}
}

// Route implements coordination.Router.
func (r *Router) Route(job *entity.Job, row *entity.Execution, fire int64) coordination.Placement {
	if row.NodeID != "" {
		return r.on(row.NodeID)
	}
	if job.Routing.Strategy == entity.RouteAny && len(job.Routing.Labels) == 0 {
		return coordination.Placement{Queue: entity.CommonQueue}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := routing.Choose(job.Routing.Strategy, job.ID, r.candidates(job), routing.State{
		Fire: fire, Shard: row.ShardIndex, Shards: row.ShardTotal,
		Draw: routing.Draw(row.ID, row.Attempt), Usage: r.usage[job.ID],
	})
	switch {
	case !ok:
		return coordination.Placement{Queue: entity.UnplacedQueue(job.Routing.Labels)}
	case id != "":
		return r.on(id)
	case len(job.Routing.Labels) == 0:
		return coordination.Placement{Queue: entity.CommonQueue}
	}
	return coordination.Placement{
		Queue: entity.LabelQueue(job.Routing.Labels), Away: !routing.Match(job.Routing.Labels, r.Labels),
	}
}

func (r *Router) on(nodeID string) coordination.Placement {
	return coordination.Placement{Queue: entity.NodeQueue(nodeID), Away: nodeID != r.NodeID}
}

// candidates are the nodes that carry the labels, with what was given to them;
// the caller holds the lock.
func (r *Router) candidates(job *entity.Job) []routing.Candidate {
	nodes := r.Nodes()
	out := make([]routing.Candidate, 0, len(nodes))
	for _, n := range nodes {
		if !routing.Match(job.Routing.Labels, n.Labels) {
			continue
		}
		if g := r.given[n.ID]; g.beat.Equal(n.LastHeartbeat) {
			n.Running += g.runs
		}
		out = append(out, routing.Candidate{Node: n, Weight: n.Weight})
	}
	return out
}

// Took implements coordination.Router.
func (r *Router) Took(job *entity.Job, at coordination.Placement, now time.Time) {
	id, ok := at.Queue.Node()
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	nodes := r.candidates(job)
	for _, n := range nodes {
		if n.ID == id {
			g := r.given[id]
			if !g.beat.Equal(n.LastHeartbeat) {
				g = given{beat: n.LastHeartbeat}
			}
			g.runs++
			r.given[id] = g
		}
	}
	if !asksUsage(job) {
		return
	}
	state := routing.State{Usage: r.usage[job.ID]}
	routing.Assign(nodes, &state, id, now)
	r.usage[job.ID] = state.Usage
}
