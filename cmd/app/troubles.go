package app

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
)

// newTroubles tells the leader what of this node is degraded.
func newTroubles(e *Engine) *watching.Troubles {
	return watching.NewTroubles(watching.TroublesDeps{
		Registry: e.Store, Node: e.Runner.NodeIdentity,
		Parts: func() map[string]string { return alarming(e.Monitor.Known()) },
	})
}

// alarming are the parts that work less well than they should, as far as no
// rule of another type tells of them, and nobody has asked for it.
func alarming(known []monitor.Trouble) map[string]string {
	out := map[string]string{}
	for _, t := range known {
		switch t.Part {
		case partDrain: // somebody drains the node
		case monitor.PartClock: // CLOCK_SKEW
		case monitor.PartNode: // NODE_DOWN and NODE_SUSPECT
		case partUnplaced: // NO_NODE
		case partVersions: // a rolling upgrade
		default:
			out[t.Part] = t.Reason
		}
	}
	return out
}
