package api_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// memoryPeople keeps users, tokens and the audit log as the store does.
type memoryPeople struct {
	mu     sync.Mutex
	users  []entity.User
	tokens []entity.Token
	audit  []entity.AuditEntry
	err    error
	// auditErr fails the second page of the audit log.
	auditErr error
}

func newPeople() *memoryPeople {
	return &memoryPeople{users: []entity.User{{ID: "id-of-admin", Name: "admin", Role: entity.RoleAdmin}}}
}

func (m *memoryPeople) find(match func(entity.User) bool) (entity.User, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.users {
		if match(u) {
			return u, nil
		}
	}
	return entity.User{}, apperror.NotFound("user", "given")
}

func (m *memoryPeople) AddUser(ctx context.Context, u entity.User) error {
	if _, err := m.UserByName(ctx, u.Name); err == nil {
		return apperror.Conflict("name_taken", "taken")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users = append(m.users, u)
	return nil
}

func (m *memoryPeople) UserByName(_ context.Context, name string) (entity.User, error) {
	return m.find(func(u entity.User) bool { return u.Name == name })
}

func (m *memoryPeople) UserByID(_ context.Context, id string) (entity.User, error) {
	return m.find(func(u entity.User) bool { return u.ID == id })
}

func (m *memoryPeople) change(id string, do func(u *entity.User)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.users {
		if m.users[i].ID == id {
			do(&m.users[i])
			return nil
		}
	}
	return apperror.NotFound("user", id)
}

func (m *memoryPeople) SetPassword(_ context.Context, id, hash string, _ bool, _ time.Time) error {
	return m.change(id, func(u *entity.User) { u.PasswordHash = hash })
}

func (m *memoryPeople) CountUsers(context.Context) (int, error) { return len(m.users), nil }

func (m *memoryPeople) ListUsers(context.Context, repository.Page) ([]entity.User, string, error) {
	return m.users, "", nil
}

func (m *memoryPeople) SetRole(_ context.Context, id string, role entity.Role, rights entity.Rights, _ time.Time) error {
	if id == "id-of-admin" && role != entity.RoleAdmin {
		return apperror.Conflict("last_admin", "the last")
	}
	return m.change(id, func(u *entity.User) { u.Role, u.Rights = role, rights })
}

func (m *memoryPeople) DropUser(_ context.Context, id string) error {
	return m.change(id, func(u *entity.User) { *u = entity.User{} })
}

func (m *memoryPeople) AddToken(_ context.Context, t entity.Token, _ int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens = append(m.tokens, t)
	return nil
}

func (m *memoryPeople) TokenByHash(context.Context, string, time.Time) (entity.Token, error) {
	return entity.Token{}, apperror.NotFound("token", "given")
}

func (m *memoryPeople) ListTokens(_ context.Context, userID string, _ repository.Page) ([]entity.Token, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []entity.Token
	for _, t := range m.tokens {
		if userID == "" || t.UserID == userID {
			out = append(out, t)
		}
	}
	return out, "", nil
}

func (m *memoryPeople) DropToken(_ context.Context, id, userID string) (entity.Token, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, t := range m.tokens {
		if t.ID == id && (userID == "" || t.UserID == userID) {
			m.tokens = append(m.tokens[:i], m.tokens[i+1:]...)
			return t, nil
		}
	}
	return entity.Token{}, apperror.NotFound("token", id)
}

func (m *memoryPeople) UseToken(context.Context, string, time.Time) error { return nil }

func (m *memoryPeople) AddAudit(_ context.Context, e entity.AuditEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audit = append(m.audit, e)
	return m.err
}

// ListAudit hands out two entries at a time where a page is as large as an
// export asks for.
func (m *memoryPeople) ListAudit(_ context.Context, f repository.AuditFilter, p repository.Page) ([]entity.AuditEntry, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.auditErr != nil && p.Cursor != "" {
		return nil, "", m.auditErr
	}
	var out []entity.AuditEntry
	for _, e := range m.audit {
		if f.UserID == "" || f.UserID == e.UserID {
			out = append(out, e)
		}
	}
	from, _ := strconv.Atoi(p.Cursor)
	if out = out[from:]; p.Limit == 1000 && len(out) > 2 {
		return out[:2], strconv.Itoa(from + 2), nil
	}
	return out, "", nil
}

func (m *memoryPeople) actions() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []string
	for _, e := range m.audit {
		out = append(out, fmt.Sprint(e.UserName, " ", e.Action, " ", e.Object, " ", e.Status, " ", e.Code))
	}
	return out
}

// plainHasher stores passwords as they are.
type plainHasher struct{}

func (plainHasher) Hash(_ context.Context, password string) (string, error) { return password, nil }

func (plainHasher) Verify(_ context.Context, password, encoded string) (bool, error) {
	return password == encoded, nil
}

func (plainHasher) Burn(context.Context, string) error { return nil }

const (
	users  = "/api/v1/users"
	tokens = "/api/v1/tokens"
)

func TestAdminsManageUsers(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", users, `{"username":"bob","password":"correct horse","role":"operator"}`).want(201)
	require.NotContains(t, a.body, "horse")
	path := a.header.Get("Location")
	require.Equal(t, "operator", e.call("GET", path, "").want(200).json()["role"])
	require.Len(t, e.call("GET", users, "").want(200).json()["items"], 2)
	require.Equal(t, "viewer", e.call("PUT", path, `{"role":"viewer","username":"bob","permissions":[]}`).want(200).json()["role"])
	e.call("PUT", path, `{"role":"disabled","password":"another horse"}`).want(200)
	e.call("PUT", users+"/id-of-admin", `{"role":"viewer"}`).wantCode(409, "last_admin")
	e.call("POST", users, `{"username":"bob","password":"correct horse","role":"operator"}`).wantCode(409, "name_taken")
	e.call("DELETE", path, "").want(204)
	e.call("GET", path, "").wantCode(404, "not_found")
	e.call("PUT", users+"/none", `{"role":"viewer"}`).wantCode(404, "not_found")
	require.NotContains(t, e.log.String(), "horse")

	for body, field := range map[string]string{
		`{"username":"","password":"correct horse","role":"viewer"}`:                 "username",
		`{"username":" bob","password":"correct horse","role":"viewer"}`:             "username",
		`{"username":"b\u0007","password":"correct horse","role":"viewer"}`:          "username",
		`{"username":"cid","password":"short","role":"viewer"}`:                      "password",
		`{"username":"correct horse","password":"correct horse","role":"viewer"}`:    "password",
		`{"username":"cid","password":"correct horse","role":"root"}`:                "role",
		`{"username":"cid","password":"correct horse"}`:                              "role",
		`{"username":"cid","password":"correct horse","role":"viewer","admin":true}`: "admin",
	} {
		e.call("POST", users, body).wantField(422, field, "")
	}
	for _, token := range []string{operatorToken, viewerToken, apiToken} {
		e.call("GET", users, "", "Authorization", "Bearer "+token).wantCode(403, "forbidden")
		e.call("POST", users, `{}`, "Authorization", "Bearer "+token).wantCode(403, "forbidden")
	}
}

// A token that could make users, or set their passwords, would be a token for
// everything.
func TestNoTokenChangesUsers(t *testing.T) {
	e := newEdge(t)
	for _, token := range []string{userAdminToken, wholeToken} {
		with := []string{"Authorization", "Bearer " + token}
		e.call("GET", users, "", with...).want(200)
		e.call("GET", users+"/id-of-admin", "", with...).want(200)
		e.call("POST", users, `{"username":"eve","password":"correct horse","role":"admin"}`, with...).wantCode(403, "forbidden")
		a := e.call("PUT", users+"/id-of-admin", `{"role":"admin","password":"another horse"}`, with...)
		a.wantCode(403, "forbidden")
		require.Contains(t, a.body, "this token does not hold the permission user:write")
		e.call("DELETE", users+"/id-of-admin", "", with...).wantCode(403, "forbidden")
		e.call("POST", tokens, `{}`, with...).wantCode(403, "forbidden")
		e.call("POST", "/api/v1/auth/password", `{}`, with...).wantCode(403, "forbidden")
	}
	require.Len(t, e.people.users, 1)
	e.call("POST", tokens, `{"name":"x","expiresAt":"2026-12-20T12:00:00Z","scopes":["user:write"]}`).wantField(422, "scopes", "unknown_value")

	held := func(token string) any {
		return e.call("GET", "/api/v1/auth/me", "", "Authorization", "Bearer "+token).want(200).json()["permissions"]
	}
	require.Equal(t, []any{"self", "user:admin"}, held(userAdminToken))
	require.Equal(t, []any{"self", "job:read"}, held(apiToken))
	require.NotContains(t, held(wholeToken), "user:write")
	require.Contains(t, held(wholeToken), "job:command")
	require.Contains(t, held(adminToken), "user:write")
}

func TestTokensAreShownOnceAndOnesOwn(t *testing.T) {
	e := newEdge(t)
	body := `{"name":"CI","scopes":["job:read"],"expiresAt":"2026-12-20T12:00:00Z"}`
	mine := e.call("POST", tokens, body, "Authorization", "Bearer "+viewerToken).want(201)
	secret := fmt.Sprint(mine.json()["token"])
	require.Regexp(t, "^pst_[0-9a-f]{64}$", secret)
	path := mine.header.Get("Location")
	e.call("POST", tokens, `{"name":"all","expiresAt":"2026-12-20T12:00:00Z"}`).want(201)
	own := e.call("GET", tokens, "", "Authorization", "Bearer "+viewerToken).want(200)
	require.Len(t, own.json()["items"], 1)
	all := e.call("GET", tokens, "").want(200)
	require.Len(t, all.json()["items"], 2, "an admin sees all")
	require.NotContains(t, own.body+all.body+e.log.String(), secret)
	for _, v := range e.people.tokens {
		require.NotContains(t, v.Hash, secret)
	}
	e.call("DELETE", path, "", "Authorization", "Bearer "+operatorToken).wantCode(404, "not_found")
	e.call("DELETE", path, "", "Authorization", "Bearer "+viewerToken).want(204)

	for body, field := range map[string]string{
		`{"name":"","expiresAt":"2026-12-20T12:00:00Z"}`: "name",
		`{"name":"x"}`: "expiresAt",
		`{"name":"x","expiresAt":"2026-11-20T12:00:00Z"}`:                     "expiresAt",
		`{"name":"x","expiresAt":"2027-11-22T12:00:01Z"}`:                     "expiresAt",
		`{"name":"x","expiresAt":"2026-12-20T12:00:00Z","scopes":["root"]}`:   "scopes",
		`{"name":"x","expiresAt":"2026-12-20T12:00:00Z","scopes":"job:read"}`: "scopes",
		`{"name":"x","expiresAt":"2026-12-20T12:00:00Z","userId":"u"}`:        "userId",
	} {
		e.call("POST", tokens, body).wantField(422, field, "")
	}
}

func TestATokenDoesWhatItsScopesSay(t *testing.T) {
	e := newEdge(t)
	with := []string{"Authorization", "Bearer " + apiToken}
	e.call("GET", "/api/v1/jobs", "", with...).want(200)
	e.call("GET", "/api/v1/auth/me", "", with...).want(200)
	a := e.call("POST", "/api/v1/jobs", `{}`, with...)
	a.wantCode(403, "forbidden")
	require.Contains(t, a.body, "this token does not hold the permission job:write")
	e.call("POST", tokens, `{}`, with...).wantCode(403, "forbidden")
	e.call("POST", "/api/v1/auth/password", `{}`, with...).wantCode(403, "forbidden")
}

func TestWhatChangesSomethingIsAudited(t *testing.T) {
	e := newEdge(t)
	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"hunter2"}`, "Authorization", "").want(401)
	e.call("POST", "/api/v1/auth/login", `{"username":"ann","password":"right"}`, "Authorization", "").want(200)
	e.call("GET", "/api/v1/jobs", "").want(200)
	e.call("GET", tokens, "").want(200)
	e.call("POST", "/api/v1/schedules/preview", `{}`)
	e.call("GET", "/api/v1/jobs", "", "Authorization", "").want(401)
	e.call("GET", "/api/v1/jobs", "", "Authorization", "Bearer wrong").want(401)
	e.call("POST", "/api/v1/jobs", `{}`, "Authorization", "Bearer "+viewerToken).want(403)
	created := e.call("POST", "/api/v1/jobs", `{"name":"j","jobType":"CUSTOM","jobClass":"noop"}`).want(201)
	id := fmt.Sprint(created.json()["id"])
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k","jobType":"CUSTOM","jobClass":"noop","version":1,"priority":7}`).want(200)
	e.call("DELETE", "/api/v1/jobs/none", "").want(404)
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k"}`).want(422)
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k","jobType":"CUSTOM","jobClass":"noop","version":1}`).want(409)
	require.Equal(t, []string{
		" POST /api/v1/auth/login user ann 401 wrong_credentials",
		"ann@192.0.2.1 POST /api/v1/auth/login user ann 200 ",
		"viewer POST /api/v1/jobs  403 forbidden",
		"admin POST /api/v1/jobs " + id + " 201 ",
		"admin PUT /api/v1/jobs/:id " + id + " 200 ",
		"admin PUT /api/v1/jobs/:id " + id + " 409 stale_version",
	}, e.people.actions())
	require.JSONEq(t, `{"name":["j","k"],"priority":[5,7]}`, e.people.audit[4].Changes)
	require.NotEmpty(t, e.people.audit[4].Address)
	require.NotEmpty(t, e.people.audit[4].RequestID)
	require.NotContains(t, fmt.Sprint(e.people.audit), "hunter2")

	log := e.call("GET", "/api/v1/audit-logs?userId=id-of-admin", "").want(200).json()["items"].([]any)
	require.Len(t, log, 3)
	require.Equal(t, map[string]any{"name": []any{"j", "k"}, "priority": []any{5.0, 7.0}}, log[1].(map[string]any)["changes"])
	require.Nil(t, log[2].(map[string]any)["changes"])
	require.Equal(t, []any{id, "j", 1.0}, []any{log[1].(map[string]any)["object"], log[1].(map[string]any)["objectName"], log[1].(map[string]any)["calls"]})
	e.call("GET", "/api/v1/audit-logs", "", "Authorization", "Bearer "+operatorToken).want(403)
	e.call("GET", "/api/v1/audit-logs?from=x", "").wantField(422, "from", "")

	e.people.err = apperror.Unavailable(fmt.Errorf("down"))
	e.call("POST", "/api/v1/jobs", `{"name":"l","jobType":"CUSTOM","jobClass":"noop"}`).want(201)
	require.Contains(t, e.log.String(), "a call is missing from the audit log")
}
