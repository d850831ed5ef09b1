package lock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/locktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestCallsOfALockerAreCounted(t *testing.T) {
	var seen []string
	l := lock.Count(dbtest.Open(t, dbtest.SQLite(t)).Locks, func(operation string, granted bool, err error) {
		seen = append(seen, fmt.Sprint(operation, " ", granted, " ", err != nil))
	})
	ctx, gone := t.Context(), context.Background()
	gone, cancel := context.WithCancel(gone)
	cancel()
	lease, ok, err := l.TryLock(ctx, "a", "one", time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = l.TryLock(ctx, "a", "two", time.Minute)
	require.NoError(t, err)
	require.False(t, ok)
	ok, err = l.Renew(ctx, lease, time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	granted, err := l.ClaimMany(ctx, []string{"a", "b"}, "two", time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, granted)
	require.NoError(t, l.ReleaseMany(ctx, []string{"b"}, "two"))
	ok, err = l.Unlock(ctx, lease)
	require.NoError(t, err)
	require.True(t, ok)
	_, _, err = l.TryLock(gone, "a", "one", time.Minute)
	require.Error(t, err)
	require.Equal(t, []string{
		"take true false", "take false false", "renew true false", "claim-many false false", "release-many true false",
		"release true false", "take false true",
	}, seen)
}

// Counting changes nothing of what a locker promises.
func TestACountedLockerKeepsTheContract(t *testing.T) {
	cfg := dbtest.SQLite(t)
	nobody := func(string, bool, error) {}
	locktest.Run(t, locktest.Subject{
		One: lock.Count(dbtest.Open(t, cfg).Locks, nobody), Two: lock.Count(dbtest.Open(t, cfg).Locks, nobody),
		Pass: time.Sleep, Away: lock.Count(&counted{err: errAway}, nobody),
	})
}
