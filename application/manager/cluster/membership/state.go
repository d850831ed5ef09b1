package membership

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Away reports that the last beat did not reach the store, or that there was
// none yet.
func (m *Member) Away() bool { return m.away.Load() }

// Standing says what is wrong with this node's place among the others; an
// empty reason is nothing. Blocks is true while it may not work.
func (m *Member) Standing() (reason string, blocks bool) {
	if m.Lease.stopped.Load() {
		m.right.Lock()
		left := m.running()
		m.right.Unlock()
		if !m.away.Load() && left > 0 {
			return fmt.Sprintf("this node had to stop its work, and waits for the end of %d runs", left), true
		}
		return "this node has lost its lease and stopped its work; it goes on when it reaches the store again", true
	}
	if m.status() == entity.NodeSuspect {
		return "the others miss the beats of this node", false
	}
	return "", false
}

// running is how many runs the node has, of all kinds.
func (m *Member) running() (n int) {
	for _, kind := range entity.SlotKinds() {
		running, _ := m.Worker.Load(kind)
		n += running
	}
	return n
}

// Draining says that the node takes no runs.
func (m *Member) Draining() (reason string, blocks bool) {
	if m.status() == entity.NodeDraining {
		return "this node drains: it starts no runs until it is resumed", false
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

// Missing says which other nodes are late or have died. One that left in order
// is not missed.
func (m *Member) Missing() (reason string, blocks bool) {
	l := m.seen()
	var parts []string
	for _, n := range l.nodes {
		silent := l.now.Sub(n.LastHeartbeat)
		switch {
		case n.ID == m.Self().ID:
		case n.Died(l.now):
			parts = append(parts, fmt.Sprintf("the node %s is down since %s", n.ID, n.LastHeartbeat.Format(time.RFC3339)))
		case l.judgement.Late[n.ID] && n.Status != entity.NodeDown:
			parts = append(parts, fmt.Sprintf("the node %s has not been heard of for %s", n.ID, silent.Round(time.Second)))
		}
	}
	if more := len(parts) - maxListed; more > 0 {
		parts = append(parts[:maxListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; "), false
}

// Unheard says which nodes that beat do not answer this one: in an outage of the
// store it would miss their promises, and stop its work.
func (m *Member) Unheard() (reason string, blocks bool) {
	m.promises.mu.Lock()
	defer m.promises.mu.Unlock()
	var ids []string
	for id, n := range m.promises.unheard {
		if n > 1 {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", false
	}
	slices.Sort(ids)
	return "this node gets no answer from " + listed(ids) + ": an outage of the store would stop its work; mend the network, or node.ip and node.port there", false
}

// Versions says that the living nodes run different versions.
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
