// Package lock builds on repository.Locker: a locker that puts Redis before the
// store, and the election of the one node that does a duty. What locks are for
// and what they never decide is told in docs/locks.md.
package lock

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// rest is how long Redis is left alone after it did not answer, so that an
// outage does not cost each call a time-out.
const rest = 5 * time.Second

// Fallback is a repository.Locker that asks Redis first and falls back on the
// store alone while Redis does not answer; make it with NewFallback.
//
// A lock that is in Redis for those who reach it and in the store for those who
// do not would let two hold it at once: nobody can tell who is cut off from
// Redis. So here the store's lock is always taken and is the only one that
// counts; mutual exclusion, the answers and the fencing tokens are the store's.
// Redis stands before it as a gate: who is refused there does not trouble the
// store. A gate that is wrong, because Redis was emptied or a holder died, costs
// a question to the store, or the rest of one ttl; it never lets in a second.
// So a lock may be refused that nobody holds, while somebody else stands in the
// gate and is about to be refused by the store. A gate that has refused for two
// ttls is passed: its holder may be dead and its end far away, as after a jump of
// Redis' clock.
//
// While the store is away nobody gets a lock.
type Fallback struct {
	gate, store repository.Locker
	clock       clock.Clock
	log         *slog.Logger
	// restUntil is when Redis is asked again, in monotonic ns; 0 while it answers.
	restUntil atomic.Int64

	mu sync.Mutex
	// shut is since when the gate of a name has refused, or was last passed all
	// the same, in monotonic time.
	shut map[string]time.Duration
}

// maxShut bounds the names that are remembered.
const maxShut = 4 * repository.MaxLockNames

// NewFallback puts the gate, which is in Redis, before the store's locks.
func NewFallback(gate, store repository.Locker, c clock.Clock, log *slog.Logger) *Fallback {
	return &Fallback{gate: gate, store: store, clock: c, log: log, shut: map[string]time.Duration{}}
}

// TryLock implements repository.Locker.
func (f *Fallback) TryLock(ctx context.Context, name, holder string, ttl time.Duration) (repository.Lease, bool, error) {
	names := []string{name}
	if len(f.passGate(ctx, names, holder, ttl)) == 0 {
		return repository.Lease{}, false, nil
	}
	lease, ok, err := f.store.TryLock(ctx, name, holder, ttl)
	if !ok {
		f.leaveGate(ctx, names, holder)
	}
	return lease, ok, err
}

// Renew implements repository.Locker.
func (f *Fallback) Renew(ctx context.Context, l repository.Lease, ttl time.Duration) (bool, error) {
	ok, err := f.store.Renew(ctx, l, ttl)
	if ok {
		f.passGate(ctx, []string{l.Name}, l.Holder, ttl)
	}
	return ok, err
}

// Unlock implements repository.Locker.
func (f *Fallback) Unlock(ctx context.Context, l repository.Lease) (bool, error) {
	ok, err := f.store.Unlock(ctx, l)
	if ok {
		f.leaveGate(ctx, []string{l.Name}, l.Holder)
	}
	return ok, err
}

// ClaimMany implements repository.Locker.
func (f *Fallback) ClaimMany(ctx context.Context, names []string, holder string, ttl time.Duration) ([]string, error) {
	passed := f.passGate(ctx, names, holder, ttl)
	granted, err := f.store.ClaimMany(ctx, passed, holder, ttl)
	f.leaveGate(ctx, slices.DeleteFunc(slices.Clone(passed), func(name string) bool { return slices.Contains(granted, name) }), holder)
	return granted, err
}

// ReleaseMany implements repository.Locker.
func (f *Fallback) ReleaseMany(ctx context.Context, names []string, holder string) error {
	if err := f.store.ReleaseMany(ctx, names, holder); err != nil {
		return err
	}
	f.leaveGate(ctx, names, holder)
	return nil
}

// passGate returns those of the names whose gate is open, or all when nobody knows.
func (f *Fallback) passGate(ctx context.Context, names []string, holder string, ttl time.Duration) []string {
	if f.resting() {
		return names
	}
	open, err := f.gate.ClaimMany(ctx, names, holder, ttl)
	if f.noteRedis(ctx, err); err != nil {
		return names
	}
	return f.reopenStale(names, open, ttl)
}

// reopenStale adds to the open gates those that have been shut for two ttls.
func (f *Fallback) reopenStale(names, open []string, ttl time.Duration) []string {
	now := f.clock.Monotonic()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.shut) > maxShut {
		clear(f.shut)
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if slices.Contains(open, name) {
			delete(f.shut, name)
			return false
		}
		since, again := f.shut[name]
		if again && now-since < 2*ttl {
			return true
		}
		f.shut[name] = now
		return !again
	})
}

// leaveGate opens the gates to others. One that stays shut opens by itself.
func (f *Fallback) leaveGate(ctx context.Context, names []string, holder string) {
	if len(names) > 0 && !f.resting() {
		f.noteRedis(ctx, f.gate.ReleaseMany(ctx, names, holder))
	}
}

func (f *Fallback) resting() bool {
	until := f.restUntil.Load()
	return until != 0 && f.clock.Monotonic() < time.Duration(until)
}

// noteRedis notes whether Redis has answered. A caller whose own time is over says
// nothing of it.
func (f *Fallback) noteRedis(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		if f.restUntil.Swap(0) != 0 {
			f.log.InfoContext(ctx, "Redis answers again, locks ask it first")
		}
	case apperror.Is(err, apperror.KindUnavailable):
		if f.restUntil.Swap(int64(f.clock.Monotonic()+rest)) == 0 {
			f.log.WarnContext(ctx, "Redis does not answer, locks are in the store alone", "error", err)
		}
	}
}
