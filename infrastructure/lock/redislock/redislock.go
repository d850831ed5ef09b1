// Package redislock keeps leases in Redis.
package redislock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// keep is how long the token of a lock is remembered after its lease. Later, or
// when Redis was emptied, a token is the time in µs, which is above all that
// were granted before unless Redis's clock was set back as well.
const keep = 24 * time.Hour

// Locks is a repository.Locker over Redis; make it with New. Each call is one
// script and one round trip, ClaimMany too. The clock is Redis's.
//
// A Redis that is emptied, evicts keys or loses its primary before the replica
// has caught up forgets who holds what, and lets a second holder in. So these
// locks only keep nodes out of each other's way, and their tokens guard no
// writes to the store: those come from the store's own locks.
type Locks struct {
	client                 redis.UniversalClient
	prefix                 string
	claim, change, release *redis.Script
}

// New keeps locks under the keys {space:lock}:name. The braces put all of them
// into one slot of a cluster, so that one script can work on many. Space is
// made of letters, digits, dashes and colons, and tells apart installations
// that share a Redis.
func New(client redis.UniversalClient, space string) *Locks {
	return &Locks{
		client: client, prefix: "{" + space + ":lock}:",
		claim: redis.NewScript(claimScript), change: redis.NewScript(changeScript), release: redis.NewScript(releaseScript),
	}
}

// TryLock implements repository.Locker.
func (l *Locks) TryLock(ctx context.Context, name, holder string, ttl time.Duration) (repository.Lease, bool, error) {
	if err := repository.CheckLock(holder, ttl, name); err != nil {
		return repository.Lease{}, false, err
	}
	until, tokens, err := l.take(ctx, []string{name}, holder, ttl, 0)
	if err != nil || tokens[0] == 0 {
		return repository.Lease{}, false, err
	}
	return repository.Lease{Name: name, Holder: holder, Token: tokens[0], Until: until}, true, nil
}

// ClaimMany implements repository.Locker.
func (l *Locks) ClaimMany(ctx context.Context, names []string, holder string, ttl time.Duration) ([]string, error) {
	if err := repository.CheckLock(holder, ttl, names...); err != nil || len(names) == 0 {
		return nil, err
	}
	_, tokens, err := l.take(ctx, names, holder, ttl, 1)
	if err != nil {
		return nil, err
	}
	var granted []string
	for i, name := range names {
		if tokens[i] != 0 {
			granted = append(granted, name)
		}
	}
	return granted, nil
}

// take runs the claim; own is 1 to renew what the holder has.
func (l *Locks) take(ctx context.Context, names []string, holder string, ttl time.Duration,
	own int,
) (until time.Time, tokens []int64, err error) {
	out, err := l.claim.Run(ctx, l.client, l.keys(names), holder, ttl.Milliseconds(), keep.Milliseconds(), own).
		Int64Slice()
	if err != nil {
		return until, nil, away("claim locks", err)
	}
	if len(out) != len(names)+1 {
		return until, nil, fmt.Errorf("claim locks: %d answers for %d names", len(out), len(names))
	}
	return time.UnixMilli(out[0]).UTC(), out[1:], nil
}

// Renew implements repository.Locker.
func (l *Locks) Renew(ctx context.Context, lease repository.Lease, ttl time.Duration) (bool, error) {
	if err := repository.CheckLock(lease.Holder, ttl, lease.Name); err != nil {
		return false, err
	}
	return l.end(ctx, "renew a lock", lease, ttl)
}

// Unlock implements repository.Locker.
func (l *Locks) Unlock(ctx context.Context, lease repository.Lease) (bool, error) {
	if err := repository.CheckLock(lease.Holder, repository.MinLockTTL, lease.Name); err != nil {
		return false, err
	}
	return l.end(ctx, "release a lock", lease, 0)
}

func (l *Locks) end(ctx context.Context, what string, lease repository.Lease, ttl time.Duration) (bool, error) {
	n, err := l.change.Run(ctx, l.client, l.keys([]string{lease.Name}), lease.Holder, lease.Token, ttl.Milliseconds(),
		keep.Milliseconds()).Int64()
	return n == 1, away(what, err)
}

// ReleaseMany implements repository.Locker.
func (l *Locks) ReleaseMany(ctx context.Context, names []string, holder string) error {
	if err := repository.CheckLock(holder, repository.MinLockTTL, names...); err != nil || len(names) == 0 {
		return err
	}
	return away("release locks", l.release.Run(ctx, l.client, l.keys(names), holder, keep.Milliseconds()).Err())
}

func (l *Locks) keys(names []string) []string {
	return convert.All(names, func(name string) string { return l.prefix + name })
}

// away reports whatever goes wrong with Redis as unavailable, except that the
// caller has given up.
func away(what string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %w", what, apperror.New(apperror.KindUnavailable, "redis_unavailable",
		"Redis is unavailable, try again"), err)
}
