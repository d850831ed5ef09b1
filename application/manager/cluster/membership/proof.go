package membership

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

const (
	// proofGap is the least time between the two findings of a proof.
	proofGap = 300 * time.Millisecond
	// proofLife is how long a proof counts for others.
	proofLife = 3 * time.Second
	// provers bounds the nodes that are looked at together.
	provers = 8
)

// deathSigns is a node that was found dead at each look since first.
type deathSigns struct {
	epoch       int64
	first, last time.Duration
}

func (f deathSigns) proven() bool { return f.last-f.first >= proofGap }

// proofs are the findings of this node about other nodes.
type proofs struct {
	mu    sync.Mutex
	found map[string]deathSigns
}

// dead reports whether a recent proof exists.
func (p *proofs) dead(id string, epoch int64, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.found[id]
	return f.epoch == epoch && f.proven() && now-f.last < proofLife
}

// note adds a finding, and reports whether the findings prove the death.
func (p *proofs) note(n entity.Node, dead bool, now time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !dead {
		delete(p.found, n.ID)
		return false
	}
	f := p.found[n.ID]
	if f.epoch != n.Epoch || now-f.last > proofLife {
		f = deathSigns{epoch: n.Epoch, first: now}
	}
	f.last = now
	if _, known := p.found[n.ID]; !known && len(p.found) >= maxPromises {
		maps.DeleteFunc(p.found, func(_ string, old deathSigns) bool { return now-old.last > proofLife })
	}
	p.found[n.ID] = f
	return f.proven()
}

// proveAll checks the late nodes repeatedly while that may prove a death: a proof
// needs two findings, and a finding of another node.
func (m *Member) proveAll(ctx context.Context, log *faillog.Recorder) {
	for {
		again, err := m.ProveOnce(ctx)
		report(ctx, log, err)
		if !again || clock.Sleep(ctx, m.deps.Clock, proofGap+proofGap/10) != nil {
			return
		}
	}
}

// ProveOnce checks whether the late nodes are dead. A node is dead when its server
// lost the connection of the beats, and no process, or another one, listens at its
// address. After two findings, and one of another node where three nodes live, this
// node declares it DOWN before its lease ends. It keeps the promises that it gave.
// again is true while a dead node is not declared yet.
func (m *Member) ProveOnce(ctx context.Context) (again bool, err error) {
	if m.standsBy() {
		return false, nil
	}
	l := m.lastView()
	var mu sync.Mutex
	var errs []error
	var looks sync.WaitGroup
	looked := 0
	for _, n := range l.nodes {
		running := n.Status != entity.NodeDown && n.Status != entity.NodeDraining
		if !l.evaluation.Late[n.ID] || !running || n.Life.LockSession == 0 || n.Port <= 0 || looked == provers {
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

// prove checks one node; pending is true when it is dead and not declared yet.
func (m *Member) prove(ctx context.Context, n entity.Node, l registryView) (pending bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, m.timing.Lease/3)
	defer cancel()
	dead, err := m.foundDead(bounded, n)
	if err != nil {
		return false, err
	}
	if !m.proofs.note(n, dead, m.deps.Lease.elapsed()) {
		return dead, nil
	}
	if !m.witnessed(bounded, n, l) || !m.condemn(n) {
		return true, nil
	}
	v := liveness.Transition{Node: n, Status: entity.NodeDown}
	ok, err := m.write(ctx, v, entity.DownProof, l.now)
	if ok {
		m.amendView(v)
		m.Wake()
		wake(m.followNow)
	}
	return false, err
}

func (m *Member) foundDead(ctx context.Context, n entity.Node) (bool, error) {
	free, known, err := m.deps.Registry.LockFree(ctx, n)
	if err != nil || !known || !free {
		return false, err
	}
	a, silence := m.deps.Peers.Ask(ctx, n, m.peerQuestion(entity.PeerWitness, n))
	if errors.Is(silence, entity.ErrNobodyListens) {
		return true, nil
	}
	return silence == nil && a.Boot != n.Life.Boot, nil
}

func (m *Member) peerQuestion(matter entity.PeerMatter, n entity.Node) entity.PeerQuestion {
	self := m.Self()
	return entity.PeerQuestion{
		Matter: matter, NodeID: self.ID, Epoch: self.Epoch, Boot: self.Life.Boot, Target: n.ID, TargetEpoch: n.Epoch,
	}
}

// witnessed asks the healthy nodes whether they found the same. Where only two nodes
// live, the dead one included, no other node can.
func (m *Member) witnessed(ctx context.Context, dead entity.Node, l registryView) bool {
	var others []entity.Node
	living := 0
	for _, n := range l.nodes {
		if n.Status == entity.NodeDown {
			continue
		}
		living++
		if n.ID != dead.ID && n.ID != m.Self().ID && !l.evaluation.Late[n.ID] {
			others = append(others, n)
		}
	}
	if living <= 2 {
		return true
	}
	for _, n := range others[:min(len(others), provers)] {
		if a, err := m.deps.Peers.Ask(ctx, n, m.peerQuestion(entity.PeerWitness, dead)); err == nil && a.NodeID == n.ID &&
			a.Dead {
			return true
		}
	}
	return false
}
