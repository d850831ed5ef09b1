package audit_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// house is an audit log over a real store.
type house struct {
	audit *audit.AuditService
	store *persistence.Store
	clock *clocktest.Manual
}

func newHouse(t *testing.T) house {
	t.Helper()
	h := house{store: dbtest.Open(t, dbtest.SQLite(t)), clock: clocktest.NewManual(enginetest.Noon)}
	h.audit = audit.NewAuditService(h.store, h.clock)
	return h
}

func TestAuditEntriesAreMadeToFit(t *testing.T) {
	h := newHouse(t)
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = 'x'
	}
	e := entity.AuditEntry{
		UserName: "a\x00b\xff", Address: string(long), Action: string(long), Object: string(long),
		Code: string(long), Changes: string(long), Status: 200,
	}
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

// entries are those of the log, oldest first.
func (h house) entries(t *testing.T) []entity.AuditEntry {
	t.Helper()
	entries, _, err := h.audit.List(t.Context(), repository.AuditFilter{}, repository.Page{Limit: 200})
	require.NoError(t, err)
	slices.Reverse(entries)
	return entries
}

// A caller refused again and again does not fill the store, and is seen.
func TestEqualRefusalsOfAMinuteAreOneEntry(t *testing.T) {
	h := newHouse(t)
	call := func(e entity.AuditEntry) { require.NoError(t, h.audit.Record(t.Context(), e)) }
	for i := range 150 {
		call(entity.AuditEntry{
			UserID: "u-1", UserName: "viewer", Action: "POST /api/v1/jobs/:id/pause",
			Object: fmt.Sprint("job-", i), Status: 403, Code: "forbidden", Calls: 1,
		})
	}
	call(entity.AuditEntry{
		UserID: "u-2", UserName: "other", Action: "POST /api/v1/jobs/:id/pause", Object: "job-1",
		Status: 403, Code: "forbidden", Calls: 1,
	})
	call(entity.AuditEntry{UserID: "u-1", UserName: "viewer", Action: "POST /api/v1/jobs", Status: 201, Calls: 1})
	require.NoError(t, h.audit.Flush(t.Context(), false))
	require.Len(t, h.entries(t), 3, "the first of each kind is there at once")
	h.clock.Advance(time.Minute)
	require.NoError(t, h.audit.Flush(t.Context(), false))
	require.NoError(t, h.audit.Flush(t.Context(), true))
	got := h.entries(t)
	require.Len(t, got, 4)
	require.Equal(t, []any{"viewer", "POST /api/v1/jobs/:id/pause", "", 403, 149},
		[]any{got[3].UserName, got[3].Action, got[3].Object, got[3].Status, got[3].Calls})
	require.Equal(t, 1, got[0].Calls)

	for range 3 {
		call(entity.AuditEntry{
			UserID: "u-2", UserName: "other", Action: "GET /api/v1/users", Status: 403, Code: "forbidden",
			Calls: 1,
		})
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
					Address: fmt.Sprintf("2001:db8:%x::1", i), Action: "POST /api/v1/auth/login", Object: fmt.Sprint("user n", i),
					Status: status, Code: code, Calls: 1,
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
		{UserID: "ann", Address: "192.0.2.1", Action: audit.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.2", Action: audit.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.1", Action: audit.SignInAction, Status: 200},
		{UserID: "bob", Address: "192.0.2.3", Action: audit.SignInAction, Status: 200},
		{UserID: "ann", Address: "192.0.2.4", Action: "POST /api/v1/jobs", Status: 201},
		{Address: "192.0.2.5", Object: "user ann", Action: audit.SignInAction, Status: 401},
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
	audit := audit.NewAuditService(log, h.clock)
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
