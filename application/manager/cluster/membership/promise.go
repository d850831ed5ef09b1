package membership

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// promises are what nodes may rely on while the store is silent: what this one
// has promised others and must keep, and what others have promised it.
type promises struct {
	mu sync.Mutex
	// given is until when a node is not declared DOWN by this one, condemned is
	// whom this one has declared, or is about to.
	given     map[string]promise
	condemned map[string]condemned
	// got is until when another does not declare this node.
	got map[string]time.Duration
	// unheard counts the questions in a row that a node has not answered while the
	// store did.
	unheard map[string]int
	// told: another has said in this outage that it reaches the store.
	told bool
	// weakest is who gave the earliest promise; silent says that it gave none.
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

// maxPromises bounds the nodes whose promises, or deaths, are remembered at once;
// what has passed makes room for others.
const maxPromises = 10_000

func newPromises() promises {
	return promises{given: map[string]promise{}, condemned: map[string]condemned{}, got: map[string]time.Duration{}}
}

// storeIsBack forgets what belonged to an outage, and whom a later beat absolves.
func (p *promises) storeIsBack(nodes []entity.Node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.got)
	p.told, p.weakest, p.silent = false, "", false
	for _, n := range nodes {
		if c, ok := p.condemned[n.ID]; ok && (c.epoch != n.Epoch || !c.beat.Equal(n.LastHeartbeat)) {
			delete(p.condemned, n.ID)
		}
	}
}

// why says for metrics and for people whose promise has ended.
func (p *promises) why() (cause, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.silent:
		return "silent", fmt.Sprintf("it does not reach the store, and the node %s does not promise to wait for it", p.weakest)
	case p.told:
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
		a.Dead = m.proofs.dead(q.Target, q.TargetEpoch, m.Lease.elapsed())
	}
	return a
}

// promise says until when this node does not declare the asker, and keeps that
// in mind. With the store: until the asker's last beat, or the begin of this
// node's unbroken good looks, is a lease old. Without it: a lease from now, for
// this node judges nobody before it has seen a lease of its own looks.
func (m *Member) promise(q entity.PeerQuestion, a *entity.PeerAnswer) {
	l, now := m.seen(), m.Lease.elapsed()
	lease, beat, known := m.terms.Lease, time.Duration(0), false
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
	m.Metrics.Promised()
}

// condemn notes that a node is about to be declared, unless it was promised
// that it is not: from then on it is promised nothing more.
func (m *Member) condemn(n entity.Node) bool {
	p, now := &m.promises, m.Lease.elapsed()
	p.mu.Lock()
	defer p.mu.Unlock()
	if given := p.given[n.ID]; given.epoch == n.Epoch && now < given.until {
		return false
	}
	delete(p.given, n.ID)
	p.condemned[n.ID] = condemned{n.Epoch, n.LastHeartbeat}
	return true
}

// yieldWait is how long another node waits for this one's work to end.
const yieldWait = 300 * time.Millisecond

// yield is told that another node is about to declare this one, and that the
// store is there. If this one's beats fail, it stops, and beats over another
// connection; it reports whether its work has ended.
func (m *Member) yield(ctx context.Context, q entity.PeerQuestion) (stopped bool) {
	if q.TargetEpoch != m.Self().Epoch {
		return true // that life is over
	}
	if !m.away.Load() && m.Lease.elapsed()-time.Duration(m.good.Load()) < m.terms.Lease {
		return false // it is the other who sees old beats
	}
	ended := m.stop("cut", "another node reaches the store and is about to declare this one dead")
	m.redial()
	if ended {
		return true
	}
	bounded, cancel := context.WithTimeout(ctx, yieldWait)
	defer cancel()
	return m.Worker.Fence(bounded) == nil
}
