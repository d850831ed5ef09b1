package dispatch

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/routing"
)

// former reports whether a node of the former release is alive: one that does
// not publish what it can. It knows no queues of classes and no slots for
// commands, and its sweep would put what waits there where it does not belong.
func former(nodes []entity.Node) bool {
	for i := range nodes {
		if nodes[i].Status != entity.NodeDown && !nodes[i].Publishes() {
			return true
		}
	}
	return false
}

// routeFormerly is Route in the queues of the former release. Commands wait where
// they waited then. A handler's runs wait in the queue of a node that is known to
// have it, so that no node takes them that lacks it.
func (r *Router) routeFormerly(job *entity.Job, exec *entity.Execution, fire int64, class entity.NodeClass,
	nodes []entity.Node,
) admission.Placement {
	if exec.NodeID != "" {
		return r.on(exec.NodeID, entity.SlotGeneral)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	strategy := job.Routing.Strategy
	if strategy == entity.RouteAny && class.Handler != "" {
		strategy = entity.RouteLeastLoaded
	}
	id, ok := r.choose(strategy, job, exec, fire, r.candidates(job, class, nodes))
	switch {
	case !ok:
		return admission.Placement{Queue: entity.UnroutableQueue(class, routing.Unfit(class, nodes))}
	case id != "":
		return r.on(id, entity.SlotGeneral)
	}
	at := admission.Placement{
		Queue: entity.LabelQueue(class.Labels),
		Away:  routing.Missing(class, &r.Self) != entity.WaitNone,
	}
	if at.Queue.OfClass() {
		for i := range nodes {
			if n := &nodes[i]; n.ID != r.Self.ID && routing.Match(class.Labels, n.Labels) {
				at.Takers = append(at.Takers, n.ID)
			}
		}
	}
	return at
}

// needsProof reports whether only former runs tell which of the nodes have the
// job's handler.
func (r *Router) needsProof(job *entity.Job) bool {
	return entity.NodeClassOf(job).Handler != "" && former(r.Nodes())
}

// provenBy are the nodes that ended one of the runs well.
func provenBy(execs []*entity.Execution) map[string]bool {
	nodes := map[string]bool{}
	for _, exec := range execs {
		if exec.Status == entity.StatusSuccess {
			nodes[exec.NodeID] = true
		}
	}
	return nodes
}
