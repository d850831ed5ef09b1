package membership

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// keepWarm is how often this node asks the others although the store answers: so
	// a connection exists when the store does not answer.
	keepWarm = 10 * time.Second
	// askers bounds the concurrent questions.
	askers = 32
)

// AskOnce asks the other nodes for promises while the beats of this node fail or
// take long.
func (m *Member) AskOnce(ctx context.Context) {
	now, good := m.deps.Lease.elapsed(), time.Duration(m.good.Load())
	away := !m.reaches(now)
	l := m.lastView()
	if len(l.nodes) == 0 || m.standsBy() || !away && now-m.asked < keepWarm {
		return
	}
	m.asked = now
	others := m.others(l)
	if away && len(others) == 0 {
		m.extend(good, forever) // until the next good beat: nobody is there to take over
		m.promises.noteAllAway(now)
		return
	}
	answers := m.askAll(ctx, others)
	if !away {
		m.promises.trackSilent(others, answers)
	}
	if !m.reaches(m.deps.Lease.elapsed()) {
		m.applyPromises(others, answers)
	}
}

// reaches reports whether this node reaches the store, as far as it knows: its last beat was good, and the next one has
// not been missing for long. A beat may hang in a store that is silent for all, and a new connection for a whole lease.
func (m *Member) reaches(now time.Duration) bool {
	return !m.away.Load() && now-time.Duration(m.good.Load()) <= 2*m.timing.Beat
}

// others returns the nodes that may declare this one DOWN.
func (m *Member) others(l registryView) []entity.Node {
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
	bounded, cancel := context.WithTimeout(ctx, m.timing.Beat)
	defer cancel()
	self := m.Self()
	question := entity.PeerQuestion{Matter: entity.PeerLease, NodeID: self.ID, Epoch: self.Epoch, Boot: self.Life.Boot}
	answers, permits := make([]reply, len(others)), make(chan struct{}, askers)
	var calls sync.WaitGroup
	for i, n := range others {
		if n.Life.Lease <= 0 || n.Port <= 0 {
			continue // an older program, or one that listens nowhere
		}
		calls.Go(func() {
			permits <- struct{}{}
			defer func() { <-permits }()
			asked := m.deps.Lease.elapsed()
			a, err := m.deps.Peers.Ask(bounded, n, question)
			answers[i] = reply{a, asked, err == nil && a.NodeID == n.ID}
		})
	}
	calls.Wait()
	return answers
}

// trackSilent counts the nodes that do not answer although the store does: in an
// outage their promises would be missing.
func (p *promises) trackSilent(others []entity.Node, answers []reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	former := p.unanswered
	p.unanswered = map[string]int{}
	for i, n := range others {
		if n.Status != entity.NodeSuspect && !answers[i].ok {
			p.unanswered[n.ID] = former[n.ID] + 1
		}
	}
}

// applyPromises sets the end of the lease to the earliest promise, less the margin.
// A node without a promise may declare this one a lease after its last good beat.
func (m *Member) applyPromises(others []entity.Node, answers []reply) {
	declared, back, allAway := false, false, forever
	good := time.Duration(m.good.Load())
	base := good + m.timing.Lease
	until, weakest, silent := forever, "", false
	p := &m.promises
	p.mu.Lock()
	for i, n := range others {
		a := answers[i]
		switch {
		case !a.ok:
			m.deps.Metrics.Asked("silent")
		case a.Declared:
			m.deps.Metrics.Asked("declared")
			declared = true
		default:
			m.deps.Metrics.Asked("promise")
			p.got[n.ID] = max(p.got[n.ID], a.asked+a.Promise())
		}
		back = back || a.ok && a.Store
		if !a.ok || a.Store || a.Declared {
			allAway = 0
		}
		allAway = min(allAway, a.asked)
		if ends := max(p.got[n.ID], base); ends < until {
			until, weakest, silent = ends, n.ID, !a.ok
		}
	}
	// A beat that only takes long is left alone: it may well be good.
	firstReport := back && m.away.Load() && !p.othersReach
	p.othersReach = p.othersReach || firstReport
	p.weakest, p.silent = weakest, silent && !back
	p.allAway = max(p.allAway, allAway)
	p.mu.Unlock()
	m.extend(good, until-m.timing.Margin())
	if declared {
		m.stop("declared", "the others declared it dead")
	}
	if firstReport {
		m.redial()
	}
}
