package membership

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// BeatOnce writes a beat and reads the registry. It does nothing else that could
// take time: FollowOnce acts on the result. While another beat is in progress it waits for that one,
// or for the end of ctx.
func (m *Member) BeatOnce(ctx context.Context) error {
	if err := m.beats.Take(ctx); err != nil {
		return fmt.Errorf("wait for the beat in progress: %w", err)
	}
	defer m.beats.Give()
	if m.lost {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m.cancelWith(cancel)
	defer m.cancelWith(nil)
	began := m.deps.Lease.elapsed()
	err := m.beat(ctx)
	m.deps.Lease.note(err == nil)
	m.deps.Metrics.Beat(m.deps.Lease.elapsed()-began, err == nil)
	if err != nil {
		m.detector.Failed()
		m.away.Store(true)
		wake(m.askNow)
	}
	if m.deps.OnBeat != nil {
		m.deps.OnBeat(err)
	}
	return err
}

func (m *Member) cancelWith(cancel context.CancelFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancel = cancel
}

// redial cancels the beat in progress with its connection, and beats again.
func (m *Member) redial() {
	m.mu.Lock()
	cancel := m.cancel
	m.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	wake(m.beatNow)
}

func (m *Member) beat(ctx context.Context) error {
	// After an outage a new connection may take as long as a lease, and is no part of the
	// beat: the lease would be over before the answer is there.
	if err := m.deps.Registry.Connect(ctx); err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	began := m.deps.Lease.elapsed()
	ok, err := m.deps.Registry.Heartbeat(ctx, m.snapshot())
	if err != nil {
		return fmt.Errorf("beat: %w", err)
	}
	if ok {
		m.renew(began)
	}
	looked := m.deps.Lease.elapsed()
	nodes, now, err := m.deps.Registry.View(ctx)
	if err != nil {
		return fmt.Errorf("look at the registry: %w", err)
	}
	m.recordView(nodes, now, looked)
	if !ok {
		return m.onStaleEpoch(ctx, nodes)
	}
	m.resume(m.Self().Epoch)
	return nil
}

// snapshot returns the row to write for this node.
func (m *Member) snapshot() entity.Node {
	n := m.Self()
	if m.standsBy() {
		return AsStandby(n)
	}
	n.Running, n.Slots = m.deps.Worker.Load(entity.SlotGeneral)
	n.CommandRunning, n.CommandSlots = m.deps.Worker.Load(entity.SlotCommand)
	if m.deps.Load != nil {
		n.CPU, n.Memory = m.deps.Load.Load()
		n.ClockOffset = m.deps.Load.Offset()
	}
	return n
}

// recordView stores the result of a look and evaluates it.
func (m *Member) recordView(nodes []entity.Node, now time.Time, began time.Duration) {
	self := m.Self().ID
	evaluation := m.detector.Evaluate(now, began, nodes, self)
	m.mu.Lock()
	since := m.view.since
	if m.away.Load() {
		since = began
	}
	m.view = registryView{nodes: nodes, now: now, began: began, since: since, evaluation: evaluation}
	m.deps.View.setNodes(nodes)
	m.mu.Unlock()
	m.looks.Add(1)
	m.away.Store(false)
	m.promises.storeIsBack(nodes)
	wake(m.followNow)
}

// onStaleEpoch handles a beat that the registry refused: the others declared this
// node DOWN, or another process runs under its id.
func (m *Member) onStaleEpoch(ctx context.Context, nodes []entity.Node) error {
	self := m.Self()
	i := slices.IndexFunc(nodes, func(n entity.Node) bool { return n.ID == self.ID })
	if i >= 0 && nodes[i].Epoch > self.Epoch {
		m.lost = true
		m.deps.Logger.Error("another process runs under this node's id; this process stops",
			"node", self.ID, "epoch", self.Epoch, "theirs", nodes[i].Epoch)
		m.stop("taken over", "another process runs under its id") // the process ends anyway
		m.deps.OnLost(fmt.Errorf("another process runs as node %s now", self.ID))
		return nil
	}
	if !m.stop("declared", "the others declared it dead") {
		return nil // the next beat looks whether its work has ended
	}
	began := m.deps.Lease.elapsed()
	epoch, err := m.deps.Registry.Register(ctx, m.snapshot())
	if err != nil {
		return fmt.Errorf("register again: %w", err)
	}
	m.mu.Lock()
	m.node.Epoch = epoch
	m.mu.Unlock()
	m.renew(began)
	m.resume(epoch)
	return nil
}
