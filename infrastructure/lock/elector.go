package lock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// ErrNotLeader is the answer of IsLeader on all nodes but the leader.
var ErrNotLeader = errors.New("another node leads, or no node yet")

// resignTimeout bounds how long a node that stops releases its lead.
const resignTimeout = 2 * time.Second

// Elector reports whether this node leads: it is a gocron.Elector, for tasks that only
// the leader does. Make it with NewElector and keep Run running. The node leads while it
// holds the lock of that name and renews it in time.
//
// The elector is asked before a task starts. It does not stop a task when the node loses
// the lead. So a task that may last longer than a lease must allow two nodes at work: by
// conditional writes, or by the token of Lease in them.
type Elector struct {
	locker       repository.Locker
	clock        clock.Clock
	log          *slog.Logger
	name, holder string
	ttl          time.Duration

	// answers records whether the locks answer. Only Run uses it.
	answers *faillog.Recorder

	mu sync.Mutex
	// lease is the lease that Run keeps; its Token is 0 without one. It is valid from
	// since to until, in monotonic time.
	lease        repository.Lease
	since, until time.Duration
}

// NewElector makes the elector of one lead. The holder names this epoch of this node. The
// elector asks for the lease three times in a ttl. So no node leads for at most four
// thirds of a ttl after a leader has died. The lease counts a tenth less here than at the
// lock's server, because no two clocks run at the same speed.
func NewElector(l repository.Locker, c clock.Clock, log *slog.Logger, name, holder string, ttl time.Duration) *Elector {
	log = log.With("lead", name)
	return &Elector{
		locker: l, clock: c, log: log, name: name, holder: holder, ttl: ttl,
		answers: faillog.New(c, log, faillog.Texts{
			Fails: "the locks do not answer: no new leader is elected, and the present leader leads until its lease ends",
			Works: "the locks answer again",
		}),
	}
}

// IsLeader implements gocron's Elector: nil when this node leads. It answers from memory
// and never waits.
func (e *Elector) IsLeader(context.Context) error {
	if _, ok := e.Lease(); !ok {
		return ErrNotLeader
	}
	return nil
}

// Lease returns the lease by which this node leads; ok is false when it does not lead.
func (e *Elector) Lease() (lease repository.Lease, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lease.Token == 0 || e.clock.Monotonic() >= e.until {
		return repository.Lease{}, false
	}
	return e.lease, true
}

// Since returns since when this node leads, in monotonic time; ok is false when it does
// not lead.
func (e *Elector) Since() (since time.Duration, ok bool) {
	if _, ok = e.Lease(); !ok {
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.since, true
}

// Run campaigns for the lead and keeps it until ctx ends, then releases it. Call it once.
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

// beat renews the lease, or campaigns for it. It waits no longer than until the next
// beat. The lease counts from before the call: the server's lease begins later and so
// ends later.
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

// note records whether the locks answered. An error after the end of ctx proves nothing.
func (e *Elector) note(ctx context.Context, err error) {
	if err == nil || ctx.Err() == nil {
		e.answers.Observe(err)
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

// resign stops leading before another node may begin.
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
		e.log.WarnContext(ctx, "this node could not release the lead; the lead ends with its lease", "error", err)
	}
}
