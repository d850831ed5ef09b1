package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

type signIn struct {
	*access.AuthService
	store  *accounts
	hasher *quickHasher
	clock  *clocktest.Manual
}

const rightPassword = "correct horse"

func newSignIn(t *testing.T) signIn {
	t.Helper()
	s := signIn{
		store: newAccounts(), hasher: &quickHasher{},
		clock: clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)),
	}
	s.AuthService = access.NewAuthService(s.store, s.store, dbtest.Open(t, dbtest.SQLite(t)), nil, s.hasher, s.clock)
	generated, err := s.EnsureFirstAdmin(t.Context(), rightPassword)
	require.NoError(t, err)
	require.Empty(t, generated)
	return s
}

func (s signIn) login(t *testing.T) access.Login {
	t.Helper()
	l, err := s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.1")
	require.NoError(t, err)
	return l
}

func TestLoginOpensASessionThatEnds(t *testing.T) {
	s := newSignIn(t)
	l := s.login(t)
	require.Equal(t, s.clock.Now().Add(12*time.Hour), l.ExpiresAt)
	require.GreaterOrEqual(t, len(l.Token), 64, "256 bits")

	u, err := s.Authenticate(t.Context(), l.Token)
	require.NoError(t, err)
	require.Equal(t, entity.RoleAdmin, u.User.Role)

	for hash := range s.store.sessions {
		require.NotContains(t, l.Token, hash)
		require.Len(t, hash, 64, "only the hash of a token is kept")
	}

	s.clock.Advance(12*time.Hour - time.Second)
	_, err = s.Authenticate(t.Context(), l.Token)
	require.NoError(t, err)
	s.clock.Advance(time.Second)
	_, err = s.Authenticate(t.Context(), l.Token)
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
}

func TestTokensDiffer(t *testing.T) {
	s := newSignIn(t)
	require.NotEqual(t, s.login(t).Token, s.login(t).Token)
}

func TestLogoutEndsTheSession(t *testing.T) {
	s := newSignIn(t)
	l := s.login(t)
	require.NoError(t, s.Logout(t.Context(), l.Token))
	_, err := s.Authenticate(t.Context(), l.Token)
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
	require.NoError(t, s.Logout(t.Context(), l.Token), "twice is no error")
}

func TestUnknownTokensAreRefused(t *testing.T) {
	s := newSignIn(t)
	for _, token := range []string{"", "x", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", strings.Repeat("a", 1<<20)} {
		_, err := s.Authenticate(t.Context(), token)
		servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
	}
}

func TestTokenOfARemovedUserIsRefused(t *testing.T) {
	s := newSignIn(t)
	l := s.login(t)
	clear(s.store.users)
	_, err := s.Authenticate(t.Context(), l.Token)
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
}

func TestUnknownUserAndWrongPasswordLookTheSame(t *testing.T) {
	s := newSignIn(t)
	cases := [][2]string{
		{access.FirstAdmin, "wrong password"},
		{"nobody", rightPassword},
		{"", ""},
		{"nobody", strings.Repeat("x", 10_000)},
		{strings.Repeat("n", 10_000), "x"},
		{"' OR 1=1 -- ", "x"},
	}
	var message string
	for i, c := range cases {
		before := s.hasher.calls
		_, err := s.Login(t.Context(), c[0], c[1], fmt.Sprint("addr", i))
		servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
		require.Equal(t, before+1, s.hasher.calls, "one hash of work, whatever is wrong")
		if message != "" {
			require.Equal(t, message, err.Error())
		}
		message = err.Error()
	}
}

func TestGuessingIsSlowedDown(t *testing.T) {
	s := newSignIn(t)
	var refused, checked int
	for range 1000 {
		_, err := s.Login(t.Context(), access.FirstAdmin, "wrong password", "192.0.2.9")
		if apperror.Is(err, apperror.KindTooMany) {
			var f *apperror.Error
			require.True(t, errors.As(err, &f))
			require.Positive(t, f.RetryAfterSec)
			refused++
			continue
		}
		servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
		checked++
	}
	require.Equal(t, 5, checked)
	require.Equal(t, 995, refused)

	// The right password does not help while the wait of this address lasts, and
	// does after it; other addresses need not wait.
	_, err := s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.9")
	servicetest.RequireKind(t, apperror.KindTooMany, err)
	s.login(t)
	s.clock.Advance(time.Second)
	_, err = s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.9")
	require.NoError(t, err)
	_, err = s.Login(t.Context(), access.FirstAdmin, "wrong password", "192.0.2.9")
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
}

func TestTheWaitGrowsAndStaysBelowAMinute(t *testing.T) {
	s := newSignIn(t)
	var waits []int
	for try := 0; len(waits) < 12; try++ {
		require.Less(t, try, 1000, "guessing goes on unhindered")
		_, err := s.Login(t.Context(), access.FirstAdmin, "wrong password", "192.0.2.9")
		var f *apperror.Error
		require.True(t, errors.As(err, &f))
		if f.Kind == apperror.KindTooMany {
			waits = append(waits, f.RetryAfterSec)
			s.clock.Advance(time.Duration(f.RetryAfterSec) * time.Second)
		}
	}
	require.Equal(t, []int{1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60}, waits)
}

func TestOneAddressCannotTryManyAccounts(t *testing.T) {
	s := newSignIn(t)
	var checked int
	for i := range 500 {
		_, err := s.Login(t.Context(), fmt.Sprint("user", i), "wrong password", "192.0.2.9")
		if apperror.Is(err, apperror.KindUnauthenticated) {
			checked++
		}
	}
	require.Equal(t, 20, checked)
	s.login(t) // other addresses are not concerned
}

// Whoever has one address of an IPv6 network has all of them.
func TestAnIPv6NetworkCountsAsOneAddress(t *testing.T) {
	s := newSignIn(t)
	checked := map[string]int{}
	for i := range 400 {
		for name, address := range map[string]string{
			"/64": fmt.Sprintf("2001:db8:0:1::%x", i), "/48": fmt.Sprintf("2001:db8:7:%x::1", i), "mapped": "::ffff:192.0.2.7",
		} {
			_, err := s.Login(t.Context(), fmt.Sprint(name, i), "wrong password", address)
			if apperror.Is(err, apperror.KindUnauthenticated) {
				checked[name]++
			}
		}
	}
	require.Equal(t, map[string]int{"/64": 20, "/48": 100, "mapped": 20}, checked)
	_, err := s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.7")
	servicetest.RequireKind(t, apperror.KindTooMany, err)
}

func TestParallelGuessesDoNotSlipThrough(t *testing.T) {
	s := newSignIn(t)
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			_, err := s.Login(t.Context(), access.FirstAdmin, "wrong password", "192.0.2.9")
			if err == nil {
				t.Error("a wrong password was accepted")
			}
		})
	}
	wg.Wait()
	require.Equal(t, 5, s.hasher.calls)
}

// guess tries wrong passwords from an address of its own each time, until ctx
// ends.
func guess(ctx context.Context, s *access.AuthService, pace time.Duration) {
	var tries sync.WaitGroup
	defer tries.Wait()
	for i := 0; ctx.Err() == nil; i++ {
		address := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
		tries.Go(func() { _, _ = s.Login(ctx, access.FirstAdmin, "wrong password", address) })
		_ = clock.Sleep(ctx, clock.NewSystem(), pace)
	}
}

// A stranger who guesses from ever new addresses does not keep the owner out,
// and does not get to guess much.
func TestAStrangerCannotKeepTheOwnerOut(t *testing.T) {
	for name, c := range map[string]struct {
		pace    time.Duration
		address func(i int) string
		slowest time.Duration
	}{
		"a flood, and the owner where the owner was before": {50 * time.Millisecond, func(int) string {
			return "192.0.2.1"
		}, 0},
		"slower, and the owner in a new place each time": {time.Second, func(i int) string {
			return fmt.Sprint("192.0.2.", i)
		}, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, hasher, machine := newAccounts(), &quickHasher{}, clock.NewSystem()
				s := access.NewAuthService(store, store, nil, nil, hasher, machine)
				_, err := s.EnsureFirstAdmin(t.Context(), rightPassword)
				require.NoError(t, err)
				_, err = s.Login(t.Context(), access.FirstAdmin, rightPassword, c.address(0))
				require.NoError(t, err)

				ctx, stop := context.WithCancel(t.Context())
				var stranger sync.WaitGroup
				stranger.Go(func() { guess(ctx, s, c.pace) })
				require.NoError(t, clock.Sleep(ctx, machine, 5*time.Minute))
				before := hasher.count()
				for i := range 25 {
					began := machine.Monotonic()
					_, err := s.Login(ctx, access.FirstAdmin, rightPassword, c.address(i))
					require.NoError(t, err, "try %d", i)
					require.LessOrEqual(t, machine.Monotonic()-began, c.slowest, "try %d", i)
					require.NoError(t, clock.Sleep(ctx, machine, 3*time.Second))
				}
				require.LessOrEqual(t, hasher.count()-before, 25+10+2*25*(3+int(c.slowest.Seconds())), "guesses are rare")
				stop()
				stranger.Wait()
			})
		})
	}
}

// sites are where somebody has signed in from, latest first.
type sites []string

func (s sites) SignInAddresses(context.Context, string) ([]string, error) { return s, nil }

// A node that knows nothing of the owner, as it has just begun or the owner signed
// in at others, asks the past while many guess.
func TestAnOwnerIsKnownAtEveryNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, hasher, machine := newAccounts(), &quickHasher{}, clock.NewSystem()
		s := access.NewAuthService(store, store, nil, sites{"192.0.2.9", "2001:db8::1"}, hasher, machine)
		_, err := s.EnsureFirstAdmin(t.Context(), rightPassword)
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		var stranger sync.WaitGroup
		stranger.Go(func() { guess(ctx, s, 50*time.Millisecond) })
		require.NoError(t, clock.Sleep(ctx, machine, 5*time.Minute))
		for range 25 {
			for _, address := range []string{"192.0.2.9", "2001:db8::2"} {
				began := machine.Monotonic()
				_, err := s.Login(ctx, access.FirstAdmin, rightPassword, address)
				require.NoError(t, err, address)
				require.Zero(t, machine.Monotonic()-began)
			}
			require.NoError(t, clock.Sleep(ctx, machine, 3*time.Second))
		}
		stop()
		stranger.Wait()
	})
}

// Tries of strangers do not take all places where passwords are checked.
func TestOwnersHavePlacesOfTheirOwn(t *testing.T) {
	store, hasher := newAccounts(), &slowHasher{release: make(chan struct{})}
	s := access.NewAuthService(store, store, nil, nil, hasher, clocktest.NewManual(time.Now()))
	_, err := s.EnsureFirstAdmin(t.Context(), rightPassword)
	require.NoError(t, err)
	close(hasher.release)
	_, err = s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.1")
	require.NoError(t, err)

	hasher.release = make(chan struct{})
	var strangers sync.WaitGroup
	outcomes := make(chan error, 100)
	for i := range 100 {
		strangers.Go(func() {
			_, err := s.Login(t.Context(), fmt.Sprint("user", i), "wrong password", fmt.Sprint("10.0.0.", i))
			outcomes <- err
		})
	}
	for range 100 - 24 {
		servicetest.RequireKind(t, apperror.KindTooMany, <-outcomes)
	}
	owner := make(chan error)
	go func() {
		_, err := s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.1")
		owner <- err
	}()
	close(hasher.release)
	require.NoError(t, <-owner)
	strangers.Wait()
}

func TestAStoreThatIsAwayIsNoWrongGuess(t *testing.T) {
	s := newSignIn(t)
	l := s.login(t)
	s.store.err = apperror.Unavailable(errors.New("down"))
	for range 50 {
		_, err := s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.1")
		servicetest.RequireKind(t, apperror.KindUnavailable, err)
	}
	_, err := s.Authenticate(t.Context(), l.Token)
	servicetest.RequireKind(t, apperror.KindUnavailable, err)
	s.store.err = nil
	s.login(t)
}

func TestTheGuardStaysBounded(t *testing.T) {
	s := newSignIn(t)
	for i := range 12_000 {
		_, err := s.Login(t.Context(), fmt.Sprint("user", i), "wrong password", fmt.Sprint("addr", i))
		servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
		if i%1000 == 0 {
			s.clock.Advance(time.Second)
		}
	}
	require.LessOrEqual(t, s.GuardSize(), 10_000)
}

func TestChangePassword(t *testing.T) {
	s := newSignIn(t)
	l := s.login(t)
	id := l.User.ID
	for _, c := range []struct{ old, fresh, field, code string }{
		{"wrong password", "a new password", "oldPassword", "wrong_password"},
		{rightPassword, "short", "newPassword", "too_short"},
		{rightPassword, strings.Repeat("x", 257), "newPassword", "too_long"},
		{rightPassword, "Password12", "newPassword", "too_common"},
		{rightPassword, "          ", "newPassword", "too_common"},
		{rightPassword, rightPassword, "newPassword", "unchanged"},
		{rightPassword, "bad\xffpassword", "newPassword", "invalid_text"},
	} {
		_, err := s.ChangePassword(t.Context(), id, access.PasswordChange{Old: c.old, New: c.fresh})
		var f *apperror.Error
		require.True(t, errors.As(err, &f), c.fresh)
		require.Equal(t, apperror.KindInvalid, f.Kind)
		require.Equal(t, []string{c.field, c.code}, []string{f.Fields[0].Field, f.Fields[0].Code})
	}
	renewed, err := s.ChangePassword(t.Context(), id, access.PasswordChange{Old: rightPassword, New: "a new password"})
	require.NoError(t, err)
	require.Nil(t, renewed)
	_, err = s.Authenticate(t.Context(), l.Token)
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
	_, err = s.Login(t.Context(), access.FirstAdmin, rightPassword, "192.0.2.1")
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
	_, err = s.Login(t.Context(), access.FirstAdmin, "a new password", "192.0.2.1")
	require.NoError(t, err)
}

func TestAStolenSessionCannotGuessThePassword(t *testing.T) {
	s := newSignIn(t)
	id := s.login(t).User.ID
	for range 5 {
		_, err := s.ChangePassword(t.Context(), id, access.PasswordChange{Old: "wrong password", New: "a new password"})
		servicetest.RequireKind(t, apperror.KindInvalid, err)
	}
	_, err := s.ChangePassword(t.Context(), id, access.PasswordChange{Old: rightPassword, New: "a new password"})
	servicetest.RequireKind(t, apperror.KindTooMany, err)
}

// Every session ends with the old password. A user who had to change it goes on with a new one; a
// change of one's own accord asks for another sign-in.
func TestAForcedChangeGoesOnWithANewSession(t *testing.T) {
	s := newSignIn(t)
	before, other := s.login(t), s.login(t)
	id := before.User.ID
	renewed, err := s.ChangePassword(t.Context(), id,
		access.PasswordChange{Old: rightPassword, New: "a new password", Renew: true})
	require.NoError(t, err)
	for _, token := range []string{before.Token, other.Token} {
		_, err = s.Authenticate(t.Context(), token)
		servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
	}
	who, err := s.Authenticate(t.Context(), renewed.Token)
	require.NoError(t, err)
	require.Equal(t, []any{id, false}, []any{who.User.ID, who.User.MustChangePassword})
	require.Equal(t, s.clock.Now().Add(access.SessionLife), renewed.ExpiresAt)

	renewed, err = s.ChangePassword(t.Context(), id,
		access.PasswordChange{Old: "a new password", New: "third password", Renew: true})
	require.NoError(t, err)
	require.Nil(t, renewed)
	require.Empty(t, s.store.sessions)
}

func TestTheFirstAdminIsMadeOnce(t *testing.T) {
	store := newAccounts()
	s := access.NewAuthService(store, store, nil, nil, &quickHasher{}, clocktest.NewManual(time.Now()))
	generated, err := s.EnsureFirstAdmin(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, generated, 64)
	_, err = s.Login(t.Context(), "admin", generated, "x")
	require.NoError(t, err)

	again, err := s.EnsureFirstAdmin(t.Context(), "another password")
	require.NoError(t, err)
	require.Empty(t, again)
	require.Len(t, store.users, 1)
}

func TestAWeakFirstPasswordIsRefused(t *testing.T) {
	store := newAccounts()
	s := access.NewAuthService(store, store, nil, nil, &quickHasher{}, clocktest.NewManual(time.Now()))
	for _, weak := range []string{"admin", "12345678", "short"} {
		_, err := s.EnsureFirstAdmin(t.Context(), weak)
		servicetest.RequireKind(t, apperror.KindInvalid, err)
	}
	require.Empty(t, store.users)
}

// lateAccounts sees no user when counting, as a node that starts at the same
// time as another does.
type lateAccounts struct{ *accounts }

func (lateAccounts) CountUsers(context.Context) (int, error) { return 0, nil }

func TestTwoNodesMakeOneAdmin(t *testing.T) {
	store := lateAccounts{newAccounts()}
	s := access.NewAuthService(store, store, nil, nil, &quickHasher{}, clocktest.NewManual(time.Now()))
	first, err := s.EnsureFirstAdmin(t.Context(), "")
	require.NoError(t, err)
	require.NotEmpty(t, first)
	second, err := s.EnsureFirstAdmin(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, second, "a password that was not stored must not be told to anyone")
}
