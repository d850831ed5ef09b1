package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/application/service/access"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/application/service/group"
	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/secret"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
)

// The tokens of the signed-in users of the harness.
const (
	adminToken    = "token-of-admin"
	operatorToken = "token-of-operator"
	viewerToken   = "token-of-viewer"
	nobodyToken   = "token-without-role"
	// boundToken is of an operator who sees two groups, and may only read in one.
	boundToken = "token-of-bound"
	// keeperToken is of the same with the right to make secrets.
	keeperToken = "token-of-keeper"
	// apiToken is an admin's that may only read jobs.
	apiToken = "token-that-reads-jobs"
	// userAdminToken is an admin's for users, wholeToken one for everything.
	userAdminToken = "token-for-users"
	wholeToken     = "token-for-everything"
)

// fakeAuth knows users by fixed tokens.
type fakeAuth struct {
	err error

	mu sync.Mutex
	// gone are tokens that were revoked.
	gone map[string]bool
	// roles and groups are what users became meanwhile, by token.
	roles  map[string]entity.Role
	groups map[string]map[string]entity.Role
}

// become changes what stands behind a token.
func (f *fakeAuth) become(change func(f *fakeAuth)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeAuth) Login(_ context.Context, name, password, addr string) (access.Login, error) {
	if password != "right" {
		return access.Login{}, apperror.New(apperror.KindUnauthenticated, "wrong_credentials", "wrong")
	}
	return access.Login{Token: adminToken, ExpiresAt: now.Add(time.Hour), User: entity.User{ID: "u1", Name: name + "@" + addr, Role: entity.RoleAdmin}}, nil
}

func (f *fakeAuth) Logout(context.Context, string) error { return f.err }

func (f *fakeAuth) ChangePassword(_ context.Context, _, old, _ string, _ bool) error {
	if old != "right" {
		return apperror.InvalidField("oldPassword", "wrong_password", "wrong")
	}
	return nil
}

func (f *fakeAuth) Authenticate(_ context.Context, token string) (entity.Principal, error) {
	roles := map[string]entity.Role{
		adminToken: entity.RoleAdmin, operatorToken: entity.RoleOperator, viewerToken: entity.RoleViewer, nobodyToken: "stranger",
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return entity.Principal{}, f.err
	}
	if scopes, is := map[string][]string{apiToken: {"job:read"}, userAdminToken: {"user:admin"}, wholeToken: nil}[token]; is {
		return entity.Principal{User: entity.User{ID: "id-of-admin", Name: "admin", Role: entity.RoleAdmin}, TokenID: "t-1", Scopes: scopes}, nil
	}
	if token == boundToken || token == keeperToken {
		u := entity.User{ID: "id-of-bound", Name: "bound", Role: entity.RoleOperator}
		u.Secrets = token == keeperToken
		u.Groups = map[string]entity.Role{"mine": entity.RoleOperator, "shown": entity.RoleViewer}
		return entity.Principal{User: u}, nil
	}
	role, ok := roles[token]
	if now, changed := f.roles[token]; changed {
		role = now
	}
	if !ok || f.gone[token] {
		return entity.Principal{}, apperror.New(apperror.KindUnauthenticated, "unknown_token", "unknown")
	}
	return entity.Principal{User: entity.User{ID: "id-of-" + string(role), Name: string(role), Role: role, Rights: entity.Rights{Groups: f.groups[token]}}}, nil
}

// fakeMonitor is ready unless it holds what blocks.
type fakeMonitor struct{ degraded []monitor.Trouble }

func (f *fakeMonitor) Degraded(context.Context) []monitor.Trouble { return f.degraded }

// fakeCalls keeps answers in memory, as the store does.
type fakeCalls struct {
	mu    sync.Mutex
	calls map[string]entity.IdempotentCall
	err   error
}

func (f *fakeCalls) Begin(_ context.Context, c entity.IdempotentCall, ttl time.Duration) (entity.IdempotentCall, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return entity.IdempotentCall{}, false, f.err
	}
	id := c.Scope + "|" + c.Key
	if old, ok := f.calls[id]; ok && c.CreateTime.Sub(old.CreateTime) < ttl {
		return old, false, nil
	}
	f.calls[id] = c
	return entity.IdempotentCall{}, true, nil
}

func (f *fakeCalls) Complete(_ context.Context, c entity.IdempotentCall) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[c.Scope+"|"+c.Key] = c
	return nil
}

func (f *fakeCalls) Abandon(_ context.Context, c entity.IdempotentCall) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, c.Scope+"|"+c.Key)
	return nil
}

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// edge is the API over fakes, and what they saw.
type edge struct {
	t          *testing.T
	mu         *sync.Mutex
	named      *namedJobs
	router     *api.Router
	auth       *fakeAuth
	jobs       *fakeJobs
	executions *fakeExecutions
	nodes      *fakeRegistry
	// executionService stands in for executions where it is set.
	executionService api.ExecutionService
	monitor          *fakeMonitor
	ahead            *fakeAhead
	calls            *fakeCalls
	reports          *fakeReports
	secrets          *secret.SecretService
	vault            *memorySecrets
	people           *memoryPeople
	groups           *memoryGroups
	backfills        *fakeBackfills
	clock            *clocktest.Manual
	// probesOnly: it is not the documented API that is served.
	probesOnly bool
	log        *logtest.Book
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	e := &edge{
		t: t, auth: &fakeAuth{}, jobs: newFakeJobs(), executions: &fakeExecutions{}, nodes: newRegistry(), monitor: &fakeMonitor{}, backfills: &fakeBackfills{}, ahead: &fakeAhead{}, mu: &sync.Mutex{}, named: &namedJobs{},
		calls: &fakeCalls{calls: map[string]entity.IdempotentCall{}}, clock: clocktest.NewManual(now), log: &logtest.Book{},
	}
	var err error
	e.reports = &fakeReports{}
	e.secrets, e.vault = newSecrets(t, e.clock)
	e.people, e.groups = newPeople(), newGroups()
	e.router, err = api.NewRouter(e.deps())
	require.NoError(t, err)
	return e
}

// on is the same edge for a subtest.
func (e *edge) on(t *testing.T) *edge {
	sub := *e
	sub.t = t
	return &sub
}

func (e *edge) deps() api.Deps {
	var executions api.ExecutionService = e.executions
	if e.executionService != nil {
		executions = e.executionService
	}
	groups := group.NewGroupService(e.groups, followers{}, followers{}, e.clock, slog.New(slog.DiscardHandler))
	return api.Deps{
		Jobs: e.jobs, Executions: executions, Auth: e.auth, Monitor: e.monitor, Calls: e.calls, Reports: e.reports, Nodes: node.NewNodeService(e.nodes), Secrets: e.secrets,
		Users: access.NewUserService(e.people, e.people, plainHasher{}, e.clock), Tokens: access.NewTokenService(e.people, e.clock),
		Backfills: e.backfills, Overview: e.ahead, Loads: e.ahead,
		Groups: groups, Definitions: e.definitions(groups),
		Audit: audit.NewAuditService(e.people, e.clock), Clock: e.clock,
		Logger: slog.New(slog.NewJSONHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = io.WriteString(w, "up 1\n")
		}),
		Version: vo.Version{Version: "1.2.3"}, TimeZone: "UTC",
	}
}

// answer is a response, read.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// call sends a request as the admin unless a header says otherwise. Headers
// are pairs; an empty value removes a header.
func (e *edge) call(method, path, body string, headers ...string) answer {
	e.t.Helper()
	req := httptest.NewRequestWithContext(e.t.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	rec := httptest.NewRecorder()
	e.router.ServeHTTP(rec, req)
	if !e.probesOnly {
		conforms(e.t, req, body, rec)
	}
	return answer{t: e.t, status: rec.Code, header: rec.Header(), body: rec.Body.String()}
}

func (a answer) want(status int) answer {
	a.t.Helper()
	require.Equal(a.t, status, a.status, a.body)
	return a
}

func (a answer) json() map[string]any {
	a.t.Helper()
	var m map[string]any
	require.NoError(a.t, json.Unmarshal([]byte(a.body), &m), a.body)
	return m
}

// problem checks that the answer is a complete problem and returns its code
// and the codes of its fields.
func (a answer) problem() (code string, fields map[string]string) {
	a.t.Helper()
	require.Equal(a.t, "application/problem+json", a.header.Get("Content-Type"), a.body)
	m := a.json()
	for _, name := range []string{"type", "title", "status", "detail", "code", "requestId"} {
		require.NotEmpty(a.t, m[name], "%s in %s", name, a.body)
	}
	require.EqualValues(a.t, a.status, m["status"])
	fields = map[string]string{}
	list, _ := m["errors"].([]any)
	for _, item := range list {
		f := item.(map[string]any)
		require.NotEmpty(a.t, f["message"], "a field without a remedy: %s", a.body)
		name := fmt.Sprint(f["field"])
		require.NotContains(a.t, fields, name, "a field is named twice: %s", a.body)
		fields[name] = fmt.Sprint(f["code"])
	}
	return fmt.Sprint(m["code"]), fields
}

// wantField checks for a problem that names a field.
func (a answer) wantField(status int, field, code string) {
	a.t.Helper()
	a.want(status)
	_, fields := a.problem()
	require.Contains(a.t, fields, field, a.body)
	if code != "" {
		require.Equal(a.t, code, fields[field], a.body)
	}
}

func (a answer) wantCode(status int, code string) {
	a.t.Helper()
	a.want(status)
	got, _ := a.problem()
	require.Equal(a.t, code, got, a.body)
}
