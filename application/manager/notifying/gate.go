package notifying

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

const (
	// perChannel is how many messages a node sends through one channel at once, so that
	// a slow one leaves room for the others.
	perChannel = 8
	// maxSends is how many it sends at once through all.
	maxSends = 64
	// breaksAfter is how many attempts in a row fail before a channel is asked rarely.
	breaksAfter = 5
	// askAgain is the time between two attempts while it is.
	askAgain = time.Minute
)

// gate is what a node knows of a channel. Times are monotonic. It decides only when a
// message is tried: a node that starts anew asks at once.
type gate struct {
	running int
	// failures is how many attempts failed in a row.
	failures int
	// closedUntil: nothing is sent before.
	closedUntil time.Duration
}

func (g *gate) broken() bool { return g.failures >= breaksAfter }

func (g *gate) open(now time.Duration) bool {
	if now < g.closedUntil {
		return false
	}
	if g.broken() {
		return g.running == 0 // one message asks for all
	}
	return g.running < perChannel
}

// gates are the sends of a node. Safe for concurrent use.
type gates struct {
	mu       sync.Mutex
	channels map[string]*gate
	// running are the ids of the notifications that are being sent.
	running map[string]bool
}

func newGates() *gates { return &gates{channels: map[string]*gate{}, running: map[string]bool{}} }

// closed are the channels that take nothing now, and free is how many sends may begin;
// running is how many go on.
func (g *gates) closed(now time.Duration) (channels []string, free, running int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, c := range g.channels {
		if !c.open(now) {
			channels = append(channels, id)
		}
	}
	slices.Sort(channels)
	return channels, maxSends - len(g.running), len(g.running)
}

// enter begins to send a notification. It is false where it is being sent, or its channel
// takes nothing now.
func (g *gates) enter(n alert.Notification, now time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.channels[n.ChannelID]
	if c == nil {
		c = &gate{}
		g.channels[n.ChannelID] = c
	}
	if g.running[n.ID] || len(g.running) >= maxSends || !c.open(now) {
		return false
	}
	g.running[n.ID] = true
	c.running++
	return true
}

// sending reports whether this node sends a notification.
func (g *gates) sending(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running[id]
}

// leave is the end of what enter began.
func (g *gates) leave(n alert.Notification) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, n.ID)
	c := g.channels[n.ChannelID]
	if c.running--; c.running == 0 && c.failures == 0 && c.closedUntil == 0 {
		delete(g.channels, n.ChannelID) // nothing is known of it
	}
}

// note learns from an attempt, and reports whether the channel has just broken. A receiver
// that refuses a message does answer.
func (g *gates) note(channelID string, r alert.SendResult, now time.Duration) (broke bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.channels[channelID]
	if c == nil {
		return false
	}
	if r.Result != alert.ResultFailed {
		c.failures, c.closedUntil = 0, 0
		return false
	}
	c.failures++
	if c.broken() {
		c.closedUntil = now + askAgain
	}
	if r.RetryAfter > 0 {
		c.closedUntil = max(c.closedUntil, now+min(r.RetryAfter, longestHold))
	}
	return c.failures == breaksAfter
}

// longestHold bounds how long a receiver may ask not to be called.
const longestHold = 10 * time.Minute

// forget drops a channel that is gone.
func (g *gates) forget(channelID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.channels[channelID]; c != nil {
		c.failures, c.closedUntil = 0, 0
	}
}

// trouble counts the channels that do not work. Everybody may read it, also who may not see
// the channels: so it names none.
func (g *gates) trouble() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	broken := 0
	for _, c := range g.channels {
		if c.broken() {
			broken++
		}
	}
	if broken == 0 {
		return ""
	}
	return fmt.Sprintf("channels of alerts do not take messages, and are asked once a minute: %d; the log names them",
		broken)
}
