// Package standby decides whether this node works. A node that stands by serves the API and the console and does
// nothing else: its store is a copy, or somebody has asked the node to stand by. See docs/copies.md.
package standby

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Source names a part that closes a gate.
type Source int

// The sources, in the order in which State names them.
const (
	// Asked: somebody started the node so.
	Asked Source = iota
	// Stored: the store says so.
	Stored
	// Elsewhere: the nodes that the registry names work on another store.
	Elsewhere
	// Checking: this node does not know yet whether they do.
	Checking
	sources
)

// Gate is open while this node may work. The node asks it before each task and each effect. Safe for concurrent use.
type Gate struct {
	clock clock.Clock
	// changed is called, with no lock held, when the gate opens or closes; set it before
	// others use the gate.
	changed func(open bool)

	mu sync.Mutex
	// reasons are those of each source; empty leaves the gate open.
	reasons [sources]string
	// since is when the gate last opened or closed, by the clock of the machine; opened is the same in monotonic time.
	since  time.Time
	opened time.Duration
	// turned is closed when the gate opens or closes.
	turned chan struct{}
}

// NewGate returns an open gate.
func NewGate(c clock.Clock) *Gate {
	return &Gate{clock: c, since: c.Now(), opened: c.Monotonic(), turned: make(chan struct{})}
}

// OnChange has do called when the gate opens or closes. Call it before others use the gate.
func (g *Gate) OnChange(do func(open bool)) { g.changed = do }

// Set gives or takes away the reason of a source; empty takes it away.
func (g *Gate) Set(s Source, reason string) {
	g.mu.Lock()
	was := g.open()
	g.reasons[s] = reason
	is := g.open()
	if was != is {
		g.since, g.opened = g.clock.Now(), g.clock.Monotonic()
		close(g.turned)
		g.turned = make(chan struct{})
	}
	do := g.changed
	g.mu.Unlock()
	if was != is && do != nil {
		do(is)
	}
}

// open is for callers that hold mu.
func (g *Gate) open() bool { return g.reasons == [sources]string{} }

// Open reports whether this node may work.
func (g *Gate) Open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open()
}

// Opened is since when the gate is open, in monotonic time; ok is false while it is closed.
func (g *Gate) Opened() (since time.Duration, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened, g.open()
}

// Worked is how long the gate has been open; 0 while it is closed.
func (g *Gate) Worked() time.Duration {
	since, ok := g.Opened()
	if !ok {
		return 0
	}
	return max(g.clock.Monotonic()-since, 1)
}

// State is what people see of a gate.
type State struct {
	// On: this node stands by, for Reason, since Since by its own clock.
	On     bool
	Reason string
	Since  time.Time
}

// State says whether this node stands by, and why. A node that only checks does not say so:
// that takes a moment.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	var reasons []string
	for _, reason := range g.reasons[:Checking] {
		if reason != "" {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 0 {
		return State{}
	}
	return State{On: true, Reason: strings.Join(reasons, "; "), Since: g.since}
}

// Trouble is the part standby. It blocks nothing: a node that stands by serves requests.
func (g *Gate) Trouble() (reason string, blocks bool) { return g.State().Reason, false }

// While runs do whenever the gate is open, until ctx ends. The context of do ends when the gate
// closes; do must return then.
func (g *Gate) While(ctx context.Context, do func(ctx context.Context)) {
	for ctx.Err() == nil {
		g.mu.Lock()
		open, turned := g.open(), g.turned
		g.mu.Unlock()
		if !open {
			select {
			case <-ctx.Done():
			case <-turned:
			}
			continue
		}
		g.during(ctx, turned, do)
	}
}

// during runs do until turned is closed.
func (g *Gate) during(ctx context.Context, turned <-chan struct{}, do func(ctx context.Context)) {
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-turned:
			cancel()
		case <-bounded.Done():
		}
	}()
	do(bounded)
	if ctx.Err() == nil { // a loop that ends by itself does not begin again before the gate turns
		select {
		case <-ctx.Done():
		case <-turned:
		}
	}
}
