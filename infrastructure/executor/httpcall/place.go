package httpcall

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// hostPatience is how long an attempt waits on its node for a place at its
	// host, and keeps a slot from others.
	hostPatience = time.Second
	// hostPause is how long it is away when that was in vain, give or take a half,
	// so that runs of one moment do not come back in one.
	hostPause = 2 * time.Second
	// crowdShare is how many calls may wait for a place on this node, for each that
	// has one: one for four. Who comes later is sent away at once.
	crowdShare = 4
)

// errBusy says that no place at a host came free in time.
var errBusy = errors.New("no place at the host is free")

// place is a visit that was made before the attempt began. Its first call takes
// it; a redirect to another host waits for one of its own.
type place struct {
	// waited: it was not free at once.
	waited bool

	mu    sync.Mutex
	visit *visit
}

type placeKey struct{}

// take is the visit that was made for a host, once.
func (h *hosts) take(ctx context.Context, name string) *visit {
	p, _ := ctx.Value(placeKey{}).(*place)
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.visit
	if v == nil || v.host.name != name {
		return nil
	}
	p.visit = nil
	return v
}

// free ends a visit that no call took.
func (p *place) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.visit != nil {
		p.visit.leave()
		p.visit = nil
	}
}

// reserve gets a place at a host before an attempt begins, so that waiting for it
// does not count (engine rule 22). It fails with errBusy, or when ctx ends.
func (h *hosts) reserve(ctx context.Context, c clock.Clock, name string, rep entity.Reporter) (*place, error) {
	v := h.admit(name)
	if v.host.places == nil {
		return &place{visit: v}, nil
	}
	select {
	case v.host.places <- struct{}{}:
		return &place{visit: v}, nil
	default:
	}
	if h.crowded(v.host) {
		v.withdraw()
		return nil, errBusy
	}
	begins := rep.Waits()
	var err error
	timer := c.NewTimer(hostPatience)
	defer timer.Stop()
	select {
	case v.host.places <- struct{}{}:
		begins()
		return &place{visit: v, waited: true}, nil
	case <-timer.C():
		err = errBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	v.withdraw()
	return nil, err
}

func (h *hosts) crowded(of *host) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return of.visitors-h.perHost > max(h.perHost/crowdShare, 1)
}

// busy is an attempt that did not begin because its host had no place.
func (h *hosts) busy(name string) entity.Outcome {
	return entity.NotBegun(hostPause/2+rand.N(hostPause), fmt.Sprintf(
		"%d calls of %s are under way from this node, which is the bound (executor.http.maxPerHost); the run is tried again in a moment", h.perHost, name))
}
