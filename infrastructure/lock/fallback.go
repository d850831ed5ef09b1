// Package lock builds on repository.Locker: a locker that asks Redis before the store,
// and the election of a leader. docs/locks.md says what locks are for and what they
// never decide.
package lock

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// rest is how long the locker does not ask Redis after it did not answer: an outage
// must not cost each call a time-out.
const rest = 5 * time.Second

// Fallback is a repository.Locker that asks Redis first and uses the store alone while
// Redis does not answer. Make it with NewFallback.
//
// A lock in Redis for some nodes and in the store for others would allow two holders:
// no node knows which nodes reach Redis. So Fallback always takes the store's lock, and
// only that counts: for mutual exclusion, answers and fencing tokens. Redis is a gate
// before the store: a caller that the gate refuses does not ask the store.
//
// A wrong gate, after Redis lost its data or a holder died, costs a question to the
// store, or the rest of one ttl. It never admits a second holder. Fallback may refuse a
// free lock while another caller holds the gate and the store is about to refuse it.
// After two ttls Fallback passes a gate that still refuses: its holder may be dead and
// its end far away, for example after a jump of Redis' clock.
//
// While the store is away, no caller gets a lock.
type Fallback struct {
	gate, store repository.Locker
	clock       clock.Clock

	mu sync.Mutex
	// redis records whether Redis answers. While it does not, restUntil is when it is
	// asked again, in monotonic time.
	redis     *faillog.Recorder
	restUntil time.Duration
	// shut is since when the gate of a name refuses, or was last passed anyway, in
	// monotonic time.
	shut map[string]time.Duration
}

// maxShut bounds the names in shut.
const maxShut = 4 * repository.MaxLockNames

// NewFallback puts the gate in Redis before the store's locks.
func NewFallback(gate, store repository.Locker, c clock.Clock, log *slog.Logger) *Fallback {
	return &Fallback{
		gate: gate, store: store, clock: c, shut: map[string]time.Duration{},
		redis: faillog.New(c, log, faillog.Texts{
			Fails: "Redis does not answer, locks are in the store alone",
			Works: "Redis answers again, locks ask it first",
		}),
	}
}

// TryLock implements repository.Locker.
func (f *Fallback) TryLock(ctx context.Context, name, holder string,
	ttl time.Duration,
) (repository.Lease, bool, error) {
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
	f.leaveGate(ctx, slices.DeleteFunc(slices.Clone(passed), func(name string) bool {
		return slices.Contains(granted, name)
	}), holder)
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

// passGate returns the names whose gate is open, or all when Redis does not answer.
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

// reopenStale adds to the open gates those that were shut for two ttls.
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

// leaveGate opens the gates for others. A gate that stays shut ends with its ttl.
func (f *Fallback) leaveGate(ctx context.Context, names []string, holder string) {
	if len(names) > 0 && !f.resting() {
		f.noteRedis(ctx, f.gate.ReleaseMany(ctx, names, holder))
	}
}

func (f *Fallback) resting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.redis.Failing() && f.clock.Monotonic() < f.restUntil
}

// noteRedis records whether Redis answered. A caller whose own context has ended proves
// nothing about Redis.
func (f *Fallback) noteRedis(ctx context.Context, err error) {
	if ctx.Err() != nil || err != nil && !apperror.Is(err, apperror.KindUnavailable) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.restUntil = f.clock.Monotonic() + rest
	f.redis.Observe(err)
}
