package notifying

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

const (
	// perChannel is how many messages a node sends through one channel at once, so that
	// a slow one leaves room for the others.
	perChannel = 8
	// perSlowChannel is that of one that takes over slowAfter for a message on average.
	perSlowChannel = 2
	slowAfter      = 2 * time.Second
	// perGroup is how many messages it sends at once through all channels of one group: the receivers of
	// one group, however slow, leave room for those of the others.
	perGroup = 16
	// maxSends is how many it sends at once through all.
	maxSends = 64
	// newer is the weight of the latest message in the average of a channel.
	newer = 0.3
	// maxGates bounds the channels that are remembered while nothing is sent through them.
	maxGates = 1000
	// breaksAfter is how many attempts in a row fail before a channel is asked rarely.
	breaksAfter = 5
	// askAgain is the time between two attempts while it is.
	askAgain = time.Minute
)

// gate is what a node knows of a channel. Times are monotonic. It decides only when a
// message is tried: a node that starts anew asks at once.
type gate struct {
	running int
	// group is that of the channel; empty is all groups.
	group string
	// takes is how long a message takes on average; 0 before the first.
	takes time.Duration
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
	return g.running < g.most()
}

// slow reports whether the receiver takes long.
func (g *gate) slow() bool { return g.takes > slowAfter }

func (g *gate) most() int {
	if g.slow() {
		return perSlowChannel
	}
	return perChannel
}

// took notes how long a message took.
func (g *gate) took(d time.Duration) {
	if g.takes == 0 {
		g.takes = max(d, 1)
		return
	}
	g.takes += time.Duration(newer * float64(d-g.takes))
}

// gates are the sends of a node. Safe for concurrent use.
type gates struct {
	mu       sync.Mutex
	channels map[string]*gate
	// running are the notifications that are being sent, by id, with when that began.
	running map[string]time.Duration
	// ofGroup is how many of them go through channels of a group.
	ofGroup map[string]int
}

func newGates() *gates {
	return &gates{channels: map[string]*gate{}, running: map[string]time.Duration{}, ofGroup: map[string]int{}}
}

// open reports whether a channel takes another message now.
func (g *gates) open(c *gate, now time.Duration) bool {
	return c.open(now) && (c.group == "" || g.ofGroup[c.group] < perGroup)
}

// closed are the channels that take nothing now, and free is how many sends may begin;
// running is how many go on.
func (g *gates) closed(now time.Duration) (channels []string, free, running int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, c := range g.channels {
		if !g.open(c, now) {
			channels = append(channels, id)
		}
	}
	slices.Sort(channels)
	return channels, maxSends - len(g.running), len(g.running)
}

// known is how many channels are remembered.
func (g *gates) known() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.channels)
}

// enter begins to send a notification. It is false where it is being sent, or its channel
// takes nothing now.
func (g *gates) enter(n alert.Notification, now time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.channels[n.ChannelID]
	if c == nil {
		g.forgetIdle()
		c = &gate{}
		g.channels[n.ChannelID] = c
	}
	if c.running == 0 {
		c.group = n.ChannelGroup
	}
	if _, sending := g.running[n.ID]; sending || len(g.running) >= maxSends || !g.open(c, now) {
		return false
	}
	g.running[n.ID] = now
	c.running++
	g.ofGroup[c.group]++
	return true
}

// sending reports whether this node sends a notification.
func (g *gates) sending(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, sending := g.running[id]
	return sending
}

// forgetIdle makes room where too many channels are remembered: those through which nothing is sent, and
// that are neither broken nor closed, are learned anew.
func (g *gates) forgetIdle() {
	if len(g.channels) < maxGates {
		return
	}
	maps.DeleteFunc(g.channels, func(_ string, c *gate) bool {
		return c.running == 0 && c.failures == 0 && c.closedUntil == 0
	})
}

// leave is the end of what enter began. It reports whether the channel has become slow, or is so no more.
func (g *gates) leave(n alert.Notification, now time.Duration) (slower, faster bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	began := g.running[n.ID]
	delete(g.running, n.ID)
	c := g.channels[n.ChannelID]
	c.running--
	if g.ofGroup[c.group]--; g.ofGroup[c.group] == 0 {
		delete(g.ofGroup, c.group)
	}
	was := c.slow()
	c.took(now - began)
	return c.slow() && !was, was && !c.slow()
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
	broken, slow := 0, 0
	for _, c := range g.channels {
		switch {
		case c.broken():
			broken++
		case c.slow():
			slow++
		}
	}
	var why []string
	if broken > 0 {
		why = append(why, fmt.Sprintf("channels of alerts do not take messages, and are asked once a minute: %d", broken))
	}
	if slow > 0 {
		why = append(why, fmt.Sprintf("channels of alerts take over %s for a message, and get %d at once: %d", slowAfter,
			perSlowChannel, slow))
	}
	if len(why) == 0 {
		return ""
	}
	return strings.Join(why, "; ") + "; the log names them"
}
