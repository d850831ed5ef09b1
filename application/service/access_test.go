package service_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// house is users, tokens and sign-in over a real store.
type house struct {
	users  *service.UserService
	tokens *service.TokenService
	auth   *service.AuthService
	audit  *service.AuditService
	store  *persistence.Store
	clock  *clocktest.Manual
}

func newHouse(t *testing.T) house {
	t.Helper()
	h := house{store: dbtest.Open(t, dbtest.SQLite(t)), clock: clocktest.NewManual(enginetest.Noon)}
	hasher := &quickHasher{}
	h.users = service.NewUserService(h.store, h.store, hasher, h.clock)
	h.tokens = service.NewTokenService(h.store, h.clock)
	h.auth = service.NewAuthService(h.store, h.store, h.store, nil, hasher, h.clock)
	h.audit = service.NewAuditService(h.store, h.clock)
	_, err := h.auth.EnsureFirstAdmin(t.Context(), rightPassword)
	require.NoError(t, err)
	return h
}

func (h house) user(t *testing.T, name string, role entity.Role) entity.User {
	t.Helper()
	u, err := h.users.Create(t.Context(), service.UserInput{Name: name, Password: rightPassword, Role: role})
	require.NoError(t, err)
	return u
}

func (h house) token(t *testing.T, userID string, scopes []string) (entity.Token, string) {
	t.Helper()
	token, secret, err := h.tokens.Create(t.Context(), userID, service.TokenInput{Name: "CI", Scopes: scopes, ExpiresAt: h.clock.Now().Add(time.Hour)})
	require.NoError(t, err)
	return token, secret
}

func (h house) refused(t *testing.T, token string) {
	t.Helper()
	_, err := h.auth.Authenticate(t.Context(), token)
	requireKind(t, apperror.KindUnauthenticated, err)
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
	requireKind(t, apperror.KindNotFound, err)
	_, err = h.tokens.Revoke(t.Context(), made.ID, bob.ID)
	require.NoError(t, err)
	h.refused(t, revoked)

	_, disabled := h.token(t, bob.ID, nil)
	_, err = h.users.Change(t.Context(), bob.ID, service.UserInput{Role: entity.RoleDisabled, Password: ""})
	require.NoError(t, err)
	h.refused(t, disabled)
	_, err = h.users.Change(t.Context(), bob.ID, service.UserInput{Role: entity.RoleViewer, Password: ""})
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
			_, err := h.users.Change(t.Context(), id, service.UserInput{Role: entity.RoleViewer, Password: ""})
			return err
		},
		"password": func(h house, id string) error {
			_, err := h.users.Change(t.Context(), id, service.UserInput{Role: entity.RoleOperator, Password: "another horse"})
			return err
		},
		"disabled": func(h house, id string) error {
			_, err := h.users.Change(t.Context(), id, service.UserInput{Role: entity.RoleDisabled, Password: ""})
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

// Whoever took an account loses it with its password: sessions and API tokens.
func TestAnotherPasswordEndsTheTokens(t *testing.T) {
	for name, change := range map[string]func(h house, id string, keep bool) error{
		"one's own": func(h house, id string, keep bool) error {
			return h.auth.ChangePassword(t.Context(), id, rightPassword, "another horse", keep)
		},
		"by an admin": func(h house, id string, keep bool) error {
			_, err := h.users.Change(t.Context(), id, service.UserInput{Role: entity.RoleOperator, Password: "another horse", KeepTokens: keep})
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
	_, _, err := h.tokens.Create(t.Context(), bob.ID, service.TokenInput{Name: "one more", ExpiresAt: h.clock.Now().Add(time.Hour)})
	requireKind(t, apperror.KindConflict, err)
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
	_, err = h.users.Change(t.Context(), admin.ID, service.UserInput{Role: entity.RoleViewer, Password: ""})
	requireKind(t, apperror.KindConflict, err)
	requireKind(t, apperror.KindConflict, h.users.Delete(t.Context(), admin.ID))
	h.user(t, "eve", entity.RoleAdmin)
	require.NoError(t, h.users.Delete(t.Context(), admin.ID))
	_, err = h.users.Get(t.Context(), admin.ID)
	requireKind(t, apperror.KindNotFound, err)
}

func TestAWrongChangeOfAUserChangesNothing(t *testing.T) {
	h := newHouse(t)
	bob := h.user(t, "bob", entity.RoleOperator)
	_, err := h.users.Change(t.Context(), bob.ID, service.UserInput{Role: "root", Password: "short"})
	var wrong *apperror.Error
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.Fields, 2)
	got, err := h.users.Get(t.Context(), bob.ID)
	require.NoError(t, err)
	require.Equal(t, entity.RoleOperator, got.Role)
	_, err = h.users.Create(t.Context(), service.UserInput{Name: "bob", Password: rightPassword, Role: entity.RoleViewer})
	requireKind(t, apperror.KindConflict, err)
}

func TestAuditEntriesAreMadeToFit(t *testing.T) {
	h := newHouse(t)
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = 'x'
	}
	e := entity.AuditEntry{UserName: "a\x00b\xff", Address: string(long), Action: string(long), Object: string(long), Code: string(long), Changes: string(long), Status: 200}
	require.NoError(t, h.audit.Record(t.Context(), e))
	entries, _, err := h.audit.List(t.Context(), repository.AuditFilter{}, repository.Page{})
	require.NoError(t, err)
	got := entries[0]
	require.Equal(t, enginetest.Noon, got.Time)
	require.Equal(t, "a\ufffdb\ufffd", got.UserName)
	require.LessOrEqual(t, len(got.Action), 200)
	require.LessOrEqual(t, len(got.Address), 100)
	require.Contains(t, got.Changes, "too long")
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

// entries are those of the log, oldest first.
func (h house) entries(t *testing.T) []entity.AuditEntry {
	t.Helper()
	entries, _, err := h.audit.List(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 200})
	require.NoError(t, err)
	slices.Reverse(entries)
	return entries
}

// Whoever is refused again and again does not fill the store, and is seen.
func TestEqualRefusalsOfAMinuteAreOneEntry(t *testing.T) {
	h := newHouse(t)
	call := func(e entity.AuditEntry) { require.NoError(t, h.audit.Record(t.Context(), e)) }
	for i := range 150 {
		call(entity.AuditEntry{UserID: "u-1", UserName: "viewer", Action: "POST /api/v1/jobs/:id/pause", Object: fmt.Sprint("job-", i), Status: 403, Code: "forbidden", Calls: 1})
	}
	call(entity.AuditEntry{UserID: "u-2", UserName: "other", Action: "POST /api/v1/jobs/:id/pause", Object: "job-1", Status: 403, Code: "forbidden", Calls: 1})
	call(entity.AuditEntry{UserID: "u-1", UserName: "viewer", Action: "POST /api/v1/jobs", Status: 201, Calls: 1})
	require.NoError(t, h.audit.Flush(t.Context(), false))
	require.Len(t, h.entries(t), 3, "the first of each kind is there at once")
	h.clock.Advance(time.Minute)
	require.NoError(t, h.audit.Flush(t.Context(), false))
	require.NoError(t, h.audit.Flush(t.Context(), true))
	got := h.entries(t)
	require.Len(t, got, 4)
	require.Equal(t, []any{"viewer", "POST /api/v1/jobs/:id/pause", "", 403, 149}, []any{got[3].UserName, got[3].Action, got[3].Object, got[3].Status, got[3].Calls})
	require.Equal(t, 1, got[0].Calls)

	for range 3 {
		call(entity.AuditEntry{UserID: "u-2", UserName: "other", Action: "GET /api/v1/users", Status: 403, Code: "forbidden", Calls: 1})
	}
	require.NoError(t, h.audit.Flush(t.Context(), true), "what is counted is stored at the end")
	require.Equal(t, 2, h.entries(t)[5].Calls)
}

// Strangers who try to sign in under ever new names, from ever new addresses,
// make a bounded number of entries.
func TestRefusedSignInsMakeSoManyEntries(t *testing.T) {
	for code, status := range map[string]int{"wrong_credentials": 401, "timeout": 503} { // the latter hung up
		h := newHouse(t)
		for minute := range 2 {
			for i := range 500 {
				require.NoError(t, h.audit.Record(t.Context(), entity.AuditEntry{
					Address: fmt.Sprintf("2001:db8:%x::1", i), Action: "POST /api/v1/auth/login", Object: fmt.Sprint("user n", i), Status: status, Code: code, Calls: 1,
				}))
			}
			h.clock.Advance(time.Minute)
			require.NoError(t, h.audit.Flush(t.Context(), false))
			require.Len(t, h.entries(t), 32*(minute+1), code)
		}
		calls := 0
		for _, e := range h.entries(t) {
			calls += e.Calls
		}
		require.Equal(t, 1000, calls, "none is forgotten")
	}
}

func TestTheAuditLogKnowsWhereUsersSignedIn(t *testing.T) {
	h := newHouse(t)
	for _, e := range []entity.AuditEntry{
		{UserID: "ann", Address: "192.0.2.1", Action: service.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.2", Action: service.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.1", Action: service.SignInAction, Status: 200},
		{UserID: "bob", Address: "192.0.2.3", Action: service.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.4", Action: "POST /api/v1/jobs", Status: 201},
		{Address: "192.0.2.5", Object: "user ann", Action: service.SignInAction, Status: 401},
	} {
		h.clock.Advance(time.Second)
		require.NoError(t, h.audit.Record(t.Context(), e))
	}
	got, err := h.audit.SignInAddresses(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, []string{"192.0.2.1", "192.0.2.2"}, got)
}

func TestRefusalsThatCannotBeStoredAreCountedOn(t *testing.T) {
	h := newHouse(t)
	log := &failingLog{Audit: h.store}
	audit := service.NewAuditService(log, h.clock)
	refusal := entity.AuditEntry{UserID: "u", Action: "GET /x", Status: 403, Calls: 1}
	for range 3 {
		require.NoError(t, audit.Record(t.Context(), refusal))
	}
	log.err = apperror.Unavailable(io.ErrClosedPipe)
	h.clock.Advance(time.Minute)
	require.Error(t, audit.Flush(t.Context(), false))
	require.NoError(t, audit.Record(t.Context(), refusal))
	log.err = nil
	require.NoError(t, audit.Flush(t.Context(), true))
	got := h.entries(t)
	require.Len(t, got, 2)
	require.Equal(t, 3, got[1].Calls)
}

type failingLog struct {
	repository.Audit
	err error
}

func (f *failingLog) AddAudit(ctx context.Context, e entity.AuditEntry) error {
	if f.err != nil {
		return f.err
	}
	return f.Audit.AddAudit(ctx, e)
}

// Two names of which no person can tell one from the other are one name too many:
// new ones have nothing beyond ASCII, and no part that begins like an option.
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
		_, err := h.users.Create(t.Context(), service.UserInput{Name: name, Password: rightPassword, Role: entity.RoleViewer})
		var f *apperror.Error
		require.ErrorAs(t, err, &f, "%q", name)
		require.Equal(t, apperror.KindInvalid, f.Kind, "%q", name)
		require.Equal(t, []string{"username", "invalid"}, []string{f.Fields[0].Field, f.Fields[0].Code}, "%q", name)
	}
	for _, name := range []string{"juergen", "a.b_c+d-e@example.com", "7"} {
		require.Equal(t, name, h.user(t, name, entity.RoleViewer).Name)
	}
}
