// Package locktest is the contract of repository.Locker: one suite that runs
// against every implementation, and a check that random histories are
// linearizable.
package locktest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Subject is an implementation over an empty set of locks.
type Subject struct {
	// One and Two are what two nodes have: apart from each other, over the same
	// locks.
	One, Two repository.Locker
	// Pass lets time pass for the leases.
	Pass func(d time.Duration)
	// Away is a locker whose server has gone; nil where there is no server.
	Away repository.Locker
	// Empty takes away all that the server remembers; nil where that means the
	// loss of the product's data.
	Empty func(t *testing.T)
}

// long is a lease that does not end within a test; short is one that is waited for.
const (
	long  = time.Minute
	short = 60 * time.Millisecond
)

// Run runs the contract. It uses each lock's name once, so one subject serves
// all tests.
func Run(t *testing.T, s Subject) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s Subject)
	}{
		{"one at a time", oneAtATime},
		{"a holder does not lock twice", notTwice},
		{"a lease runs out", runsOut},
		{"a lease is renewed", renewed},
		{"only the holder renews and releases", wrongHolder},
		{"tokens grow", tokensGrow},
		{"odd names", oddNames},
		{"arguments out of range", outOfRange},
		{"a cancelled context", cancelled},
		{"many at once", many},
		{"claims meet", claimsMeet},
		{"claimed locks are locks", claimedAreLocks},
		{"a server that is away", away},
		{"a server that was emptied", emptied},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, s) })
	}
}

func take(t *testing.T, l repository.Locker, name, holder string, ttl time.Duration) repository.Lease {
	t.Helper()
	lease, ok, err := l.TryLock(t.Context(), name, holder, ttl)
	require.NoError(t, err)
	require.True(t, ok, "%s is free for %s", name, holder)
	require.Equal(t, name, lease.Name)
	require.Equal(t, holder, lease.Holder)
	require.Positive(t, lease.Token)
	require.False(t, lease.Until.IsZero())
	return lease
}

func refused(t *testing.T, l repository.Locker, name, holder string) {
	t.Helper()
	lease, ok, err := l.TryLock(t.Context(), name, holder, long)
	require.NoError(t, err)
	require.False(t, ok, "%s is held", name)
	require.Zero(t, lease)
}

func renew(t *testing.T, want bool, l repository.Locker, lease repository.Lease, ttl time.Duration) {
	t.Helper()
	ok, err := l.Renew(t.Context(), lease, ttl)
	require.NoError(t, err)
	require.Equal(t, want, ok, "renew")
}

func unlock(t *testing.T, want bool, l repository.Locker, lease repository.Lease) {
	t.Helper()
	ok, err := l.Unlock(t.Context(), lease)
	require.NoError(t, err)
	require.Equal(t, want, ok, "unlock")
}

func oneAtATime(t *testing.T, s Subject) {
	const clients, enough, tries = 8, 50, 1000
	var inside, taken, last atomic.Int64
	var wg sync.WaitGroup
	for n := range clients {
		l := s.One
		if n%2 == 1 {
			l = s.Two
		}
		wg.Go(func() {
			for range tries {
				if taken.Load() >= enough {
					return
				}
				lease, ok, err := l.TryLock(t.Context(), "contended", fmt.Sprint("n", n), long)
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					continue
				}
				if inside.Add(1) != 1 {
					t.Error("two hold it at once")
				}
				if former := last.Swap(lease.Token); former >= lease.Token {
					t.Errorf("token %d follows %d", lease.Token, former)
				}
				taken.Add(1)
				inside.Add(-1)
				if ok, err := l.Unlock(t.Context(), lease); err != nil || !ok {
					t.Error("unlock", ok, err)
				}
			}
		})
	}
	wg.Wait()
	require.GreaterOrEqual(t, taken.Load(), int64(enough), "what is given back can be taken")
}

func notTwice(t *testing.T, s Subject) {
	lease := take(t, s.One, "twice", "a", long)
	refused(t, s.One, "twice", "a")
	refused(t, s.Two, "twice", "b")
	unlock(t, true, s.One, lease)
	unlock(t, false, s.One, lease)
	unlock(t, true, s.Two, take(t, s.Two, "twice", "a", long))
}

func runsOut(t *testing.T, s Subject) {
	lease := take(t, s.One, "runs out", "a", short)
	s.Pass(2 * short)
	renew(t, false, s.One, lease, long)
	unlock(t, false, s.One, lease)
	next := take(t, s.Two, "runs out", "b", long)
	require.Greater(t, next.Token, lease.Token)
	renew(t, false, s.One, lease, long)
	unlock(t, false, s.One, lease)
	refused(t, s.One, "runs out", "a")
	unlock(t, true, s.Two, next)
}

func renewed(t *testing.T, s Subject) {
	lease := inTime(t, s)
	s.Pass(9 * short)
	refused(t, s.Two, "renewed", "b")
	renew(t, true, s.Two, lease, short) // a lease is its token, not the connection
	s.Pass(2 * short)
	take(t, s.Two, "renewed", "b", long)
}

// inTime takes a lease and renews it before it ends; where the machine was slower
// than that, it tries again.
func inTime(t *testing.T, s Subject) repository.Lease {
	t.Helper()
	for {
		began := time.Now()
		lease := take(t, s.One, "renewed", "a", 8*short)
		ok, err := s.One.Renew(t.Context(), lease, long)
		require.NoError(t, err)
		if ok {
			return lease
		}
		require.Greater(t, time.Since(began), 8*short, "a lease that has not ended is renewed")
	}
}

func wrongHolder(t *testing.T, s Subject) {
	lease := take(t, s.One, "mine", "a", long)
	for _, wrong := range []repository.Lease{
		{Name: "mine", Holder: "b", Token: lease.Token},
		{Name: "mine", Holder: "a", Token: lease.Token - 1},
		{Name: "mine", Holder: "a", Token: lease.Token + 1},
		{Name: "mine", Holder: "a"},
		{Name: "nobody's", Holder: "a", Token: lease.Token},
	} {
		renew(t, false, s.Two, wrong, long)
		unlock(t, false, s.Two, wrong)
	}
	refused(t, s.Two, "mine", "b")
	unlock(t, true, s.One, lease)
	free := repository.Lease{Name: "mine", Holder: "a", Token: lease.Token}
	renew(t, false, s.One, free, long)
}

func tokensGrow(t *testing.T, s Subject) {
	var last int64
	for n := range 20 {
		l, holder := s.One, "a"
		if n%3 == 0 {
			l, holder = s.Two, "b"
		}
		lease := take(t, l, "grow", holder, long)
		require.Greater(t, lease.Token, last)
		last = lease.Token
		if n%2 == 0 {
			unlock(t, true, l, lease)
			continue
		}
		require.NoError(t, l.ReleaseMany(t.Context(), []string{"grow"}, holder))
		unlock(t, false, l, lease)
	}
}

func oddNames(t *testing.T, s Subject) {
	names := []string{
		"x", "X", "x ", " x", "x\t", "ä", "a\u0308", "日本", "\x00", "\xff\xfe", "x\n", "{x}", "}{", "a:b", "%", "_", "'",
		`"; --`, "*", "sha256:00",
		strings.Repeat("y", repository.MaxLockName), strings.Repeat("y", repository.MaxLockName-1),
		strings.Repeat("y", repository.MaxLockName-1) + "z",
	}
	leases := make([]repository.Lease, len(names))
	for i, name := range names {
		leases[i] = take(t, s.One, name, "node.1-8080_x#3", long)
	}
	for i, name := range names {
		refused(t, s.Two, name, "b")
		unlock(t, true, s.One, leases[i])
	}
	granted, err := s.Two.ClaimMany(t.Context(), names, "b", long)
	require.NoError(t, err)
	require.Equal(t, names, granted)
	require.NoError(t, s.Two.ReleaseMany(t.Context(), names, "b"))
}

func outOfRange(t *testing.T, s Subject) {
	names := make([]string, repository.MaxLockNames+1)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	try := func(name, holder string, ttl time.Duration) error {
		_, ok, err := s.One.TryLock(t.Context(), name, holder, ttl)
		require.False(t, ok)
		return err
	}
	claim := func(names ...string) error {
		_, err := s.One.ClaimMany(t.Context(), names, "a", long)
		return err
	}
	_, renewed := s.One.Renew(t.Context(), repository.Lease{Name: "x", Holder: "a", Token: 1}, 0)
	_, unlocked := s.One.Unlock(t.Context(), repository.Lease{Name: "x", Token: 1})
	for what, err := range map[string]error{
		"no name": try("", "a", long), "a long name": try(strings.Repeat("x", repository.MaxLockName+1), "a", long),
		"no holder": try("x", "", long), "a holder with a space": try("x", "a b", long),
		"a foreign holder": try("x", "ä", long),
		"a long holder":    try("x", strings.Repeat("a", repository.MaxLockHolder+1), long),
		"no ttl":           try("x", "a", 0), "a negative ttl": try("x", "a", -long),
		"a ttl without end": try("x", "a", repository.MaxLockTTL+1),
		"too many":          claim(names...), "a name twice": claim("x", "y", "x"), "an empty one": claim("x", ""),
		"too many to release": s.One.ReleaseMany(t.Context(), names, "a"), "renew for nothing": renewed,
		"unlock for nobody": unlocked,
	} {
		require.True(t, apperror.Is(err, apperror.KindInvalid), "%s: %v", what, err)
	}
	granted, err := s.One.ClaimMany(t.Context(), nil, "a", long)
	require.NoError(t, err)
	require.Empty(t, granted)
	require.NoError(t, s.One.ReleaseMany(t.Context(), nil, "a"))
}

func cancelled(t *testing.T, s Subject) {
	lease := take(t, s.One, "kept", "a", long)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok, err := s.One.TryLock(ctx, "cancelled", "a", long)
	require.False(t, ok)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.One.ClaimMany(ctx, []string{"cancelled"}, "a", long)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.One.Renew(ctx, lease, long)
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.One.Unlock(ctx, lease)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.One.ReleaseMany(ctx, []string{"kept"}, "a"), context.Canceled)
	take(t, s.Two, "cancelled", "b", long)
	unlock(t, true, s.One, lease)
}

func away(t *testing.T, s Subject) {
	if s.Away == nil {
		return // there is no server
	}
	ctx, lease := t.Context(), repository.Lease{Name: "x", Holder: "a", Token: 1}
	_, ok, tried := s.Away.TryLock(ctx, "x", "a", long)
	require.False(t, ok)
	_, claimed := s.Away.ClaimMany(ctx, []string{"x"}, "a", long)
	_, renewed := s.Away.Renew(ctx, lease, long)
	_, unlocked := s.Away.Unlock(ctx, lease)
	for what, err := range map[string]error{
		"try": tried, "claim": claimed, "renew": renewed, "unlock": unlocked,
		"release": s.Away.ReleaseMany(ctx, []string{"x"}, "a"),
	} {
		require.True(t, apperror.Is(err, apperror.KindUnavailable), "%s: %v", what, err)
	}
}

func emptied(t *testing.T, s Subject) {
	if s.Empty == nil {
		return // what it keeps is the product's data
	}
	var last int64
	for range 3 {
		lease := take(t, s.One, "emptied", "a", long)
		require.Greater(t, lease.Token, last)
		last = lease.Token
		s.Empty(t)
		renew(t, false, s.One, lease, long)
		unlock(t, false, s.One, lease)
	}
}
