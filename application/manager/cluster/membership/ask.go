package membership

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// warmth is how often others are asked although the store answers, so that a
	// connection stands when it does not.
	warmth = 10 * time.Second
	// askers bounds the questions at once.
	askers = 32
)

// AskOnce asks the others for promises while the beats of this node fail, or
// take long.
func (m *Member) AskOnce(ctx context.Context) {
	now, good := m.Lease.elapsed(), time.Duration(m.good.Load())
	away := m.away.Load() || now-good > 2*m.terms.Beat
	l := m.seen()
	if len(l.nodes) == 0 || !away && now-m.asked < warmth {
		return
	}
	m.asked = now
	others := m.others(l)
	if away && len(others) == 0 {
		m.extend(good, forever) // until the next good beat: nobody is there to take over
		return
	}
	answers := m.askAll(ctx, others)
	if !away {
		m.promises.heard(others, answers)
	}
	if m.away.Load() || m.Lease.elapsed()-time.Duration(m.good.Load()) > 2*m.terms.Beat {
		m.weigh(others, answers)
	}
}

// others are the nodes of a look that may declare this one.
func (m *Member) others(l look) []entity.Node {
	self := m.Self().ID
	var out []entity.Node
	for _, n := range l.nodes {
		if n.ID != self && n.Status != entity.NodeDown {
			out = append(out, n)
		}
	}
	return out
}

// reply is an answer and the moment before its question.
type reply struct {
	entity.PeerAnswer
	asked time.Duration
	ok    bool
}

func (m *Member) askAll(ctx context.Context, others []entity.Node) []reply {
	bounded, cancel := context.WithTimeout(ctx, m.terms.Beat)
	defer cancel()
	self := m.Self()
	question := entity.PeerQuestion{Matter: entity.PeerLease, NodeID: self.ID, Epoch: self.Epoch}
	answers, places := make([]reply, len(others)), make(chan struct{}, askers)
	var calls sync.WaitGroup
	for i, n := range others {
		if n.Life.Lease <= 0 || n.Port <= 0 {
			continue // an older program, or one that listens nowhere
		}
		calls.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			asked := m.Lease.elapsed()
			a, err := m.Peers.Ask(bounded, n, question)
			answers[i] = reply{a, asked, err == nil && a.NodeID == n.ID}
		})
	}
	calls.Wait()
	return answers
}

// heard keeps in mind who does not answer although the store does: its promises
// would be missed.
func (p *promises) heard(others []entity.Node, answers []reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	former := p.unheard
	p.unheard = map[string]int{}
	for i, n := range others {
		if n.Status != entity.NodeSuspect && !answers[i].ok {
			p.unheard[n.ID] = former[n.ID] + 1
		}
	}
}

// weigh lets the lease last until the earliest of the promises, less the margin.
// Who promised nothing may judge this node a lease after its last good beat.
func (m *Member) weigh(others []entity.Node, answers []reply) {
	declared, back := false, false
	good := time.Duration(m.good.Load())
	base := good + m.terms.Lease
	until, weakest, silent := forever, "", false
	p := &m.promises
	p.mu.Lock()
	for i, n := range others {
		a := answers[i]
		switch {
		case !a.ok:
			m.Metrics.Asked("silent")
		case a.Declared:
			m.Metrics.Asked("declared")
			declared = true
		default:
			m.Metrics.Asked("promise")
			p.got[n.ID] = max(p.got[n.ID], a.asked+a.Promise())
		}
		back = back || a.ok && a.Store
		if ends := max(p.got[n.ID], base); ends < until {
			until, weakest, silent = ends, n.ID, !a.ok
		}
	}
	// A beat that only takes long is left alone: it may well be good.
	news := back && m.away.Load() && !p.told
	p.told = p.told || news
	p.weakest, p.silent = weakest, silent && !back
	p.mu.Unlock()
	m.extend(good, until-m.terms.Margin())
	if declared {
		m.stop("declared", "the others declared it dead")
	}
	if news {
		m.redial()
	}
}
