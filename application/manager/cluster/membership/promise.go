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
	// given is until when this node does not declare another one DOWN. condemned are
	// the nodes that it has declared DOWN, or is about to.
	given     map[string]promise
	condemned map[string]condemned
	// got is until when another node does not declare this one DOWN.
	got map[string]time.Duration
	// unanswered counts the questions in a row that a node has not answered while the
	// store did.
	unanswered map[string]int
	// othersReach is true when another node said in this outage that it reaches the
	// store.
	othersReach bool
	// weakest is the node with the earliest promise; silent is true if it gave none.
	weakest string
	silent  bool
}

type promise struct {
	epoch int64
	until time.Duration
}

type condemned struct {
	epoch int64
	beat  time.Time
}

// maxPromises bounds the nodes whose promises, or deaths, this node remembers. What
// has passed makes room for others.
const maxPromises = 10_000

func newPromises() promises {
	return promises{given: map[string]promise{}, condemned: map[string]condemned{}, got: map[string]time.Duration{}}
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
	a := entity.PeerAnswer{NodeID: self.ID, Epoch: self.Epoch, Boot: self.Life.Boot, Store: !m.away.Load()}
	switch q.Matter {
	case entity.PeerLease:
		m.promise(q, &a)
	case entity.PeerYield:
		a.Stopped = m.yield(ctx, q)
	case entity.PeerWitness:
		a.Dead = m.proofs.dead(q.Target, q.TargetEpoch, m.deps.Lease.elapsed())
	}
	return a
}

// promise states until when this node does not declare the asker DOWN, and records
// it. With the store: until the asker's last beat, or the begin of this node's
// unbroken good looks, is a lease old. Without the store: a lease from now, because
// this node declares no one before its own looks cover a lease.
func (m *Member) promise(q entity.PeerQuestion, a *entity.PeerAnswer) {
	l, now := m.lastView(), m.deps.Lease.elapsed()
	lease, beat, known := m.timing.Lease, time.Duration(0), false
	for _, n := range l.nodes {
		if n.ID != q.NodeID {
			continue
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
	if c, ok := p.condemned[q.NodeID]; ok && c.epoch == q.Epoch {
		a.Declared = true
		return
	}
	if former := p.given[q.NodeID]; former.epoch == q.Epoch {
		until = max(until, former.until)
	}
	if until <= now {
		return
	}
	if _, given := p.given[q.NodeID]; !given && len(p.given) >= maxPromises {
		maps.DeleteFunc(p.given, func(_ string, old promise) bool { return old.until <= now })
		if len(p.given) >= maxPromises {
			return
		}
	}
	p.given[q.NodeID] = promise{q.Epoch, until}
	a.PromiseMs = (until - now).Milliseconds()
	m.deps.Metrics.Promised()
}

// condemn records that this node is about to declare another one DOWN; it returns
// false while a promise forbids that. A condemned node gets no more promises.
func (m *Member) condemn(n entity.Node) bool {
	p, now := &m.promises, m.deps.Lease.elapsed()
	p.mu.Lock()
	defer p.mu.Unlock()
	if given := p.given[n.ID]; given.epoch == n.Epoch && now < given.until {
		return false
	}
	delete(p.given, n.ID)
	p.condemned[n.ID] = condemned{n.Epoch, n.LastHeartbeat}
	return true
}

// yieldWait is how long another node waits for the work of this one to end.
const yieldWait = 300 * time.Millisecond

// yield handles a node that reaches the store and is about to declare this one DOWN.
// If its own beats fail, this node stops its work and beats over a new connection. It
// reports whether its work has ended.
func (m *Member) yield(ctx context.Context, q entity.PeerQuestion) (stopped bool) {
	if q.TargetEpoch != m.Self().Epoch {
		return true // that epoch has ended
	}
	if !m.away.Load() && m.deps.Lease.elapsed()-time.Duration(m.good.Load()) < m.timing.Lease {
		return false // the other node reads old beats
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
