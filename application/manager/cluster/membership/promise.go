package membership

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// promises are what nodes rely on while the store does not answer: the promises that
// this node gave and must keep, and the promises that it got.
type promises struct {
	mu sync.Mutex
	// given is until when this node does not declare another one DOWN, by the life that asked. A node of a copy of the
	// store may have the name of a node of this store. condemned are the nodes that this node has declared DOWN, or is
	// about to.
	given     map[asker]promise
	condemned map[string]condemned
	// got is until when another node does not declare this one DOWN.
	got map[string]time.Duration
	// unanswered counts the questions in a row that a node has not answered while the
	// store did.
	unanswered map[string]int
	// othersReach is true when another node said in this outage that it reaches the
	// store.
	othersReach bool
	// allAway is when this node asked the others last that all of them said they do not reach the store either.
	allAway time.Duration
	// weakest is the node with the earliest promise; silent is true if it gave none.
	weakest string
	silent  bool
}

// asker is one life of a node; boot is empty for an older program, which names none.
type asker struct{ id, boot string }

type promise struct {
	epoch int64
	until time.Duration
}

type condemned struct {
	epoch int64
	beat  time.Time
}

// maxPromises bounds the nodes whose promises, or deaths, this node remembers. A
// promise that has passed makes room for others.
const maxPromises = 10_000

func newPromises() promises {
	return promises{given: map[asker]promise{}, condemned: map[string]condemned{}, got: map[string]time.Duration{}}
}

// storeIsBack clears the state of an outage, and the condemned nodes that have
// beaten since.
func (p *promises) storeIsBack(nodes []entity.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.got)
	p.othersReach, p.weakest, p.silent = false, "", false
	for _, n := range nodes {
		if c, ok := p.condemned[n.ID]; ok && (c.epoch != n.Epoch || !c.beat.Equal(n.LastHeartbeat)) {
			delete(p.condemned, n.ID)
		}
	}
}

// stopReason says for metrics and for people whose promise has ended.
func (p *promises) stopReason() (cause, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.silent:
		return "silent", fmt.Sprintf("it does not reach the store, and the node %s does not promise to wait for it",
			p.weakest)
	case p.othersReach:
		return "cut", "it does not reach the store, and others do"
	default:
		return "lease", "it does not reach the store, and its lease has ended"
	}
}

// Answer answers a question of another node, from memory.
func (m *Member) Answer(ctx context.Context, q entity.PeerQuestion) entity.PeerAnswer {
	self := m.Self()
	now := m.deps.Lease.elapsed()
	a := entity.PeerAnswer{NodeID: self.ID, Epoch: self.Epoch, Boot: self.Life.Boot, Store: m.reaches(now)}
	switch q.Matter {
	case entity.PeerLease:
		m.promise(q, &a)
	case entity.PeerYield:
		a.Stopped = m.yield(ctx, q)
	case entity.PeerWitness:
		a.Dead = m.proofs.dead(q.Target, q.TargetEpoch, now)
	case entity.PeerSee:
		a.Look, a.Sees = m.looks.Load(), m.sees(q)
		if m.deps.Gate != nil && m.deps.Lease.Holds() {
			a.WorkedMs = m.deps.Gate.Worked().Milliseconds()
		}
	}
	return a
}

// promise states until when this node does not declare the asker DOWN, and records
// it. With the store: until the asker's last beat, or the begin of this node's
// unbroken good looks, is a lease old. Without the store: a lease from now. The record of the promise keeps it, where
// this node's own looks do not: its beat may hang without an error.
func (m *Member) promise(q entity.PeerQuestion, a *entity.PeerAnswer) {
	l, now := m.lastView(), m.deps.Lease.elapsed()
	lease, beat, known, another := m.timing.Lease, time.Duration(0), false, false
	for _, n := range l.nodes {
		if n.ID != q.NodeID {
			continue
		}
		if another = n.Epoch == q.Epoch && stranger(n, q); another {
			break // what is known of the row is not the asker's
		}
		if n.Epoch > q.Epoch || n.Epoch == q.Epoch && n.Status == entity.NodeDown {
			a.Declared = true
			return
		}
		lease, beat, known = n.Lease(), l.began-l.now.Sub(n.LastHeartbeat), n.Epoch == q.Epoch
	}
	until := now + lease
	if a.Store && known {
		until = max(beat, l.since) + lease
	}
	p := &m.promises
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := p.condemned[q.NodeID]; ok && c.epoch == q.Epoch && !another {
		a.Declared = true
		return
	}
	by := asker{q.NodeID, q.Boot}
	if former := p.given[by]; former.epoch == q.Epoch {
		until = max(until, former.until)
	}
	if until <= now {
		return
	}
	if _, given := p.given[by]; !given && len(p.given) >= maxPromises {
		maps.DeleteFunc(p.given, func(_ asker, old promise) bool { return old.until <= now })
		if len(p.given) >= maxPromises {
			return
		}
	}
	p.given[by] = promise{q.Epoch, until}
	a.PromiseMs = (until - now).Milliseconds()
	m.deps.Metrics.Promised()
}

// condemn records that this node is about to declare another one DOWN; it returns
// false while a promise forbids that. A condemned node gets no more promises.
func (m *Member) condemn(n entity.Node) bool {
	p, now := &m.promises, m.deps.Lease.elapsed()
	p.mu.Lock()
	defer p.mu.Unlock()
	lives := []asker{{n.ID, n.Life.Boot}, {n.ID, ""}}
	for _, life := range lives {
		if given := p.given[life]; given.epoch == n.Epoch && now < given.until {
			return false
		}
	}
	for _, life := range lives {
		delete(p.given, life)
	}
	p.condemned[n.ID] = condemned{n.Epoch, n.LastHeartbeat}
	return true
}

// yieldWait is how long another node waits for the work of this one to end.
const yieldWait = 300 * time.Millisecond

// yield handles a node that reaches the store and is about to declare this one DOWN. If its own beats fail, this node
// stops its work and beats over a new connection. It reports whether its work has ended. It does not yield to a node
// whose boot its own last look did not show: that node may work on a copy of the store. Then its lease decides.
func (m *Member) yield(ctx context.Context, q entity.PeerQuestion) (stopped bool) {
	if q.TargetEpoch != m.Self().Epoch {
		return true // that epoch has ended
	}
	if !m.away.Load() && m.deps.Lease.elapsed()-time.Duration(m.good.Load()) < m.timing.Lease {
		return false // the other node reads old beats
	}
	if !m.sees(q) {
		m.redial()
		return false
	}
	ended := m.stop("cut", "another node reaches the store and is about to declare this one dead")
	m.redial()
	if ended {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, yieldWait)
	defer cancel()
	return m.deps.Worker.Fence(bounded) == nil
}

// sees reports whether the asker stood in the last look of this node with the boot that
// it names. An older program names none; then its epoch counts.
func (m *Member) sees(q entity.PeerQuestion) bool {
	for _, n := range m.lastView().nodes {
		if n.ID == q.NodeID {
			return !stranger(n, q)
		}
	}
	return false
}

// stranger reports whether the process that asks is not the one that the row is of.
func stranger(n entity.Node, q entity.PeerQuestion) bool {
	if q.Boot == "" || n.Life.Boot == "" {
		return n.Epoch != q.Epoch
	}
	return n.Life.Boot != q.Boot
}
