package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Away reports whether the last beat did not reach the store, or no beat has been
// written yet.
func (m *Member) Away() bool { return m.away.Load() }

// Standing returns what is wrong with this node as a member; an empty reason means
// nothing. Blocks is true while the node may not work.
func (m *Member) Standing() (reason string, blocks bool) {
	if m.standsBy() {
		return "", false
	}
	if m.deps.Lease.stopped.Load() {
		m.leaseMu.Lock()
		left, stoodBy := m.running(), m.stoppedFor == causeStandby
		m.leaseMu.Unlock()
		if stoodBy && left == 0 && !m.away.Load() { // it lost nothing: its work begins with the next beat
			return "", false
		}
		if !m.away.Load() && left > 0 {
			return fmt.Sprintf("this node lost its lease, and waits until %d runs have ended", left), true
		}
		return "this node lost its lease and stopped its work; it works again when it reaches the store", true
	}
	if m.status() == entity.NodeSuspect {
		return "the others miss the beats of this node", false
	}
	return "", false
}

// running returns how many runs the node has, of all kinds.
func (m *Member) running() (n int) {
	for _, kind := range entity.SlotKinds() {
		running, _ := m.deps.Worker.Load(kind)
		n += running
	}
	return n
}

// Draining reports whether the node starts no runs.
func (m *Member) Draining() (reason string, blocks bool) {
	if m.status() == entity.NodeDraining {
		return "this node drains: it starts no runs until you resume it", false
	}
	return "", false
}

func (m *Member) status() entity.NodeStatus {
	self := m.Self().ID
	for _, n := range m.Nodes() {
		if n.ID == self {
			return n.Status
		}
	}
	return ""
}

// Missing names the other nodes that are late or have died, and those that use the store of a
// node that is no member of a cluster: such nodes hold no lease. It leaves out nodes that
// stopped in order.
func (m *Member) Missing() (reason string, blocks bool) {
	if m.standsBy() { // the registry of a copy names nodes that work elsewhere
		return "", false
	}
	l := m.lastView()
	var parts []string
	for _, n := range l.nodes {
		silent := l.now.Sub(n.LastHeartbeat)
		switch {
		case n.ID == m.Self().ID:
		case n.Died(l.now):
			parts = append(parts, fmt.Sprintf("the node %s is down since %s", n.ID, n.LastHeartbeat.Format(time.RFC3339)))
		case l.evaluation.Late[n.ID] && n.Status != entity.NodeDown:
			parts = append(parts, fmt.Sprintf("the node %s has not beaten for %s", n.ID, silent.Round(time.Second)))
		case m.deps.Peers == nil && n.Status != entity.NodeDown:
			parts = append(parts, fmt.Sprintf("the node %s uses this store, too, but this node is not of a cluster: "+
				"set profile to cluster on both, or give each a store of its own", n.ID))
		}
	}
	if more := len(parts) - maxListed; more > 0 {
		parts = append(parts[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; "), false
}

// Unanswered names the live nodes that do not answer this one. In an outage of the
// store it would miss their promises, and stop its work.
func (m *Member) Unanswered() (reason string, blocks bool) {
	m.promises.mu.Lock()
	defer m.promises.mu.Unlock()
	var ids []string
	for id, n := range m.promises.unanswered {
		if n > 1 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", false
	}
	slices.Sort(ids)
	return "this node gets no answer from " + listed(ids) +
		": an outage of the store would stop its work; check the network, and node.ip and node.port on those nodes", false
}

// Versions reports whether the live nodes run different versions.
func (m *Member) Versions() (reason string, blocks bool) {
	by := map[string][]string{}
	for _, n := range m.Nodes() {
		if n.Status != entity.NodeDown {
			by[n.Version] = append(by[n.Version], n.ID)
		}
	}
	if len(by) < 2 {
		return "", false
	}
	var parts []string
	for _, v := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s on %s", v, listed(by[v])))
	}
	return "the nodes run different versions: " + strings.Join(parts, ", "), false
}

// maxListed bounds the nodes that a reason names.
const maxListed = 5

func listed(ids []string) string {
	if len(ids) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:maxListed], " "), len(ids)-maxListed)
	}
	return strings.Join(ids, " ")
}
