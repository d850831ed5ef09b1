package membership

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// fenceBound is how long one beat waits for the work to stop; the next one
// waits again.
const fenceBound = 5 * time.Second

// refused is the answer to a beat that did not count: this node was declared
// DOWN, or another process runs under its id.
func (m *Member) refused(ctx context.Context) error {
	nodes, now, err := m.Registry.View(ctx)
	if err != nil {
		return fmt.Errorf("look why the beat did not count: %w", err)
	}
	self := m.Self()
	i := slices.IndexFunc(nodes, func(n entity.Node) bool { return n.ID == self.ID })
	if i >= 0 && nodes[i].Epoch > self.Epoch {
		m.lost = true
		m.Logger.Error("another process took this node's id over; this one stops", "node", self.ID, "epoch", self.Epoch, "theirs", nodes[i].Epoch)
		_ = m.fence(ctx, "another process runs under its id") // the process ends anyway
		m.OnLost()
		return nil
	}
	if err := m.fence(ctx, "the others declared it dead"); err != nil {
		return err
	}
	epoch, err := m.Registry.Register(ctx, m.present())
	if err != nil {
		return fmt.Errorf("register anew: %w", err)
	}
	m.mu.Lock()
	m.node.Epoch = epoch
	m.mu.Unlock()
	m.lease = m.Clock.Monotonic() + m.terms.Lease
	m.watch.Blind(now)
	m.unfence(epoch)
	return nil
}

// storeAway is what a node does that could not beat (engine rule 27). Within
// its lease it goes on. Past it, it goes on as long as nobody else reaches the
// store either; when somebody does, or nobody can be asked, its runs may be
// given to others any moment, and it stops them.
func (m *Member) storeAway(ctx context.Context) {
	if m.Beacons == nil || m.fenced.Load() || m.Clock.Monotonic() < m.lease {
		return
	}
	why := "its lease ran out, and nobody can be asked whether others reach the store"
	lit, err := m.Beacons.Lit(ctx)
	if err == nil {
		lit = slices.DeleteFunc(lit, func(id string) bool { return id == m.node.ID })
		if len(lit) == 0 {
			return
		}
		why = "its lease ran out while others reach the store"
	}
	if err := m.fence(ctx, why); err != nil {
		m.Logger.Error("the work of this node has not stopped yet", "error", err)
	}
}

// fence stops the work. It is begun again at the next beat if it was not done.
func (m *Member) fence(ctx context.Context, why string) error {
	if !m.fenced.Load() {
		m.Logger.Error("this node stops its work", "node", m.node.ID, "why", why)
	}
	m.fenced.Store(true)
	m.mu.Lock()
	m.mine = []int{}
	m.mu.Unlock()
	if err := m.Planner.Rebalanced(ctx); err != nil {
		m.Logger.Debug("the planner could not be emptied", "error", err)
	}
	bounded, cancel := context.WithTimeout(ctx, fenceBound)
	defer cancel()
	return m.Worker.Fence(bounded)
}

func (m *Member) unfence(epoch int64) {
	m.fenced.Store(false)
	m.Logger.Info("this node works again", "node", m.node.ID, "epoch", epoch)
	m.Worker.Adopt(epoch)
}
