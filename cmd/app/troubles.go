package app

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// newTroubles tells the leader what of this node is degraded.
func newTroubles(s *persistence.Store, r *running.TaskManager, m *monitor.MonitorService) *watching.Troubles {
	return watching.NewTroubles(watching.TroublesDeps{
		Registry: s, Node: r.NodeIdentity,
		Parts: func() map[string]string { return alarming(m.Known()) },
	})
}

// alarming are the parts that work less well than they should, as far as no
// rule of another type tells of them, and nobody has asked for it.
func alarming(known []monitor.Trouble) map[string]string {
	out := map[string]string{}
	for _, t := range known {
		switch t.Part {
		case partDrain: // somebody drains the node
		case partStandby: // nothing is raised while it stands by
		case monitor.PartClock: // CLOCK_SKEW
		case monitor.PartNode: // NODE_DOWN and NODE_SUSPECT
		case partUnroutable: // NO_NODE
		case partVersions: // a rolling upgrade
		default:
			out[t.Part] = t.Reason
		}
	}
	return out
}
