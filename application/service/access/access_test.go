package access_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// house is users, tokens and sign-in over a real store.
type house struct {
	users  *access.UserService
	tokens *access.TokenService
	auth   *access.AuthService
	store  *persistence.Store
	clock  *clocktest.Manual
}

func newHouse(t *testing.T) house {
	t.Helper()
	h := house{store: dbtest.Open(t, dbtest.SQLite(t)), clock: clocktest.NewManual(enginetest.Noon)}
	hasher := &quickHasher{}
	h.users = access.NewUserService(h.store, h.store, hasher, h.clock)
	h.tokens = access.NewTokenService(h.store, h.clock)
	h.auth = access.NewAuthService(h.store, h.store, h.store, nil, hasher, h.clock)
	_, err := h.auth.EnsureFirstAdmin(t.Context(), rightPassword)
	require.NoError(t, err)
	return h
}

func (h house) user(t *testing.T, name string, role entity.Role) entity.User {
	t.Helper()
	u, err := h.users.Create(t.Context(), access.UserInput{Name: name, Password: rightPassword, Role: role})
	require.NoError(t, err)
	return u
}

func (h house) token(t *testing.T, userID string, scopes []string) (entity.Token, string) {
	t.Helper()
	token, secret, err := h.tokens.Create(t.Context(), userID,
		access.TokenInput{Name: "CI", Scopes: scopes, ExpiresAt: h.clock.Now().Add(time.Hour)})
	require.NoError(t, err)
	return token, secret
}

func (h house) refused(t *testing.T, token string) {
	t.Helper()
	_, err := h.auth.Authenticate(t.Context(), token)
	servicetest.RequireKind(t, apperror.KindUnauthenticated, err)
}

func TestATokenStandsForItsOwner(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleOperator)
	made, secret := h.token(t, bob.ID, []string{"job:read"})
	who, err := h.auth.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	require.Equal(t, bob.ID, who.User.ID)
	require.Equal(t, []any{made.ID, []string{"job:read"}}, []any{who.TokenID, who.Scopes})
	require.Equal(t, entity.Actor{User: who.User.Name, Token: made.Name}, who.Actor())

	used := func() time.Time {
		tokens, _, err := h.tokens.List(t.Context(), bob.ID, repository.Page{})
		require.NoError(t, err)
		return tokens[0].LastUsedAt
	}
	require.Equal(t, enginetest.Noon, used())
	h.clock.Advance(59 * time.Second)
	_, err = h.auth.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	require.Equal(t, enginetest.Noon, used(), "not every call is a write")
	h.clock.Advance(time.Second)
	_, err = h.auth.Authenticate(t.Context(), secret)
	require.NoError(t, err)
	require.Equal(t, enginetest.Noon.Add(time.Minute), used())

	h.clock.Advance(time.Hour)
	h.refused(t, secret)
}

func TestATokenEndsWithItsRightToBe(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleOperator)
	made, revoked := h.token(t, bob.ID, nil)
	_, err := h.tokens.Revoke(t.Context(), made.ID, "another")
	servicetest.RequireKind(t, apperror.KindNotFound, err)
	_, err = h.tokens.Revoke(t.Context(), made.ID, bob.ID)
	require.NoError(t, err)
	h.refused(t, revoked)

	_, disabled := h.token(t, bob.ID, nil)
	_, err = h.users.Change(t.Context(), bob.ID, access.UserInput{Role: entity.RoleDisabled, Password: ""})
	require.NoError(t, err)
	h.refused(t, disabled)
	_, err = h.users.Change(t.Context(), bob.ID, access.UserInput{Role: entity.RoleViewer, Password: ""})
	require.NoError(t, err)
	who, err := h.auth.Authenticate(t.Context(), disabled)
	require.NoError(t, err)
	require.Equal(t, entity.RoleViewer, who.User.Role)
	require.NoError(t, h.users.Delete(t.Context(), bob.ID))
	h.refused(t, disabled)
	h.refused(t, "pst_unknown")
}

func TestAChangeOfAUserEndsTheSessions(t *testing.T) {
	for name, change := range map[string]func(h house, id string) error{
		"role": func(h house, id string) error {
			_, err := h.users.Change(t.Context(), id, access.UserInput{Role: entity.RoleViewer, Password: ""})
			return err
		},
		"password": func(h house, id string) error {
			_, err := h.users.Change(t.Context(), id, access.UserInput{Role: entity.RoleOperator, Password: "another horse"})
			return err
		},
		"disabled": func(h house, id string) error {
			_, err := h.users.Change(t.Context(), id, access.UserInput{Role: entity.RoleDisabled, Password: ""})
			return err
		},
		"deleted": func(h house, id string) error { return h.users.Delete(t.Context(), id) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			bob := h.user(t, "bob", entity.RoleOperator)
			login, err := h.auth.Login(t.Context(), "bob", rightPassword, "::1")
			require.NoError(t, err)
			require.NoError(t, change(h, bob.ID))
			h.refused(t, login.Token)
			_, err = h.auth.Login(t.Context(), "bob", rightPassword, "::1")
			require.Equal(t, name == "role", err == nil, "%v", err)
		})
	}
}

// A thief of an account loses it with its password: sessions and API tokens.
func TestAnotherPasswordEndsTheTokens(t *testing.T) {
	for name, change := range map[string]func(h house, id string, keep bool) error{
		"one's own": func(h house, id string, keep bool) error {
			_, err := h.auth.ChangePassword(t.Context(), id,
				access.PasswordChange{Old: rightPassword, New: "another horse", KeepTokens: keep})
			return err
		},
		"by an admin": func(h house, id string, keep bool) error {
			_, err := h.users.Change(t.Context(), id, access.UserInput{
				Role: entity.RoleOperator, Password: "another horse",
				KeepTokens: keep,
			})
			return err
		},
	} {
		for _, keep := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", kept: ", keep), func(t *testing.T) {
				h := newHouse(t)
				bob, eve := h.user(t, "bob", entity.RoleOperator), h.user(t, "eve", entity.RoleOperator)
				_, stolen := h.token(t, bob.ID, nil)
				_, others := h.token(t, eve.ID, nil)
				require.NoError(t, change(h, bob.ID, keep))
				_, err := h.auth.Authenticate(t.Context(), stolen)
				require.Equal(t, keep, err == nil, "%v", err)
				_, err = h.auth.Authenticate(t.Context(), others)
				require.NoError(t, err)
			})
		}
	}
}

func TestAUserHasSoManyTokens(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleViewer)
	var first entity.Token
	for i := range 50 {
		if token, _ := h.token(t, bob.ID, nil); i == 0 {
			first = token
		}
	}
	_, _, err := h.tokens.Create(t.Context(), bob.ID,
		access.TokenInput{Name: "one more", ExpiresAt: h.clock.Now().Add(time.Hour)})
	servicetest.RequireKind(t, apperror.KindConflict, err)
	_, err = h.tokens.Revoke(t.Context(), first.ID, bob.ID)
	require.NoError(t, err)
	h.token(t, bob.ID, nil)
	h.clock.Advance(2 * time.Hour)
	h.token(t, bob.ID, nil)
}

func TestAUserHasSoManySessions(t *testing.T) {
	h := newHouse(t)
	h.user(t, "bob", entity.RoleViewer)
	var logins []string
	for range 101 {
		l, err := h.auth.Login(t.Context(), "bob", rightPassword, "::1")
		require.NoError(t, err)
		logins = append(logins, l.Token)
		h.clock.Advance(time.Second)
	}
	h.refused(t, logins[0])
	_, err := h.auth.Authenticate(t.Context(), logins[1])
	require.NoError(t, err)
}

func TestTheLastAdminStaysAdmin(t *testing.T) {
	h := newHouse(t)
	users, _, err := h.users.List(t.Context(), repository.Page{})
	require.NoError(t, err)
	admin := users[0]
	_, err = h.users.Change(t.Context(), admin.ID, access.UserInput{Role: entity.RoleViewer, Password: ""})
	servicetest.RequireKind(t, apperror.KindConflict, err)
	servicetest.RequireKind(t, apperror.KindConflict, h.users.Delete(t.Context(), admin.ID))
	h.user(t, "eve", entity.RoleAdmin)
	require.NoError(t, h.users.Delete(t.Context(), admin.ID))
	_, err = h.users.Get(t.Context(), admin.ID)
	servicetest.RequireKind(t, apperror.KindNotFound, err)
}

func TestAWrongChangeOfAUserChangesNothing(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleOperator)
	_, err := h.users.Change(t.Context(), bob.ID, access.UserInput{Role: "root", Password: "short"})
	var wrong *apperror.Error
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.Fields, 2)
	got, err := h.users.Get(t.Context(), bob.ID)
	require.NoError(t, err)
	require.Equal(t, entity.RoleOperator, got.Role)
	_, err = h.users.Create(t.Context(), access.UserInput{Name: "bob", Password: rightPassword, Role: entity.RoleViewer})
	servicetest.RequireKind(t, apperror.KindConflict, err)
}

func TestATokenThatLogsOutIsRevoked(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleOperator)
	_, secret := h.token(t, bob.ID, []string{})
	_, other := h.token(t, bob.ID, nil)
	require.NoError(t, h.auth.Logout(t.Context(), secret))
	require.NoError(t, h.auth.Logout(t.Context(), secret), "twice is no error")
	h.refused(t, secret)
	_, err := h.auth.Authenticate(t.Context(), other)
	require.NoError(t, err)
}

func TestUserNamesHoldNothingBeyondASCII(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{
		"аdmin",       // a Cyrillic a
		"admın",       // a Turkish dotless i
		"adm\u200bin", // a space of no width
		"adm\u202ein", // what follows is shown backwards
		"ａdmin",       // a wide a
		"jürgen", "日本", "a b", "a\tb", "a/b", "a:b", "-a", ".a", "@a", "", strings.Repeat("a", 200),
	} {
		_, err := h.users.Create(t.Context(), access.UserInput{Name: name, Password: rightPassword, Role: entity.RoleViewer})
		var f *apperror.Error
		require.ErrorAs(t, err, &f, "%q", name)
		require.Equal(t, apperror.KindInvalid, f.Kind, "%q", name)
		require.Equal(t, []string{"username", "invalid"}, []string{f.Fields[0].Field, f.Fields[0].Code}, "%q", name)
	}
	for _, name := range []string{"juergen", "a.b_c+d-e@example.com", "7"} {
		require.Equal(t, name, h.user(t, name, entity.RoleViewer).Name)
	}
}
