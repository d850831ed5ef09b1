package lock_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/locktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/redislock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// over is a node's fallback lock, with the machine's clock.
func over(gate, store repository.Locker) *lock.Fallback {
	return lock.NewFallback(gate, store, clock.NewSystem(), silent())
}

func TestFallbackKeepsTheContractWhoeverReachesRedis(t *testing.T) {
	redistest.NeedRedis(t)
	client := redistest.Open(t, redistest.Config())
	gone := redislock.New(redistest.Open(t, redistest.Gone(t)), "gone")
	for _, c := range []struct {
		name     string
		one, two bool // reach Redis
	}{{"both", true, true}, {"one of two", true, false}, {"nobody", false, false}} {
		t.Run(c.name, func(t *testing.T) {
			space := "test-" + rand.Text()
			gate := func(reached bool) repository.Locker {
				if reached {
					return redislock.New(client, space)
				}
				return gone
			}
			cfg := dbtest.SQLite(t)
			one, two := over(gate(c.one), dbtest.Open(t, cfg).Locks), over(gate(c.two), dbtest.Open(t, cfg).Locks)
			away := over(gate(c.one), &counted{err: errAway})
			locktest.Run(t, locktest.Subject{One: one, Two: two, Pass: time.Sleep, Away: away})
			locktest.Exclusive(t, one, two)
			redistest.Forget(t, client, "{"+space+":lock}:")
		})
	}
}

func TestAnEmptiedGateLetsNobodyIn(t *testing.T) {
	cfg := dbtest.SQLite(t)
	cfg.Path += "-gate"
	gate := &counted{Locker: dbtest.Open(t, cfg).Locks}
	store := &counted{Locker: dbtest.Open(t, dbtest.SQLite(t)).Locks}
	f := over(gate, store)
	lease, ok, err := f.TryLock(t.Context(), "x", "a", time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	store.seen()
	_, ok, err = f.TryLock(t.Context(), "x", "b", time.Minute)
	require.NoError(t, err)
	require.False(t, ok)
	require.Empty(t, store.seen(), "the gate spares the store")

	require.NoError(t, gate.Locker.ReleaseMany(t.Context(), []string{"x"}, "a"))
	_, ok, err = f.TryLock(t.Context(), "x", "b", time.Minute)
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, []string{"lock"}, store.seen(), "the store knows better")
	granted, err := f.ClaimMany(t.Context(), []string{"x", "y"}, "b", time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"y"}, granted)

	ok, err = f.Renew(t.Context(), lease, time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = gate.Locker.TryLock(t.Context(), "x", "b", time.Minute)
	require.NoError(t, err)
	require.False(t, ok, "to renew shuts the gate again; who was refused has not kept it")
}

// A gate that refuses for ever, as after a jump of Redis' clock: the store is
// asked once in two ttls, and decides.
func TestAGateThatStaysShutIsPassed(t *testing.T) {
	manual := clocktest.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cfg := dbtest.SQLite(t)
	cfg.Path += "-gate"
	gate := dbtest.Open(t, cfg).Locks
	_, ok, err := gate.TryLock(t.Context(), "x", "dead", 24*time.Hour)
	require.NoError(t, err)
	require.True(t, ok)
	cfg = dbtest.SQLite(t)
	cfg.Clock = manual
	store := &counted{Locker: dbtest.Open(t, cfg).Locks}
	f := lock.NewFallback(gate, store, manual, silent())
	const ttl = 2 * time.Second
	holder, ok, err := store.Locker.TryLock(t.Context(), "x", "another", 10*time.Second)
	require.NoError(t, err)
	require.True(t, ok)
	var asked []time.Duration
	for range 40 {
		lease, ok, err := f.TryLock(t.Context(), "x", "b", ttl)
		require.NoError(t, err)
		if len(store.seen()) > 0 {
			asked = append(asked, manual.Monotonic())
		}
		if ok {
			require.Greater(t, lease.Token, holder.Token)
			break
		}
		manual.Advance(500 * time.Millisecond)
	}
	require.Equal(t, []time.Duration{4 * time.Second, 8 * time.Second, 12 * time.Second}, asked,
		"the holder's lease ends at 10 s")
}

// The store used up the caller's time: that says nothing of Redis.
func TestACallerWhoseTimeIsOverTellsNothingOfRedis(t *testing.T) {
	cfg := dbtest.SQLite(t)
	cfg.Path += "-gate"
	gate := &counted{Locker: dbtest.Open(t, cfg).Locks}
	f := over(gate, dbtest.Open(t, dbtest.SQLite(t)).Locks)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	gate.fail(errAway)
	_, _ = f.ClaimMany(over, []string{"x"}, "a", time.Minute)
	gate.fail(nil)
	gate.seen()
	_, err := f.ClaimMany(t.Context(), []string{"x"}, "a", time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"claim"}, gate.seen(), "it is asked")
}

func TestRedisIsLeftAloneWhileItIsAway(t *testing.T) {
	manual := clocktest.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cfg := dbtest.SQLite(t)
	cfg.Path += "-gate"
	gate := &counted{Locker: dbtest.Open(t, cfg).Locks}
	f := lock.NewFallback(gate, dbtest.Open(t, dbtest.SQLite(t)).Locks, manual, silent())
	round := func() []string {
		granted, err := f.ClaimMany(t.Context(), []string{"x"}, "a", time.Minute)
		require.NoError(t, err)
		require.Equal(t, []string{"x"}, granted)
		require.NoError(t, f.ReleaseMany(t.Context(), []string{"x"}, "a"))
		return gate.seen()
	}
	require.Equal(t, []string{"claim", "release"}, round())
	gate.fail(errAway)
	require.Equal(t, []string{"claim"}, round(), "one failure is enough")
	manual.Advance(4 * time.Second)
	require.Empty(t, round())
	manual.Advance(time.Second)
	require.Equal(t, []string{"claim"}, round(), "it is tried again")
	gate.fail(nil)
	manual.Advance(5 * time.Second)
	require.Equal(t, []string{"claim", "release"}, round())

	_, _, err := f.TryLock(t.Context(), "", "a", time.Minute)
	require.True(t, apperror.Is(err, apperror.KindInvalid))
	require.NotEmpty(t, round(), "a wrong argument is no outage")
}
