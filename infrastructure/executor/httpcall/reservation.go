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
	// permitWait is how long an attempt waits on its node for a permit of its host.
	// Meanwhile it keeps a slot from others.
	permitWait = time.Second
	// hostPause is how long the attempt stays away without a permit, plus or minus a
	// half, so that runs of one moment do not return at one moment.
	hostPause = 2 * time.Second
	// crowdShare bounds the calls that wait for a permit on this node: one for each
	// four that hold one. The node turns later calls away at once.
	crowdShare = 4
)

// errBusy means that no permit of a host came free in time.
var errBusy = errors.New("all permits of the host are taken")

// reservation is a visit that was made before the attempt began. The first call of the
// attempt takes it; a redirect to another host waits for its own permit.
type reservation struct {
	// waited is true when no permit was free at once.
	waited bool

	mu    sync.Mutex
	visit *visit
}

type reservationKey struct{}

// take returns the visit that was made for a host, once.
func (h *hosts) take(ctx context.Context, name string) *visit {
	p, _ := ctx.Value(reservationKey{}).(*reservation)
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
func (p *reservation) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.visit != nil {
		p.visit.leave()
		p.visit = nil
	}
}

// reserve takes a permit of a host before an attempt begins, so that the wait does not
// count (engine rule 22). It fails with errBusy, or when ctx ends.
func (h *hosts) reserve(ctx context.Context, c clock.Clock, name string, rep entity.Reporter) (*reservation, error) {
	v := h.admit(name)
	if v.host.permits == nil {
		return &reservation{visit: v}, nil
	}
	select {
	case v.host.permits <- struct{}{}:
		return &reservation{visit: v}, nil
	default:
	}
	if h.crowded(v.host) {
		v.withdraw()
		return nil, errBusy
	}
	begins := rep.Waits()
	var err error
	timer := c.NewTimer(permitWait)
	defer timer.Stop()
	select {
	case v.host.permits <- struct{}{}:
		begins()
		return &reservation{visit: v, waited: true}, nil
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

// busy is the outcome of an attempt that did not begin for want of a permit.
func (h *hosts) busy(name string) entity.Outcome {
	return entity.NotBegun(hostPause/2+rand.N(hostPause), fmt.Sprintf(
		"%d calls of %s are under way from this node, which is the bound (executor.http.maxPerHost); the run is tried again in a moment", h.perHost, name))
}
