package hosts

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
	// hostPause is how long an attempt without a permit stays away, plus or minus a half.
	// So runs of one moment do not return at one moment.
	hostPause = 2 * time.Second
	// crowdShare bounds the calls that wait for a permit on this node: one for each
	// four that hold one. The node turns later calls away at once.
	crowdShare = 4
)

// ErrBusy means that no permit of a host became free in time.
var ErrBusy = errors.New("all permits of the host are taken")

// Reservation is a permit that an attempt took before it began. The first call of the
// attempt uses it; a redirect to another host waits for its own permit.
type Reservation struct {
	// waited is true when no permit was free at once.
	waited bool

	mu    sync.Mutex
	visit *visit
}

type reservationKey struct{}

// In returns a context whose calls may use the reservation.
func (p *Reservation) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, reservationKey{}, p)
}

// Waited reports whether no permit was free at once.
func (p *Reservation) Waited() bool { return p.waited }

// take returns the visit that ctx reserved for a host, once.
func (h *permits) take(ctx context.Context, name string) *visit {
	p, _ := ctx.Value(reservationKey{}).(*Reservation)
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

// Free returns the permit when no call used it.
func (p *Reservation) Free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.visit != nil {
		p.visit.leave()
		p.visit = nil
	}
}

// reserve takes a permit of a host for at most permitWait. It fails with ErrBusy, or when
// ctx ends.
func (h *permits) reserve(ctx context.Context, c clock.Clock, name string, rep entity.Reporter) (*Reservation, error) {
	v := h.admit(name)
	if v.host.permits == nil {
		return &Reservation{visit: v}, nil
	}
	select {
	case v.host.permits <- struct{}{}:
		return &Reservation{visit: v}, nil
	default:
	}
	if h.crowded(v.host) {
		v.withdraw()
		return nil, ErrBusy
	}
	begins := rep.Waits()
	var err error
	timer := c.NewTimer(permitWait)
	defer timer.Stop()
	select {
	case v.host.permits <- struct{}{}:
		begins()
		return &Reservation{visit: v, waited: true}, nil
	case <-timer.C():
		err = ErrBusy
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	v.withdraw()
	return nil, err
}

func (h *permits) crowded(of *host) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return of.visitors-h.perHost > max(h.perHost/crowdShare, 1)
}

// Busy is the outcome of an attempt that did not begin because no permit was free.
func (h *Hosts) Busy(origin string) entity.Outcome {
	return entity.NotBegun(hostPause/2+rand.N(hostPause), fmt.Sprintf(
		"%d calls of %s are under way from this node, which is the bound (executor.http.maxPerHost); the run is tried "+
			"again in a moment",
		h.permits.perHost, origin))
}
