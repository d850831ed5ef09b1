package lock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// ErrNotLeader is what IsLeader answers on all nodes but one.
var ErrNotLeader = errors.New("another node leads, or nobody yet")

// resignTimeout bounds the good-bye of a node that stops.
const resignTimeout = 2 * time.Second

// Elector tells whether this node leads: it is gocron's Elector, for duties
// that one node does. Make it with NewElector and keep Run running. The node
// leads while it holds the lock of that name and renews it in time.
//
// A duty is asked for before it starts and not stopped when the lead is lost
// under it. One that may last longer than a lease must stand two at work, by
// conditional writes, or carry the token of Lease in them.
type Elector struct {
	locker       repository.Locker
	clock        clock.Clock
	log          *slog.Logger
	name, holder string
	ttl          time.Duration

	mu sync.Mutex
	// lease is the one that Run keeps, with Token 0 when there is none; it
	// counts until then, in monotonic time.
	lease repository.Lease
	until time.Duration
}

// NewElector makes the elector of a duty. The holder names this life of this
// node. The ttl is how long nobody leads after a leader has died; it is renewed
// three times as often, and counts a tenth less here than at the lock's server,
// because no two clocks run alike.
func NewElector(l repository.Locker, c clock.Clock, log *slog.Logger, name, holder string, ttl time.Duration) *Elector {
	return &Elector{locker: l, clock: c, log: log.With("duty", name), name: name, holder: holder, ttl: ttl}
}

// IsLeader implements gocron's Elector: nil when this node leads. It asks
// nobody and never waits.
func (e *Elector) IsLeader(context.Context) error {
	if _, ok := e.Lease(); !ok {
		return ErrNotLeader
	}
	return nil
}

// Lease is what this node leads by; ok is false when it does not.
func (e *Elector) Lease() (lease repository.Lease, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lease.Token == 0 || e.clock.Monotonic() >= e.until {
		return repository.Lease{}, false
	}
	return e.lease, true
}

// Run stands for election and keeps the lead until ctx ends, then gives it
// back. It is called once.
func (e *Elector) Run(ctx context.Context) {
	timer := e.clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			e.resign(ctx)
			return
		case <-timer.C():
			timer.Reset(e.ttl / 3)
			e.beat(ctx)
		}
	}
}

// beat renews the lease, or stands for election. The lease is measured from
// before the call: the server's begins later and so ends later.
func (e *Elector) beat(ctx context.Context) {
	e.mu.Lock()
	lease := e.lease
	e.mu.Unlock()
	start := e.clock.Monotonic()
	if lease.Token != 0 {
		ok, err := e.locker.Renew(ctx, lease, e.ttl)
		if ok && err == nil {
			e.hold(lease, start)
			return
		}
		if err != nil { // it may still be ours, and counts until it has run out here
			e.log.WarnContext(ctx, "the lease of a duty was not renewed", "error", err)
			return
		}
		e.hold(repository.Lease{}, start)
		e.log.WarnContext(ctx, "this node has lost the lead of a duty")
	}
	lease, ok, err := e.locker.TryLock(ctx, e.name, e.holder, e.ttl)
	switch {
	case err != nil:
		e.log.WarnContext(ctx, "no election: the locks do not answer", "error", err)
	case ok:
		e.hold(lease, start)
		e.log.InfoContext(ctx, "this node leads a duty", "token", lease.Token)
	}
}

func (e *Elector) hold(lease repository.Lease, start time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease, e.until = lease, start+e.ttl-e.ttl/10
}

// resign stops to lead before others may begin.
func (e *Elector) resign(ctx context.Context) {
	e.mu.Lock()
	lease := e.lease
	e.lease = repository.Lease{}
	e.mu.Unlock()
	if lease.Token == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), resignTimeout)
	defer cancel()
	if _, err := e.locker.Unlock(ctx, lease); err != nil {
		e.log.WarnContext(ctx, "the lead of a duty ends when its lease does: it could not be given back", "error", err)
	}
}
