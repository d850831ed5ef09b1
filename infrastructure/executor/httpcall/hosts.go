package httpcall

import (
	"context"
	"fmt"
	"sync"
)

// hosts bounds the calls of each host, so that a slow one does not take all
// slots of a node. It is safe for concurrent use.
type hosts struct {
	perHost int

	mu    sync.Mutex
	known map[string]*host
}

// host is one origin while it is called.
type host struct {
	name string
	// visitors are calls in progress and calls that wait for a permit. It is guarded
	// by hosts.mu.
	visitors int
	// permits holds a token for each call in progress; nil without a bound.
	permits chan struct{}
}

func newHosts(perHost int) *hosts {
	return &hosts{perHost: perHost, known: map[string]*host{}}
}

// visit is one call of a host.
type visit struct {
	hosts *hosts
	host  *host
}

// enter waits for a permit of a host. It fails when ctx ends.
func (h *hosts) enter(ctx context.Context, name string) (*visit, error) {
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

func (h *hosts) admit(name string) *visit {
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
	return &visit{hosts: h, host: called}
}

// leave ends a visit that held a permit.
func (v *visit) leave() {
	if v.host.permits != nil {
		<-v.host.permits
	}
	v.withdraw()
}

// withdraw ends a visit without a permit, and forgets a host without calls.
func (v *visit) withdraw() {
	v.hosts.mu.Lock()
	defer v.hosts.mu.Unlock()
	v.host.visitors--
	if v.host.visitors == 0 {
		delete(v.hosts.known, v.host.name)
	}
}
