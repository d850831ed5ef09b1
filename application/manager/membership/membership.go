// Package membership keeps a node in the registry and tells it which part of
// the work is its own (engine rules 25–27): it beats, looks who else is alive,
// marks those who are not, divides the partitions, and has the runs of the dead
// recovered. A node that has lost its right to work stops, and comes back
// under a new epoch.
package membership

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/domain/service/partition"
)

// Registry is the truth of membership; see repository.Nodes.
type Registry interface {
	Register(ctx context.Context, n entity.Node) (epoch int64, err error)
	Heartbeat(ctx context.Context, n entity.Node) (ok bool, err error)
	Mark(ctx context.Context, n entity.Node, status entity.NodeStatus) (ok bool, err error)
	Leave(ctx context.Context, id string, epoch int64) error
	View(ctx context.Context) (nodes []entity.Node, now time.Time, err error)
}

// Worker is what the node does, and what must stop when it may not any more.
type Worker interface {
	// Running is the number of runs, and of the slots for them.
	Running() (running, total int)
	// Suspend keeps new runs away while the node drains.
	Suspend(draining bool)
	// Fence stops every run; it returns when nothing runs.
	Fence(ctx context.Context) error
	// Adopt lets runs start again, under an epoch.
	Adopt(epoch int64)
	// Reap recovers the runs of a node that is DOWN.
	Reap(ctx context.Context, nodeID string, epoch int64) (held int, err error)
}

// Planner fires the jobs of the node's partitions.
type Planner interface {
	// Rebalanced is told that the partitions changed.
	Rebalanced(ctx context.Context) error
}

// Beacons are lights that nodes keep burning outside of the store while they
// reach it, so that others can tell an outage of the store from one of their
// own (engine rule 27).
type Beacons interface {
	// Light shows that the node reached the store just now.
	Light(ctx context.Context, nodeID string, lasts time.Duration) error
	// Lit are the nodes whose light burns.
	Lit(ctx context.Context) ([]string, error)
}

// Damper keeps two nodes from scanning one partition while their views of the
// members differ. It decides nothing: who gets no answer goes on (engine rule
// 25).
type Damper interface {
	// Claim takes and keeps the partitions, and returns those that nobody else
	// holds.
	Claim(ctx context.Context, partitions []int) (granted []int, err error)
	// Release gives those free that the node holds.
	Release(ctx context.Context, partitions []int) error
}

// Gauge reads what the node carries, for the registry.
type Gauge interface {
	// Load is the share of the processors in use, 0–1, and the memory held.
	Load() (cpu float64, memory int64)
	// Offset is how far the store's clock is ahead of this node's.
	Offset() time.Duration
}

// Deps are the parts of a Member.
type Deps struct {
	Registry Registry
	Worker   Worker
	Planner  Planner
	// Beacons is nil where the store is this node's own: then no outage of it
	// is a reason to stop.
	Beacons Beacons
	// Damper is nil where there are no others.
	Damper Damper
	Gauge  Gauge
	Clock  clock.Clock
	Logger *slog.Logger
	// OnChange is called when nodes came, went or changed their state; it must
	// not block. May be nil.
	OnChange func()
	// Announce tells the others that the members changed; nil where there are none.
	Announce func()
	// OnLost is called once when another process runs under this node's id.
	OnLost func()
}

// Member is this node among the others. RunOnce is called at every beat. Safe
// for concurrent use.
type Member struct {
	Deps
	terms liveness.Terms
	// turn is held by the one call of RunOnce that is at work; what follows
	// belongs to it.
	turn  sync.Mutex
	watch *liveness.Watch
	// lease is until when the last beat is good, and seen when the store was
	// last reached, by the monotonic clock.
	lease, seen time.Duration
	fenced      atomic.Bool
	known       bool
	lost        bool
	reaps       map[string]reaping
	// withheld is since when a partition is claimed in vain, by the monotonic
	// clock.
	withheld map[int]time.Duration

	// reached is when the store was last reached, for Shine, in monotonic ns; away
	// is true from a beat in vain to the next good one, and before the first.
	reached atomic.Int64
	away    atomic.Bool

	mu   sync.Mutex
	node entity.Node
	view []entity.Node
	mine []int
}

// New returns the member for a node that is registered under its epoch.
func New(d Deps, node entity.Node, terms liveness.Terms) *Member {
	now := d.Clock.Monotonic()
	m := &Member{
		Deps: d, terms: terms, watch: liveness.NewWatch(terms), node: node, mine: []int{},
		lease: now + terms.Lease, seen: now, reaps: map[string]reaping{}, withheld: map[int]time.Duration{},
	}
	m.away.Store(true)
	return m
}

// Partitions implements firing.Owner; never nil.
func (m *Member) Partitions() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mine
}

// Nodes is the registry as it was last seen.
func (m *Member) Nodes() []entity.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.view)
}

// Self is this node, with its present epoch.
func (m *Member) Self() entity.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

// RunOnce beats, looks around and does what follows from it.
func (m *Member) RunOnce(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.lost {
		return nil
	}
	began := m.Clock.Monotonic()
	ok, err := m.beat(ctx)
	m.away.Store(err != nil)
	if err != nil {
		m.storeAway(ctx)
		return fmt.Errorf("beat: %w", err)
	}
	if !ok {
		return m.refused(ctx)
	}
	m.lease = began + m.terms.Lease
	bounded, cancel := context.WithTimeout(ctx, 2*m.terms.Beat)
	defer cancel()
	nodes, now, err := m.Registry.View(bounded)
	if err != nil {
		return fmt.Errorf("look at the registry: %w", err)
	}
	m.lookedAround(now)
	if m.fenced.Load() {
		m.unfence(m.Self().Epoch)
	}
	for _, v := range m.watch.Judge(now, nodes, m.node.ID) {
		if err := m.mark(ctx, v); err != nil {
			return err
		}
		nodes = replaced(nodes, v)
	}
	if !m.known {
		m.known = true
		m.announce()
	}
	return errors.Join(m.divide(ctx, nodes), m.reap(ctx, nodes))
}

// beat has a bound: a connection of which nothing comes back must not keep the
// node from beating over another.
func (m *Member) beat(ctx context.Context) (ok bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, 2*m.terms.Beat)
	defer cancel()
	return m.Registry.Heartbeat(bounded, m.present())
}

// present is the row as it is to be.
func (m *Member) present() entity.Node {
	n := m.Self()
	n.Running, n.Slots = m.Worker.Running()
	if m.Gauge != nil {
		n.CPU, n.Memory = m.Gauge.Load()
		n.ClockOffset = m.Gauge.Offset()
	}
	return n
}

// lookedAround notes that the store was reached at that time of its own, and
// whether it had not been for long.
func (m *Member) lookedAround(now time.Time) {
	at := m.Clock.Monotonic()
	if at-m.seen > m.terms.SuspectAfter() {
		m.watch.Blind(now)
	}
	m.seen = at
	m.reached.Store(int64(at))
}

func (m *Member) mark(ctx context.Context, v liveness.Verdict) error {
	ok, err := m.Registry.Mark(ctx, v.Node, v.Status)
	if err != nil {
		return fmt.Errorf("mark the node %s as %s: %w", v.Node.ID, v.Status, err)
	}
	if ok {
		m.Logger.Warn("a node has stopped beating", "node", v.Node.ID, "status", v.Status, "lastBeat", v.Node.LastHeartbeat)
		m.announce()
	}
	return nil
}

func (m *Member) announce() {
	if m.Announce != nil {
		m.Announce()
	}
}

func replaced(nodes []entity.Node, v liveness.Verdict) []entity.Node {
	out := slices.Clone(nodes)
	for i := range out {
		if out[i].ID == v.Node.ID {
			out[i].Status = v.Status
		}
	}
	return out
}

// divide works out which partitions are this node's.
func (m *Member) divide(ctx context.Context, nodes []entity.Node) error {
	mine := []int{}
	if !m.fenced.Load() {
		mine = append(mine, m.damped(ctx, partition.Owned(m.node.ID, partition.Contest(nodes)))...)
	}
	m.mu.Lock()
	former, news := m.mine, !slices.EqualFunc(nodes, m.view, sameState)
	m.view, m.mine = nodes, mine
	m.mu.Unlock()
	m.heed(nodes, news)
	changed := !slices.Equal(mine, former)
	if !changed {
		return nil
	}
	m.Logger.Info("the partitions were divided anew", "mine", len(mine), "schedulers", len(liveness.Schedulers(nodes)))
	m.handOver(ctx, former, mine)
	return m.Planner.Rebalanced(ctx)
}

// sameState reports whether two looks at a node agree on what may run there.
func sameState(a, b entity.Node) bool {
	return a.ID == b.ID && a.Epoch == b.Epoch && a.Status == b.Status && (a.Slots > 0) == (b.Slots > 0)
}

// heed passes on what the registry says: that this node drains, that others
// came or went.
func (m *Member) heed(nodes []entity.Node, news bool) {
	for _, n := range nodes {
		if n.ID == m.node.ID {
			m.Worker.Suspend(n.Status == entity.NodeDraining)
		}
	}
	if news && m.OnChange != nil {
		m.OnChange()
	}
}

// StepDown gives the partitions to the others, before a graceful stop: the
// next look of each of them finds this node without the role.
func (m *Member) StepDown(ctx context.Context) error {
	m.mu.Lock()
	m.node.Roles = slices.DeleteFunc(slices.Clone(m.node.Roles), func(r string) bool { return r == entity.RoleScheduler })
	former := m.mine
	m.mine = []int{}
	m.mu.Unlock()
	defer m.announce()
	return errors.Join(m.Beat(ctx), m.release(ctx, former))
}

// Beat renews the lease and does nothing else, for a node that is on its way
// out and still holds runs.
func (m *Member) Beat(ctx context.Context) error {
	_, err := m.Registry.Heartbeat(ctx, m.present())
	return err
}

// Leave marks the node as gone, when nothing runs on it any more.
func (m *Member) Leave(ctx context.Context) error {
	n := m.Self()
	return m.Registry.Leave(ctx, n.ID, n.Epoch)
}
