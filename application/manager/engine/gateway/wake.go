package gateway

import (
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/commit"
)

// Wake makes the gateway look for runs at once.
func (g *Gateway) Wake() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// AfterCommit acts on what a transaction made ready for workers, or asked to stop.
func (g *Gateway) AfterCommit(e commit.PostCommit) {
	if len(e.Workers) > 0 {
		g.Wanted(e.Workers)
	}
	if len(e.Stopping) > 0 {
		ids := make([]string, len(e.Stopping))
		for i, x := range e.Stopping {
			ids[i] = x.ID
		}
		g.StopAsked(ids)
	}
}

// waitsFor notes whether runs wait for a worker group, as a claim has found.
func (g *Gateway) waitsFor(group string, some bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if some {
		g.waits[group] = true
	} else {
		delete(g.waits, group)
	}
}

// hasWaiting reports whether runs wait for a worker group, as far as this node knows.
func (g *Gateway) hasWaiting(group string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waits[group]
}

// Wanted says that runs wait for workers of these groups. Others' groups wake nobody.
func (g *Gateway) Wanted(groups []string) {
	g.mu.Lock()
	for _, group := range groups {
		g.waits[group] = true
	}
	g.mu.Unlock()
	ours := false
	g.each(func(s *session) { ours = ours || slices.Contains(groups, s.group()) })
	if ours {
		g.Wake()
	}
}

// StopAsked says that somebody asked these runs to stop. Where one is a worker's of this gateway, what the workers hold
// is read at once.
func (g *Gateway) StopAsked(ids []string) {
	ours := false
	g.each(func(s *session) {
		for key := range s.attempts {
			ours = ours || slices.Contains(ids, key.Execution)
		}
	})
	if ours {
		g.mu.Lock()
		g.lookNow = true
		g.mu.Unlock()
		g.Wake()
	}
}

// Leave makes the workers go elsewhere, because the node stops: they get no new runs here, and each call is answered at
// once. Reports are taken until the last.
func (g *Gateway) Leave() {
	g.mu.Lock()
	g.leaving = true
	g.mu.Unlock()
	g.each((*session).tell)
}

// Close refuses reports from then on, and waits for those under way: two seconds at most. Their ends need the
// completers.
func (g *Gateway) Close() {
	g.Leave()
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.reports.Wait()
}

// enter begins a report; false after Close.
func (g *Gateway) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.reports.Add(1)
	}
	return !g.closed
}

func (g *Gateway) isLeaving() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.leaving
}
