package membership

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/faillog"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

const (
	// apart is the least time between the two findings of a proof.
	apart = 300 * time.Millisecond
	// proofLife is how long a proof counts for others.
	proofLife = 3 * time.Second
	// provers bounds the nodes that are looked at together.
	provers = 8
)

// finding is that a node was found dead, without a break since first.
type finding struct {
	epoch       int64
	first, last time.Duration
}

func (f finding) proven() bool { return f.last-f.first >= apart }

// proofs are what this node has found about the deaths of others.
type proofs struct {
	mu    sync.Mutex
	found map[string]finding
}

// dead reports a proof that is not old.
func (p *proofs) dead(id string, epoch int64, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.found[id]
	return f.epoch == epoch && f.proven() && now-f.last < proofLife
}

// note adds a finding, and says whether it proves the death.
func (p *proofs) note(n entity.Node, dead bool, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !dead {
		delete(p.found, n.ID)
		return false
	}
	f := p.found[n.ID]
	if f.epoch != n.Epoch || now-f.last > proofLife {
		f = finding{epoch: n.Epoch, first: now}
	}
	f.last = now
	if _, known := p.found[n.ID]; !known && len(p.found) >= maxPromises {
		maps.DeleteFunc(p.found, func(_ string, old finding) bool { return now-old.last > proofLife })
	}
	p.found[n.ID] = f
	return f.proven()
}

// proveAll looks at those who are late, again and again while that may prove a
// death: a finding is no proof before its second time, and others must find it, too.
func (m *Member) proveAll(ctx context.Context, log *faillog.Log) {
	for {
		again, err := m.ProveOnce(ctx)
		tell(ctx, log, err)
		if !again || clock.Sleep(ctx, m.Clock, apart+apart/10) != nil {
			return
		}
	}
}

// ProveOnce looks whether those nodes are dead whose beats are late: the
// connection of the beats is gone by the same server that had it, and nobody, or
// another process, listens at the node's address. Found twice, and by another node
// as well where there are three, it is declared DOWN without waiting for its
// lease, but not before a promise that this node gave it has passed. again says
// that one was found dead and is not declared yet.
func (m *Member) ProveOnce(ctx context.Context) (again bool, err error) {
	l := m.seen()
	var mu sync.Mutex
	var errs []error
	var looks sync.WaitGroup
	looked := 0
	for _, n := range l.nodes {
		if !l.judgement.Late[n.ID] || n.Status == entity.NodeDown || n.Status == entity.NodeDraining || n.Life.LockSession == 0 || n.Port <= 0 || looked == provers {
			continue
		}
		looked++
		looks.Go(func() {
			pending, err := m.prove(ctx, n, l)
			mu.Lock()
			defer mu.Unlock()
			again = again || pending
			errs = append(errs, err)
		})
	}
	looks.Wait()
	return again, errors.Join(errs...)
}

// prove looks at one node; pending says that it was found dead and is not
// declared yet.
func (m *Member) prove(ctx context.Context, n entity.Node, l look) (pending bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, m.terms.Lease/3)
	defer cancel()
	dead, err := m.foundDead(bounded, n)
	if err != nil {
		return false, err
	}
	if !m.proofs.note(n, dead, m.Lease.elapsed()) {
		return dead, nil
	}
	if !m.witnessed(bounded, n, l) || !m.condemn(n) {
		return true, nil
	}
	v := liveness.Transition{Node: n, Status: entity.NodeDown}
	ok, err := m.write(ctx, v, entity.DownProof, l.now)
	if ok {
		m.amend(v)
		m.Wake()
		poke(m.followNow)
	}
	return false, err
}

func (m *Member) foundDead(ctx context.Context, n entity.Node) (bool, error) {
	free, known, err := m.Registry.LockFree(ctx, n)
	if err != nil || !known || !free {
		return false, err
	}
	a, silence := m.Peers.Ask(ctx, n, m.about(entity.PeerWitness, n))
	if errors.Is(silence, entity.ErrNobodyListens) {
		return true, nil
	}
	return silence == nil && a.Boot != n.Life.Boot, nil
}

func (m *Member) about(matter entity.PeerMatter, n entity.Node) entity.PeerQuestion {
	self := m.Self()
	return entity.PeerQuestion{Matter: matter, NodeID: self.ID, Epoch: self.Epoch, Target: n.ID, TargetEpoch: n.Epoch}
}

// witnessed asks those who are well whether they have found the same. Where only
// two nodes live, one of them the dead one, nobody else can.
func (m *Member) witnessed(ctx context.Context, dead entity.Node, l look) bool {
	var others []entity.Node
	living := 0
	for _, n := range l.nodes {
		if n.Status == entity.NodeDown {
			continue
		}
		living++
		if n.ID != dead.ID && n.ID != m.Self().ID && !l.judgement.Late[n.ID] {
			others = append(others, n)
		}
	}
	if living <= 2 {
		return true
	}
	for _, n := range others[:min(len(others), provers)] {
		if a, err := m.Peers.Ask(ctx, n, m.about(entity.PeerWitness, dead)); err == nil && a.NodeID == n.ID && a.Dead {
			return true
		}
	}
	return false
}
