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
	// lineWait is how long an attempt waits on its node for a permit of its host, without
	// a slot. Then it is free for other nodes again.
	lineWait = 30 * time.Second
	// permitWait is how long one waits that keeps its slot from others.
	permitWait = time.Second
	// hostPause is how long an attempt without a permit stays away, plus or minus a half.
	// So runs of one moment do not return at one moment.
	hostPause = 2 * time.Second
	// crowdShare bounds the attempts that wait with a slot: one for each four calls that
	// hold a permit. Later ones are turned away at once.
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

// reserve takes a permit of a host before an attempt begins. It fails with ErrBusy, or
// when ctx ends.
func (h *permits) reserve(ctx context.Context, c clock.Clock, name string, run entity.Run, rep entity.Reporter,
) (*Reservation, error) {
	if v := h.try(name); v != nil {
		return &Reservation{visit: v}, nil
	}
	if run.Parking == nil {
		return h.crowd(ctx, c, name, run.Execution.DueTime, rep)
	}
	begins := rep.Waits()
	parked, ok := run.Parking.Park(name)
	if !ok {
		return nil, ErrBusy
	}
	v, err := h.wait(ctx, c, name, run.Execution.DueTime, lineWait, parked.Closing())
	if err != nil {
		return nil, err
	}
	if err := parked.Resume(ctx); err != nil {
		v.leave()
		if errors.Is(err, entity.ErrParkingClosed) {
			err = ErrBusy
		}
		return nil, err
	}
	begins()
	return &Reservation{visit: v, waited: true}, nil
}

// crowd waits for a permit with a slot of the node, where that cannot be given back.
func (h *permits) crowd(ctx context.Context, c clock.Clock, name string, due time.Time, rep entity.Reporter,
) (*Reservation, error) {
	if !h.joinCrowd(name, 1) {
		return nil, ErrBusy
	}
	defer h.joinCrowd(name, -1)
	begins := rep.Waits()
	v, err := h.wait(ctx, c, name, due, permitWait, nil)
	if err != nil {
		return nil, err
	}
	begins()
	return &Reservation{visit: v, waited: true}, nil
}

// wait stands in the line of a host, for a while at most or until closing is closed.
func (h *permits) wait(ctx context.Context, c clock.Clock, name string, due time.Time, limit time.Duration,
	closing <-chan struct{},
) (*visit, error) {
	v, w := h.begin(name, due)
	if w == nil {
		return v, nil
	}
	err := ErrBusy
	timer := c.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-w.ready:
		return v, nil
	case <-timer.C():
	case <-closing:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	v.withdraw(w)
	return nil, err
}

// joinCrowd adds to the attempts that wait with a slot; false where there is no room.
func (h *permits) joinCrowd(name string, n int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.host(name)
	if n > 0 && called.crowd >= max(h.perHost/crowdShare, 1) {
		return false
	}
	called.crowd += n
	(&visit{h, called}).forget()
	return true
}

// Busy is the outcome of an attempt that did not begin because no permit was free.
func (h *Hosts) Busy(origin string) entity.Outcome {
	return entity.NotBegun(hostPause/2+rand.N(hostPause), fmt.Sprintf(
		"%d calls of %s are under way from this node, which is the bound (executor.http.maxPerHost); the run is tried "+
			"again in a moment",
		h.permits.perHost, origin))
}
