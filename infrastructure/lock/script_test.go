package lock_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

var errAway = apperror.New(apperror.KindUnavailable, "away", "the server is away")

// counted is a locker that tells of each call, and fails while it has an error.
type counted struct {
	repository.Locker
	mu    sync.Mutex
	err   error
	calls []string
}

func (c *counted) note(call string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, call)
	return c.err
}

// fail sets what the next calls fail with; nil: they work.
func (c *counted) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// seen returns the calls since the last time.
func (c *counted) seen() (calls []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls, c.calls = c.calls, nil
	return calls
}

func (c *counted) TryLock(ctx context.Context, name, holder string,
	ttl time.Duration,
) (l repository.Lease, ok bool, err error) {
	if err := c.note("lock"); err != nil {
		return l, false, err
	}
	return c.Locker.TryLock(ctx, name, holder, ttl)
}

func (c *counted) Renew(ctx context.Context, l repository.Lease, ttl time.Duration) (bool, error) {
	if err := c.note("renew"); err != nil {
		return false, err
	}
	return c.Locker.Renew(ctx, l, ttl)
}

func (c *counted) Unlock(ctx context.Context, l repository.Lease) (bool, error) {
	if err := errors.Join(c.note("unlock"), ctx.Err()); err != nil {
		return false, err
	}
	return c.Locker.Unlock(ctx, l)
}

func (c *counted) ClaimMany(ctx context.Context, names []string, holder string, ttl time.Duration) ([]string, error) {
	if err := c.note("claim"); err != nil {
		return nil, err
	}
	return c.Locker.ClaimMany(ctx, names, holder, ttl)
}

func (c *counted) ReleaseMany(ctx context.Context, names []string, holder string) error {
	if err := c.note("release"); err != nil {
		return err
	}
	return c.Locker.ReleaseMany(ctx, names, holder)
}
