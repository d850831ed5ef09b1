package membership

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Shine keeps this node's beacon burning while it reaches the store. It is
// called at every beat, apart from RunOnce: whoever keeps the beacons must not
// delay the beats. It never fails, as nobody depends on beacons alone.
func (m *Member) Shine(ctx context.Context) error {
	if m.Beacons == nil || m.away.Load() || m.Clock.Monotonic()-time.Duration(m.reached.Load()) > 2*m.terms.Beat {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, m.terms.Lease)
	defer cancel()
	if err := m.Beacons.Light(bounded, m.Self().ID, m.terms.Lease); err != nil {
		m.Logger.Debug("the beacon could not be lit", "error", err)
	}
	return nil
}

// Away reports that the last beat did not reach the store, or that there was
// none yet.
func (m *Member) Away() bool { return m.away.Load() }

// Standing says what is wrong with this node's place among the others; an
// empty reason is nothing. Blocks is true while it may not work.
func (m *Member) Standing() (reason string, blocks bool) {
	if m.fenced.Load() {
		return "this node has lost its lease and stopped its work; it goes on when it reaches the store again", true
	}
	if m.status() == entity.NodeSuspect {
		return "the others miss the beats of this node", false
	}
	return "", false
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
