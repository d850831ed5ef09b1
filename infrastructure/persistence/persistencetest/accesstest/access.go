// Package accesstest is the contract of users, tokens, sessions, secrets, audit and
// idempotent calls.
package accesstest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Access runs the suite over stores that open gives.
func Access(t *testing.T, open storetest.Opener) {
	t.Run("the last admin stays", func(t *testing.T) { lastAdmin(t, open(t, nil)) })
	t.Run("tokens", func(t *testing.T) { tokens(t, open(t, nil)) })
	t.Run("audit", func(t *testing.T) { audit(t, open(t, nil)) })
	t.Run("audit entries of many calls at once", func(t *testing.T) { auditTogether(t, open) })
}

func person(t *testing.T, s *persistence.Store, id string, role entity.Role) entity.User {
	t.Helper()
	u := entity.User{
		ID: id, Name: "name of " + id, PasswordHash: "h", Role: role, CreateTime: storetest.Noon,
		UpdateTime: storetest.Noon,
	}
	require.NoError(t, s.AddUser(t.Context(), u))
	return u
}

func lastAdmin(t *testing.T, s *persistence.Store) {
	ann, bob := person(t, s, "u-1", entity.RoleAdmin), person(t, s, "u-2", entity.RoleAdmin)
	person(t, s, "u-3", entity.RoleViewer)
	require.NoError(t, s.AddSession(t.Context(),
		entity.Session{TokenHash: "s", UserID: bob.ID, ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon},
		100))
	var page []string
	p := repository.Page{Limit: 2}
	for {
		users, next, err := s.ListUsers(t.Context(), p)
		require.NoError(t, err)
		for _, u := range users {
			page = append(page, u.ID)
		}
		if p.Cursor = next; next == "" {
			break
		}
	}
	require.Equal(t, []string{"u-1", "u-2", "u-3"}, page)

	// Both are made less at once: one of them stays.
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, u := range []entity.User{ann, bob} {
		wg.Go(func() {
			errs[i] = s.SetRole(t.Context(), u.ID, entity.RoleViewer, entity.Rights{}, storetest.Noon.Add(time.Minute))
		})
	}
	wg.Wait()
	require.Equal(t, 1, map[bool]int{true: 1}[apperror.Is(errs[0], apperror.KindConflict) != apperror.Is(errs[1],
		apperror.KindConflict)], "%v", errs)
	last, less := ann, bob
	if errs[0] == nil {
		last, less = bob, ann
	}
	require.True(t, apperror.Is(s.DropUser(t.Context(), last.ID), apperror.KindConflict))
	require.NoError(t, s.SetRole(t.Context(), last.ID, entity.RoleAdmin, entity.Rights{}, storetest.Noon))
	got, err := s.UserByID(t.Context(), less.ID)
	require.NoError(t, err)
	require.Equal(t, entity.RoleViewer, got.Role)
	require.NoError(t, s.SetRole(t.Context(), bob.ID, entity.RoleAdmin, entity.Rights{}, storetest.Noon))
	_, err = s.SessionByHash(t.Context(), "s", storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "a change of the role ends the sessions")

	require.NoError(t, s.AddToken(t.Context(), entity.Token{
		ID: "t", UserID: "u-3", Hash: "th",
		ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon,
	}, 100))
	for id, user := range map[string]string{"their-contact": "u-3", "other-contact": "u-33"} {
		contact, err := alert.SettingOf[alert.Contact](alert.KindContact, &alert.Contact{
			Head:   alert.Head{ID: id, Name: id, Version: 1, CreateTime: storetest.Noon, UpdateTime: storetest.Noon},
			UserID: user, ChatID: `"userId":"u-3"`,
		})
		require.NoError(t, err)
		require.NoError(t, s.AddAlertSetting(t.Context(), contact))
	}
	require.NoError(t, s.DropUser(t.Context(), "u-3"))
	_, err = s.AlertSetting(t.Context(), alert.KindContact, "their-contact")
	require.True(t, apperror.Is(err, apperror.KindNotFound), "nobody who is gone gets mail")
	_, err = s.AlertSetting(t.Context(), alert.KindContact, "other-contact")
	require.NoError(t, err, "those of others stay")
	_, err = s.TokenByHash(t.Context(), "th", storetest.Noon)
	require.True(t, apperror.Is(err, apperror.KindNotFound), "its tokens go with a user")
	for _, id := range []string{"u-3", "", "caf\u00e9"} {
		require.True(t, apperror.Is(s.DropUser(t.Context(), id), apperror.KindNotFound))
		require.True(t, apperror.Is(s.SetRole(t.Context(), id, entity.RoleAdmin, entity.Rights{}, storetest.Noon),
			apperror.KindNotFound))
	}
}

func tokens(t *testing.T, s *persistence.Store) {
	wide := entity.Token{
		ID: "t-1", UserID: "u-1", Name: "CI – ä", Hash: "h1", ExpiresAt: storetest.Noon.Add(time.Hour),
		CreateTime: storetest.Noon,
	}
	narrow := entity.Token{
		ID: "t-2", UserID: "u-2", Name: "read", Hash: "h2", Scopes: []string{"job:read"},
		ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon,
	}
	none := entity.Token{
		ID: "t-3", UserID: "u-2", Name: "none", Hash: "h3", Scopes: []string{}, ExpiresAt: storetest.Noon,
		CreateTime: storetest.Noon,
	}
	for _, v := range []entity.Token{wide, narrow, none} {
		require.NoError(t, s.AddToken(t.Context(), v, 100))
	}
	got, err := s.TokenByHash(t.Context(), "h1", storetest.Noon)
	require.NoError(t, err)
	require.Equal(t, wide, got)
	require.NoError(t, s.UseToken(t.Context(), "t-2", storetest.Noon.Add(time.Minute)))
	narrow.LastUsedAt = storetest.Noon.Add(time.Minute)
	got, err = s.TokenByHash(t.Context(), "h2", storetest.Noon)
	require.NoError(t, err)
	require.Equal(t, narrow, got)
	for _, hash := range []string{"h3", "none", "H1", "caf\u00e9"} {
		_, err = s.TokenByHash(t.Context(), hash, storetest.Noon)
		require.True(t, apperror.Is(err, apperror.KindNotFound), "unknown or expired: %s", hash)
	}
	of, next, err := s.ListTokens(t.Context(), "u-2", repository.Page{})
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, []entity.Token{narrow, none}, of, "no scope is not every scope")
	all, next, err := s.ListTokens(t.Context(), "", repository.Page{Limit: 2})
	require.NoError(t, err)
	require.Len(t, all, 2)
	all, _, err = s.ListTokens(t.Context(), "", repository.Page{Limit: 2, Cursor: next})
	require.NoError(t, err)
	require.Equal(t, "t-3", all[0].ID)

	tokensBeyond(t, s)
	_, err = s.DropToken(t.Context(), "t-1", "u-2")
	require.True(t, apperror.Is(err, apperror.KindNotFound), "another's")
	gone, err := s.DropToken(t.Context(), "t-1", "u-1")
	require.NoError(t, err)
	require.Equal(t, wide, gone)
	_, err = s.DropToken(t.Context(), "t-2", "")
	require.NoError(t, err)
	_, err = s.DropToken(t.Context(), "t-2", "")
	require.True(t, apperror.Is(err, apperror.KindNotFound))
}

// tokensBeyond: of calls at once, no more make a token than there is room for;
// what has expired takes none.
func tokensBeyond(t *testing.T, s *persistence.Store) {
	eve := person(t, s, "u-9", entity.RoleViewer)
	token := func(i int) entity.Token {
		return entity.Token{
			ID: fmt.Sprint("t-9-", i), UserID: eve.ID, Name: "x", Hash: fmt.Sprint("h-9-", i),
			ExpiresAt: storetest.Noon.Add(time.Hour), CreateTime: storetest.Noon,
		}
	}
	old := token(100)
	old.ExpiresAt = storetest.Noon
	require.NoError(t, s.AddToken(t.Context(), old, 3))
	var made atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := s.AddToken(t.Context(), token(i), 3)
			if err == nil {
				made.Add(1)
			} else if !apperror.Is(err, apperror.KindConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 3, made.Load())
	require.NoError(t, s.SetPassword(t.Context(), eve.ID, repository.NewPassword{
		Hash: "h", KeepTokens: true,
		At: storetest.Noon,
	}))
	left, _, err := s.ListTokens(t.Context(), eve.ID, repository.Page{})
	require.NoError(t, err)
	require.Len(t, left, 4)
	require.NoError(t, s.SetPassword(t.Context(), eve.ID, repository.NewPassword{
		Hash: "h", KeepTokens: false,
		At: storetest.Noon,
	}))
	left, _, err = s.ListTokens(t.Context(), eve.ID, repository.Page{})
	require.NoError(t, err)
	require.Empty(t, left, "another password ends the tokens")
}

func audit(t *testing.T, s *persistence.Store) {
	var all []entity.AuditEntry
	for i := range 6 {
		id, err := uuid.NewV7()
		require.NoError(t, err)
		e := entity.AuditEntry{
			ID: id.String(), Time: storetest.Noon.Add(time.Duration(i) * time.Second), UserID: fmt.Sprint("u-", i%2),
			UserName: "ann – ä", TokenID: "t", Address: "::1", RequestID: "r",
			Action: "PUT /api/v1/jobs/:id", Object: fmt.Sprint("job-", i%3), ObjectName: fmt.Sprint("name – ", i%2), Status: 200,
			Code: "", Changes: `{"a":[1,2]}`, Calls: i + 1,
		}
		require.NoError(t, s.AddAudit(t.Context(), e))
		all = append([]entity.AuditEntry{e}, all...)
	}
	bare := entity.AuditEntry{
		ID: "ffffffff-0000-7000-8000-000000000000", Time: storetest.Noon,
		Action: "POST /api/v1/auth/login", Status: 401, Code: "wrong_credentials", Calls: 1,
	}
	require.NoError(t, s.AddAudit(t.Context(), bare))
	got, next, err := s.ListAudit(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 4})
	require.NoError(t, err)
	require.Equal(t, append([]entity.AuditEntry{bare}, all[:3]...), got, "newest first")
	got, next, err = s.ListAudit(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 4, Cursor: next})
	require.NoError(t, err)
	require.Empty(t, next)
	require.Equal(t, all[3:], got)
	for _, c := range []struct {
		f repository.AuditFilter
		n int
	}{
		{repository.AuditFilter{UserID: "u-1"}, 3},
		{repository.AuditFilter{Object: "job-2"}, 2},
		{repository.AuditFilter{ObjectName: "name – 1"}, 3},
		{repository.AuditFilter{ObjectName: "name – 1 "}, 0},
		{repository.AuditFilter{UserID: "u-1", Object: "job-1"}, 1},
		{repository.AuditFilter{Action: "POST /api/v1/auth/login"}, 1},
		{repository.AuditFilter{Action: "post /api/v1/auth/login"}, 0},
		{repository.AuditFilter{UserID: "caf\u00e9"}, 0},
		{repository.AuditFilter{From: time.Now().Add(time.Hour)}, 1},
		{repository.AuditFilter{To: time.Now().Add(time.Hour)}, 6},
	} {
		got, _, err = s.ListAudit(t.Context(), c.f, repository.Page{})
		require.NoError(t, err)
		require.Len(t, got, c.n, "%+v", c.f)
	}
	n, err := s.PurgeAudit(t.Context(), time.Now().Add(time.Hour), 4)
	require.NoError(t, err)
	require.Equal(t, []any{4, true}, []any{n.Deleted, n.More})
	n, err = s.PurgeAudit(t.Context(), time.Now().Add(time.Hour), 4)
	require.NoError(t, err)
	require.Equal(t, []any{2, false}, []any{n.Deleted, n.More})
}

// auditTogether: entries share commits, and one that is refused, or whose call
// gave up, takes no other along.
func auditTogether(t *testing.T, open storetest.Opener) {
	var commits, called atomic.Int64
	var slow atomic.Bool
	s := open(t, func(c *persistence.Config) {
		c.Observe = func(statement string, _ time.Duration, _ error) {
			if statement != "tx.audit-add" {
				return
			}
			commits.Add(1)
			for slow.Load() && called.Load() < 100 {
				runtime.Gosched() // this commit lasts until all have called
			}
		}
	})
	const calls = 200
	entry := func(n int) entity.AuditEntry {
		return entity.AuditEntry{ID: fmt.Sprintf("%036d", n), Time: storetest.Noon, Action: "PUT", Status: 200}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	errs := make([]error, calls)
	var wg sync.WaitGroup
	for n := range calls {
		wg.Go(func() {
			e, ctx := entry(n), t.Context()
			switch n % 20 {
			case 7:
				e.ID = strings.Repeat("0", 35) + "8" // that of another
			case 8:
				ctx = gone
			}
			errs[n] = s.AddAudit(ctx, e)
		})
	}
	wg.Wait()
	stored := 0
	for n, err := range errs {
		switch n % 20 {
		case 8: // it may have been written all the same
		case 7:
			if err == nil {
				stored++
			}
		default:
			require.NoError(t, err, n)
		}
	}
	require.LessOrEqual(t, stored, 1, "an id is there once")
	got, _, err := s.ListAudit(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 1000})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, e := range got {
		require.False(t, seen[e.ID])
		seen[e.ID] = true
	}
	for n := range calls {
		if n%20 != 7 && n%20 != 8 {
			require.True(t, seen[entry(n).ID], n)
		}
	}
	before := commits.Load()
	slow.Store(true)
	for n := range 100 {
		wg.Go(func() {
			called.Add(1)
			errs[n] = s.AddAudit(t.Context(), entry(1000+n))
		})
	}
	wg.Wait()
	for n := range 100 {
		require.NoError(t, errs[n])
	}
	require.Less(t, commits.Load()-before, int64(100), "calls at once share commits")
}
