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

// Elector tells whether this node leads: it is a gocron.Elector, for duties
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

	// away: the locks have not answered since silent, in monotonic time. Both
	// belong to Run.
	away   bool
	silent time.Duration

	mu sync.Mutex
	// lease is the one that Run keeps, with Token 0 when there is none; it
	// counts from since until then, in monotonic time.
	lease        repository.Lease
	since, until time.Duration
}

// NewElector makes the elector of one lead. The holder names this life of this
// node. The lease is asked for and renewed three times in a ttl, so that nobody
// leads for at most four thirds of it after a leader has died. It counts a tenth
// less here than at the lock's server, because no two clocks run alike.
func NewElector(l repository.Locker, c clock.Clock, log *slog.Logger, name, holder string, ttl time.Duration) *Elector {
	return &Elector{locker: l, clock: c, log: log.With("lead", name), name: name, holder: holder, ttl: ttl}
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

// Since is from when on this node has led, in monotonic time; ok is false when
// it does not lead.
func (e *Elector) Since() (since time.Duration, ok bool) {
	if _, ok = e.Lease(); !ok {
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.since, true
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

// beat renews the lease, or stands for election. It waits no longer than until
// the next one is due. The lease is measured from before the call: the server's
// begins later and so ends later.
func (e *Elector) beat(ctx context.Context) {
	e.mu.Lock()
	lease := e.lease
	e.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, e.ttl/3)
	defer cancel()
	start := e.clock.Monotonic()
	if lease.Token != 0 {
		ok, err := e.locker.Renew(bounded, lease, e.ttl)
		if e.note(ctx, err); err != nil { // it may still be ours, and counts until it has run out here
			return
		}
		if ok {
			e.hold(lease, start)
			return
		}
		e.hold(repository.Lease{}, start)
		e.log.WarnContext(ctx, "this node has lost the lead")
	}
	lease, ok, err := e.locker.TryLock(bounded, e.name, e.holder, e.ttl)
	if e.note(ctx, err); ok && err == nil {
		e.hold(lease, start)
		e.log.InfoContext(ctx, "this node leads", "token", lease.Token)
	}
}

// note tells once that the locks do not answer, and once that they do again.
func (e *Elector) note(ctx context.Context, err error) {
	now := e.clock.Monotonic()
	switch {
	case err == nil && e.away:
		e.away = false
		e.log.InfoContext(ctx, "the locks answer again", "after", (now - e.silent).String())
	case err != nil && !e.away && ctx.Err() == nil:
		e.away, e.silent = true, now
		e.log.WarnContext(ctx, "the locks do not answer: nobody is elected, and who leads goes on until its lease ends", "error", err)
	}
}

func (e *Elector) hold(lease repository.Lease, start time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if lease.Token != e.lease.Token {
		e.since = start
	}
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
		e.log.WarnContext(ctx, "the lead ends when its lease does: it could not be given back", "error", err)
	}
}
