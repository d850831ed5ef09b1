package membership

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// causeStandby is the cause of a stop for a node that stands by.
const causeStandby = "standby"

// standsBy reports whether this node does no work.
func (m *Member) standsBy() bool { return m.deps.Gate != nil && !m.deps.Gate.Open() }

// GateTurned acts on a gate that has opened or closed: the work ends at once, and goes on
// after the next beat.
func (m *Member) GateTurned() {
	if m.standsBy() {
		m.stop(causeStandby, "it stands by")
	}
	m.Wake()
}

// AsStandby is the row of a node that stands by. It takes no role of a working node, so that no node counts on it, and
// says that it stands by, so that others can name it.
func AsStandby(n entity.Node) entity.Node {
	n.Roles = slices.DeleteFunc(slices.Clone(n.Roles), func(r string) bool { return r != entity.RoleAPI })
	n.Roles = append(n.Roles, entity.RoleStandby)
	n.Slots, n.Running, n.CommandSlots, n.CommandRunning = 0, 0, 0, 0
	return n
}
