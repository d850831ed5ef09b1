package httpcall

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// maxHosts bounds what is remembered of hosts that could not be reached.
const maxHosts = 4096

// heldBack is a call that was not made because its host could not be reached
// several times in a row.
type heldBack struct {
	failures int
	wait     time.Duration
}

// Error implements error.
func (h *heldBack) Error() string {
	return fmt.Sprintf("held back: %d calls in a row could not connect; the next one is made in %s", h.failures, h.wait.Round(time.Millisecond))
}

// hosts bounds the calls of each host and holds back those of a host that
// cannot be reached (a circuit breaker), so that one dead target neither takes
// all slots of a node nor is flooded when it comes back. It is safe for
// concurrent use.
type hosts struct {
	clock      clock.Clock
	perHost    int
	breakAfter int
	breakFor   time.Duration

	mu    sync.Mutex
	known map[string]*host
}

// host is what is known of one origin. Its fields are guarded by hosts.mu.
type host struct {
	name string
	// visitors are calls under way and calls that wait for a place.
	visitors int
	// places holds a token for each call under way; nil without a bound.
	places   chan struct{}
	failures int
	// until is when the next call may be made, of the monotonic clock.
	until time.Duration
	// probing: that call is under way, others still wait for what it finds.
	probing bool
}

func newHosts(c clock.Clock, perHost, breakAfter int, breakFor time.Duration) *hosts {
	return &hosts{clock: c, perHost: perHost, breakAfter: breakAfter, breakFor: breakFor, known: map[string]*host{}}
}

// visit is one call of a host.
type visit struct {
	hosts *hosts
	host  *host
	probe bool
}

// enter waits for a place at a host. It fails with *heldBack, or when ctx ends.
func (h *hosts) enter(ctx context.Context, name string) (*visit, error) {
	v, err := h.admit(name)
	if err != nil || v.host.places == nil {
		return v, err
	}
	select {
	case v.host.places <- struct{}{}:
		return v, nil
	default:
	}
	select {
	case v.host.places <- struct{}{}:
		return v, nil
	case <-ctx.Done():
		v.withdraw()
		return nil, fmt.Errorf("wait for one of %d places for calls of this host: %w", h.perHost, ctx.Err())
	}
}

func (h *hosts) admit(name string) (*visit, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	target := h.known[name]
	if target == nil {
		h.forget()
		target = &host{name: name}
		if h.perHost > 0 {
			target.places = make(chan struct{}, h.perHost)
		}
		h.known[name] = target
	}
	v := &visit{hosts: h, host: target}
	if h.breakAfter > 0 && target.failures >= h.breakAfter {
		wait := target.until - h.clock.Monotonic()
		if wait > 0 || target.probing {
			return nil, &heldBack{target.failures, max(wait, 0)}
		}
		target.probing, v.probe = true, true
	}
	target.visitors++
	return v, nil
}

// forget makes room when too many unreachable hosts are remembered.
func (h *hosts) forget() {
	if len(h.known) < maxHosts {
		return
	}
	for name, target := range h.known {
		if target.visitors == 0 {
			delete(h.known, name)
		}
	}
}

// tell notes how the call went: whether the host was reached, and, when it was
// not, whether that is the host's doing.
func (v *visit) tell(reached, blame bool) {
	v.hosts.mu.Lock()
	defer v.hosts.mu.Unlock()
	v.findOut()
	switch {
	case reached:
		v.host.failures = 0
	case blame:
		v.host.failures++
		v.host.until = v.hosts.clock.Monotonic() + v.hosts.breakFor
	}
}

// findOut ends the wait for what a probe finds, once. hosts.mu is held.
func (v *visit) findOut() {
	if v.probe {
		v.probe, v.host.probing = false, false
	}
}

// leave ends a visit that had a place.
func (v *visit) leave() {
	if v.host.places != nil {
		<-v.host.places
	}
	v.withdraw()
}

// withdraw ends a visit without a place, and forgets a host of which nothing
// needs to be remembered.
func (v *visit) withdraw() {
	v.hosts.mu.Lock()
	defer v.hosts.mu.Unlock()
	v.host.visitors--
	v.findOut()
	if v.host.visitors == 0 && v.host.failures == 0 {
		delete(v.hosts.known, v.host.name)
	}
}
