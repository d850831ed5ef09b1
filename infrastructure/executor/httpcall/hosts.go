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
	// visitors are calls under way and calls that wait for a place. It is guarded
	// by hosts.mu.
	visitors int
	// places holds a token for each call under way; nil without a bound.
	places chan struct{}
}

func newHosts(perHost int) *hosts {
	return &hosts{perHost: perHost, known: map[string]*host{}}
}

// visit is one call of a host.
type visit struct {
	hosts *hosts
	host  *host
}

// enter waits for a place at a host. It fails when ctx ends.
func (h *hosts) enter(ctx context.Context, name string) (*visit, error) {
	if v := h.take(ctx, name); v != nil {
		return v, nil
	}
	v := h.admit(name)
	if v.host.places == nil {
		return v, nil
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

func (h *hosts) admit(name string) *visit {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.known[name]
	if called == nil {
		called = &host{name: name}
		if h.perHost > 0 {
			called.places = make(chan struct{}, h.perHost)
		}
		h.known[name] = called
	}
	called.visitors++
	return &visit{hosts: h, host: called}
}

// leave ends a visit that had a place.
func (v *visit) leave() {
	if v.host.places != nil {
		<-v.host.places
	}
	v.withdraw()
}

// withdraw ends a visit without a place, and forgets a host that nobody calls.
func (v *visit) withdraw() {
	v.hosts.mu.Lock()
	defer v.hosts.mu.Unlock()
	v.host.visitors--
	if v.host.visitors == 0 {
		delete(v.hosts.known, v.host.name)
	}
}
