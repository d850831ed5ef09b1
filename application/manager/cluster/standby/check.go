package standby

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/liveness"
)

const (
	// looksToBeSure is how many looks after its first answer a node must take without
	// finding this process in its registry.
	looksToBeSure = 2
	// attentive is for how many leases a node that has begun to work goes on asking at each beat: two nodes on two stores
	// may have begun at one moment. Then it asks each askAgain, until askFor after its start: the others may have been
	// unreachable.
	attentive = 4
	askAgain  = 10 * time.Second
	askFor    = 10 * time.Minute
	// maxNamed bounds the nodes that a check asks, askers the nodes that it asks at one time.
	maxNamed = 64
	askers   = 16
	// tie is the difference of ages below which the boots decide who is older.
	tie = time.Second
)

// Peers calls other nodes; see membership.Peers.
type Peers interface {
	Ask(ctx context.Context, n entity.Node, q entity.PeerQuestion) (entity.PeerAnswer, error)
}

// CheckDeps are the parts of a Check.
type CheckDeps struct {
	Gate  *Gate
	Peers Peers
	// Self is this node, as it is registered. Named are the nodes that the registry named
	// when this process registered.
	Self   entity.Node
	Named  []entity.Node
	Timing liveness.Timing
	// Elapsed is monotonic, and goes on while the machine sleeps.
	Elapsed func() time.Duration
	Clock   clock.Clock
	Logger  *slog.Logger
}

// Check finds out whether the nodes that the registry names work on another store. Then this store is a copy, or the
// original of a working copy, and this node, the newcomer, stands by. It asks each of them "do you see me?". A node
// that has worked for longer works on another store if two looks after its first answer do not show this process.
// Nothing is stored: a lease after the last evidence this node goes on.
type Check struct {
	CheckDeps
	began time.Duration

	mu    sync.Mutex
	named []*named
	off   bool
	// evidence is when a node has last proven to be elsewhere; found says whether one has.
	evidence time.Duration
	found    bool
	wake     chan struct{}
}

// named is what this node knows of a node that the registry names.
type named struct {
	node entity.Node
	// boot and look come from its first answer that may be evidence.
	boot  string
	look  int64
	first bool
	// failed counts the questions in a row without an answer. settled: its last answer, or its silence, is no reason to
	// stand by.
	failed   int
	answered bool
}

// NewCheck returns a check, and closes the gate until it has asked. Without a node that could
// answer it leaves the gate open.
func NewCheck(d CheckDeps) *Check {
	c := &Check{CheckDeps: d, began: d.Elapsed(), wake: make(chan struct{}, 1)}
	for _, n := range newest(d.Named) {
		if n.Life.Lease > 0 && n.Port > 0 && n.Life.Boot != d.Self.Life.Boot {
			c.named = append(c.named, &named{node: n})
		}
	}
	c.named = c.named[:min(len(c.named), maxNamed)]
	if len(c.named) > 0 {
		d.Gate.Set(Checking, "it is not known yet whether the nodes of this store work on another one")
	}
	return c
}

// newest sorts nodes: the nodes that are most likely to answer come first.
func newest(nodes []entity.Node) []entity.Node {
	return slices.SortedStableFunc(slices.Values(nodes), func(a, b entity.Node) int {
		if down := a.Status == entity.NodeDown; down != (b.Status == entity.NodeDown) {
			if down {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.LastHeartbeat.UnixMilli(), a.LastHeartbeat.UnixMilli())
	})
}

// Stop ends the check: somebody has activated this store.
func (c *Check) Stop() {
	c.mu.Lock()
	c.off, c.found = true, false
	c.mu.Unlock()
	c.Gate.Set(Elsewhere, "")
	c.Gate.Set(Checking, "")
}

// Run asks until the check has nothing more to find out, or until ctx ends.
func (c *Check) Run(ctx context.Context) {
	for {
		pause, again := c.Once(ctx)
		if !again || clock.Sleep(ctx, c.Clock, pause) != nil {
			return
		}
	}
}

// Once asks all nodes once. It returns when to ask again, unless that is over.
func (c *Check) Once(ctx context.Context) (pause time.Duration, again bool) {
	c.mu.Lock()
	over, asked := c.off || len(c.named) == 0, slices.Clone(c.named)
	c.mu.Unlock()
	if over {
		return 0, false
	}
	var calls sync.WaitGroup
	permits := make(chan struct{}, askers)
	for _, n := range asked {
		calls.Go(func() {
			permits <- struct{}{}
			defer func() { <-permits }()
			bounded, cancel := context.WithTimeout(ctx, c.Timing.Lease/3)
			defer cancel()
			a, err := c.Peers.Ask(bounded, n.node, entity.PeerQuestion{
				Matter: entity.PeerSee, NodeID: c.Self.ID, Epoch: c.Self.Epoch, Boot: c.Self.Life.Boot,
			})
			c.note(n, a, err)
		})
	}
	calls.Wait()
	return c.decide()
}

// note takes the answer of a node.
func (c *Check) note(n *named, a entity.PeerAnswer, err error) {
	mine := c.Gate.Worked()
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		n.failed++
		n.first = false
		n.answered = n.failed > 1 || n.node.Status == entity.NodeDown || errors.Is(err, entity.ErrNobodyListens)
		return
	}
	n.failed = 0
	// An answer without a look comes from a node of the former release.
	against := a.Boot != c.Self.Life.Boot && a.Look > 0 && !a.Sees && a.Store &&
		older(a.Worked(), a.Boot, mine, c.Self.Life.Boot)
	if n.answered = !against; n.answered {
		n.first = false
		return
	}
	if !n.first || n.boot != a.Boot || a.Look < n.look {
		n.first, n.boot, n.look = true, a.Boot, a.Look
	}
	if a.Look >= n.look+looksToBeSure {
		if !c.found {
			c.Logger.Warn("this node stands by: another node of its registry works on another store",
				"node", a.NodeID, "address", n.node.IP, "port", n.node.Port)
		}
		c.evidence, c.found = c.Elapsed(), true
	}
}

// older reports whether another node has worked for longer than this one. Of two that began together, the node with the
// lesser boot counts as older. A node that stands by does not work.
func older(theirs time.Duration, boot string, mine time.Duration, own string) bool {
	switch {
	case theirs == 0:
		return false
	case (theirs - mine).Abs() < tie:
		return boot < own
	}
	return theirs > mine
}

// decide opens or closes the gate.
func (c *Check) decide() (pause time.Duration, again bool) {
	c.mu.Lock()
	now := c.Elapsed()
	if c.off {
		c.mu.Unlock()
		return 0, false
	}
	c.found = c.found && now-c.evidence <= c.Timing.Lease
	found := c.found
	waits := slices.ContainsFunc(c.named, func(n *named) bool { return !n.answered })
	c.mu.Unlock()
	switch {
	case found:
		c.Gate.Set(Elsewhere, c.reason())
		c.Gate.Set(Checking, "")
		return c.Timing.Beat, true
	case waits: // the gate stays as it is until the check knows
		return c.Timing.Beat, true
	}
	c.Gate.Set(Elsewhere, "")
	c.Gate.Set(Checking, "")
	if worked := c.Gate.Worked(); worked > 0 && worked < attentive*c.Timing.Lease {
		return c.Timing.Beat, true
	}
	return askAgain, now-c.began < askFor
}

// reason names the nodes that work on another store.
func (c *Check) reason() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.named {
		if n.first {
			return fmt.Sprintf("the node %s at %s, which the registry of this store names, works on another store: "+
				"this one is a copy, or was one; this node goes on when that one has stopped", n.node.ID, n.node.IP)
		}
	}
	return "the nodes that the registry of this store names work on another store; " +
		"this node goes on when they have stopped"
}
