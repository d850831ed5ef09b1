package membership

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// BeatOnce beats and looks. Nothing else is done here that could take time: what
// follows is for FollowOnce.
func (m *Member) BeatOnce(ctx context.Context) error {
	m.beats.Lock()
	defer m.beats.Unlock()
	if m.lost {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.cancelWith(cancel)
	defer m.cancelWith(nil)
	began := m.Lease.elapsed()
	err := m.beat(ctx, began)
	m.Metrics.Beat(m.Lease.elapsed()-began, err == nil)
	if err != nil {
		m.watch.Failed()
		m.away.Store(true)
		poke(m.askNow)
	}
	if m.OnBeat != nil {
		m.OnBeat(err)
	}
	return err
}

func (m *Member) cancelWith(cancel context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel = cancel
}

// redial ends the beat at work, whose connection goes with it, and beats anew.
func (m *Member) redial() {
	m.mu.Lock()
	cancel := m.cancel
	m.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	poke(m.beatNow)
}

func (m *Member) beat(ctx context.Context, began time.Duration) error {
	ok, err := m.Registry.Heartbeat(ctx, m.present())
	if err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if ok {
		m.renew(began)
	}
	looked := m.Lease.elapsed()
	nodes, now, err := m.Registry.View(ctx)
	if err != nil {
		return fmt.Errorf("look at the registry: %w", err)
	}
	m.note(nodes, now, looked)
	if !ok {
		return m.refused(ctx, nodes)
	}
	m.resume(m.Self().Epoch)
	return nil
}

// present is the row as it is to be.
func (m *Member) present() entity.Node {
	n := m.Self()
	n.Running, n.Slots = m.Worker.Load(entity.SlotGeneral)
	n.CommandRunning, n.CommandSlots = m.Worker.Load(entity.SlotCommand)
	if m.Gauge != nil {
		n.CPU, n.Memory = m.Gauge.Load()
		n.ClockOffset = m.Gauge.Offset()
	}
	return n
}

// note keeps what was seen, and has it judged.
func (m *Member) note(nodes []entity.Node, now time.Time, began time.Duration) {
	self := m.Self().ID
	judgement := m.watch.Evaluate(now, nodes, self)
	m.mu.Lock()
	since := m.look.since
	if m.away.Load() {
		since = began
	}
	m.look = look{nodes: nodes, now: now, began: began, since: since, judgement: judgement}
	for _, n := range nodes {
		if n.ID == self && n.Status != entity.NodeDown {
			m.draining = n.Status == entity.NodeDraining
		}
	}
	m.mu.Unlock()
	m.away.Store(false)
	m.promises.storeIsBack(nodes)
	poke(m.followNow)
}

// refused is the answer to a beat that did not count: this node was declared
// DOWN, or another process runs under its id.
func (m *Member) refused(ctx context.Context, nodes []entity.Node) error {
	self := m.Self()
	i := slices.IndexFunc(nodes, func(n entity.Node) bool { return n.ID == self.ID })
	if i >= 0 && nodes[i].Epoch > self.Epoch {
		m.lost = true
		m.Logger.Error("another process took this node's id over; this one stops", "node", self.ID, "epoch", self.Epoch, "theirs", nodes[i].Epoch)
		m.stop("taken over", "another process runs under its id") // the process ends anyway
		m.OnLost(fmt.Errorf("another process runs as node %s now", self.ID))
		return nil
	}
	if !m.stop("declared", "the others declared it dead") {
		return nil // the next beat looks whether its work has ended
	}
	n := m.present()
	n.Status = entity.NodeUp
	if m.drains() { // somebody did this by hand, and did not take it back
		n.Status = entity.NodeDraining
	}
	began := m.Lease.elapsed()
	epoch, err := m.Registry.Register(ctx, n)
	if err != nil {
		return fmt.Errorf("register anew: %w", err)
	}
	m.mu.Lock()
	m.node.Epoch = epoch
	m.mu.Unlock()
	m.renew(began)
	m.resume(epoch)
	return nil
}

func (m *Member) drains() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.draining
}
