package hosts

import (
	"context"
	"fmt"
	"sync"
)

// permits bounds the calls of each host. Safe for concurrent use.
type permits struct {
	perHost int

	mu    sync.Mutex
	known map[string]*host
}

// host is one origin while this node calls it.
type host struct {
	name string
	// visitors counts calls in progress and calls that wait for a permit. permits.mu
	// guards it.
	visitors int
	// permits holds a token for each call in progress; nil without a bound.
	permits chan struct{}
}

func newPermits(perHost int) *permits {
	return &permits{perHost: perHost, known: map[string]*host{}}
}

// visit is one call of a host.
type visit struct {
	permits *permits
	host    *host
}

// enter waits for a permit of a host. It fails when ctx ends.
func (h *permits) enter(ctx context.Context, name string) (*visit, error) {
	if v := h.take(ctx, name); v != nil {
		return v, nil
	}
	v := h.admit(name)
	if v.host.permits == nil {
		return v, nil
	}
	select {
	case v.host.permits <- struct{}{}:
		return v, nil
	default:
	}
	select {
	case v.host.permits <- struct{}{}:
		return v, nil
	case <-ctx.Done():
		v.withdraw()
		return nil, fmt.Errorf("wait for one of %d permits of this host: %w", h.perHost, ctx.Err())
	}
}

func (h *permits) admit(name string) *visit {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.known[name]
	if called == nil {
		called = &host{name: name}
		if h.perHost > 0 {
			called.permits = make(chan struct{}, h.perHost)
		}
		h.known[name] = called
	}
	called.visitors++
	return &visit{permits: h, host: called}
}

// leave ends a visit that holds a permit.
func (v *visit) leave() {
	if v.host.permits != nil {
		<-v.host.permits
	}
	v.withdraw()
}

// withdraw ends a visit without a permit, and forgets a host without calls.
func (v *visit) withdraw() {
	v.permits.mu.Lock()
	defer v.permits.mu.Unlock()
	v.host.visitors--
	if v.host.visitors == 0 {
		delete(v.permits.known, v.host.name)
	}
}
