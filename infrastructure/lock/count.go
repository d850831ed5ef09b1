package lock

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Note is told of each call of a Locker. operation is take, renew, release, claim-many or release-many; granted
// is false where the lock was refused, or a lease was over. It must not wait.
type Note func(operation string, granted bool, err error)

// Count tells note of each call of the locker. The calls themselves stay as they are.
func Count(l repository.Locker, note Note) repository.Locker { return &noted{l, note} }

type noted struct {
	of   repository.Locker
	note Note
}

// TryLock implements repository.Locker.
func (n *noted) TryLock(ctx context.Context, name, holder string, ttl time.Duration) (repository.Lease, bool, error) {
	lease, ok, err := n.of.TryLock(ctx, name, holder, ttl)
	n.note("take", ok, err)
	return lease, ok, err
}

// Renew implements repository.Locker.
func (n *noted) Renew(ctx context.Context, lease repository.Lease, ttl time.Duration) (bool, error) {
	ok, err := n.of.Renew(ctx, lease, ttl)
	n.note("renew", ok, err)
	return ok, err
}

// Unlock implements repository.Locker.
func (n *noted) Unlock(ctx context.Context, lease repository.Lease) (bool, error) {
	ok, err := n.of.Unlock(ctx, lease)
	n.note("release", ok, err)
	return ok, err
}

// ClaimMany implements repository.Locker. It counts as granted where all were.
func (n *noted) ClaimMany(ctx context.Context, names []string, holder string, ttl time.Duration) ([]string, error) {
	granted, err := n.of.ClaimMany(ctx, names, holder, ttl)
	n.note("claim-many", len(granted) == len(names), err)
	return granted, err
}

// ReleaseMany implements repository.Locker.
func (n *noted) ReleaseMany(ctx context.Context, names []string, holder string) error {
	err := n.of.ReleaseMany(ctx, names, holder)
	n.note("release-many", err == nil, err)
	return err
}
