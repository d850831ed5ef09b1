package api_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/application/service/audit"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// failingLog is an audit log that fails on demand, which a SQLite file does not.
type failingLog struct {
	repository.Audit
	err error
	// pageErr fails the second page.
	pageErr error
}

func (f *failingLog) AddAudit(ctx context.Context, e entity.AuditEntry) error {
	if f.err != nil {
		return f.err
	}
	return f.Audit.AddAudit(ctx, e)
}

// ListAudit has pages of two entries.
func (f *failingLog) ListAudit(ctx context.Context, filter repository.AuditFilter,
	p repository.Page,
) ([]entity.AuditEntry, string, error) {
	if f.pageErr != nil && p.Cursor != "" {
		return nil, "", f.pageErr
	}
	p.Limit = min(p.Limit, 2)
	return f.Audit.ListAudit(ctx, filter, p)
}

// failingLog puts a log that fails on demand before the real one.
func (e *edge) failingLog() *failingLog {
	e.t.Helper()
	f := &failingLog{Audit: e.Store}
	e.rebuild(func(d *api.Deps) { d.Audit = audit.NewAuditService(f, e.Clock) })
	return f
}

// actions are the audit log as lines.
func (e *edge) actions() []string {
	e.t.Helper()
	var out []string
	for _, e := range e.kept() {
		out = append(out, fmt.Sprint(e.UserName, " ", e.Action, " ", e.Object, " ", e.Status, " ", e.Code))
	}
	return out
}

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
	require.Len(t, e.call("GET", users, "").want(200).json()["items"], 7, "the six accounts and bob")
	require.Equal(t, "viewer",
		e.call("PUT", path, `{"role":"viewer","username":"bob","permissions":[]}`).want(200).json()["role"])
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
		e.call("POST", users, `{"username":"eve","password":"correct horse","role":"admin"}`, with...).
			wantCode(403, "forbidden")
		a := e.call("PUT", users+"/id-of-admin", `{"role":"admin","password":"another horse"}`, with...)
		a.wantCode(403, "forbidden")
		require.Contains(t, a.body, "this token does not hold the permission user:write")
		e.call("DELETE", users+"/id-of-admin", "", with...).wantCode(403, "forbidden")
		e.call("POST", tokens, `{}`, with...).wantCode(403, "forbidden")
		e.call("POST", "/api/v1/auth/password", `{}`, with...).wantCode(403, "forbidden")
	}
	n, err := e.Store.CountUsers(t.Context())
	require.NoError(t, err)
	require.Equal(t, 6, n)
	e.call("POST", tokens, `{"name":"x","expiresAt":"2026-12-20T12:00:00Z","scopes":["user:write"]}`).
		wantField(422, "scopes", "unknown_value")

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
	require.Len(t, all.json()["items"], 5, "an admin sees all, also the three of the accounts")
	owners := map[any]int{}
	for _, item := range all.json()["items"].([]any) {
		owners[item.(map[string]any)["userName"]]++
	}
	require.Equal(t, map[any]int{"admin": 4, "viewer": 1}, owners, "each token of the list names its owner")
	require.NotContains(t, own.body+all.body+e.log.String(), secret)
	stored, _, err := e.Store.ListTokens(t.Context(), "", repository.Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, stored, 5)
	for _, v := range stored {
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
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k","jobType":"CUSTOM","jobClass":"noop","version":1,"priority":7}`).
		want(200)
	e.call("DELETE", "/api/v1/jobs/none", "").want(404)
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k"}`).want(422)
	e.call("PUT", "/api/v1/jobs/"+id, `{"name":"k","jobType":"CUSTOM","jobClass":"noop","version":1}`).want(409)
	require.Equal(t, []string{
		" POST /api/v1/auth/login user ann 401 wrong_credentials",
		"ann POST /api/v1/auth/login user ann 200 ",
		"viewer POST /api/v1/jobs  403 forbidden",
		"admin POST /api/v1/jobs " + id + " 201 ",
		"admin PUT /api/v1/jobs/:id " + id + " 200 ",
		"admin PUT /api/v1/jobs/:id " + id + " 409 stale_version",
	}, e.actions())
	require.JSONEq(t, `{"name":["j","k"],"priority":[5,7]}`, e.kept()[4].Changes)
	require.NotEmpty(t, e.kept()[4].Address)
	require.NotEmpty(t, e.kept()[4].RequestID)
	require.NotContains(t, fmt.Sprint(e.kept()), "hunter2")

	log := e.call("GET", "/api/v1/audit-logs?userId=id-of-admin", "").want(200).json()["items"].([]any)
	require.Len(t, log, 3)
	require.Equal(t, map[string]any{"name": []any{"j", "k"}, "priority": []any{5.0, 7.0}},
		log[1].(map[string]any)["changes"])
	require.Nil(t, log[0].(map[string]any)["changes"])
	require.Equal(t, []any{id, "j", 1.0}, []any{
		log[1].(map[string]any)["object"], log[1].(map[string]any)["objectName"],
		log[1].(map[string]any)["calls"],
	})
	e.call("GET", "/api/v1/audit-logs", "", "Authorization", "Bearer "+operatorToken).want(403)
	e.call("GET", "/api/v1/audit-logs?from=x", "").wantField(422, "from", "")

	e.failingLog().err = apperror.Unavailable(fmt.Errorf("down"))
	e.call("POST", "/api/v1/jobs", `{"name":"l","jobType":"CUSTOM","jobClass":"noop"}`).want(201)
	require.Contains(t, e.log.String(), "a call is missing from the audit log")
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	e := newEdge(t)
	const own = "/api/v1/auth/sessions"
	e.call("POST", users, `{"username":"bob","password":"correct horse","role":"viewer"}`).want(201)
	signIn := func() []string {
		a := e.call("POST", "/api/v1/auth/login", `{"username":"bob","password":"correct horse"}`).want(200)
		return []string{"Authorization", "Bearer " + a.json()["token"].(string)}
	}
	first, second := signIn(), signIn()
	list := e.call("GET", own, "", second...).want(200)
	items := list.json()["items"].([]any)
	require.Len(t, items, 2)
	current := 0
	for _, item := range items {
		if item.(map[string]any)["current"] == true {
			current++
		}
	}
	require.Equal(t, 1, current)
	require.NotContains(t, list.body, "pss_")
	require.NotContains(t, list.body, "oken")

	e.call("DELETE", own, "", second...).want(204)
	e.call("GET", own, "", first...).want(401)
	require.Len(t, e.call("GET", own, "", second...).want(200).json()["items"], 1)

	id := ""
	for _, u := range e.call("GET", users, "").want(200).json()["items"].([]any) {
		if u := u.(map[string]any); u["username"] == "bob" {
			id = u["id"].(string)
		}
	}
	e.call("DELETE", users+"/"+id+"/sessions", "", second...).wantCode(403, "forbidden")
	e.call("DELETE", users+"/"+id+"/sessions", "").want(204)
	e.call("GET", own, "", second...).want(401)
	signIn()
	e.call("DELETE", users+"/none/sessions", "").wantCode(404, "not_found")
	e.call("GET", own, "", "Authorization", "Bearer "+apiToken).wantCode(403, "forbidden")
	require.Contains(t, e.actions(), "admin DELETE /api/v1/users/:id/sessions "+id+" 204 ")
}

// A page is shown by whom somebody else gave the password; a program is not.
func TestAPasswordOfSomebodyElseIsChangedFirst(t *testing.T) {
	e := newEdge(t)
	job := "/api/v1/jobs/" + e.create(encode(t, minimal()))["id"].(string) + "/pause"
	who := e.call("POST", users, `{"username":"bob","password":"correct horse","role":"operator"}`).want(201)
	require.Equal(t, true, who.json()["mustChangePassword"])
	token := e.Session(t, who.json()["id"].(string))
	page := byCookie(token, "X-CSRF-Token", csrfOf(token))

	require.Equal(t, true, e.call("GET", mePath, "", page...).want(200).json()["mustChangePassword"])
	e.call("POST", job, "", page...).wantCode(403, "password_change_required")
	e.call("POST", tokens, `{"name":"x","expiresAt":"2026-03-01T12:00:00Z"}`, page...).
		wantCode(403, "password_change_required")
	e.call("GET", tokens, "", page...).want(200)
	e.call("POST", "/api/v1/schedules/preview", `{"schedule":{"kind":"CRON","cronExpression":"0 0 3 * * ?"}}`, page...).
		want(200)
	require.Equal(t, true, e.call("GET", mePath, "", "Authorization",
		"Bearer "+token).want(200).json()["mustChangePassword"])
	e.call("POST", job, "", "Authorization", "Bearer "+token).want(200)

	// The sessions of the old password end; the page goes on with a new one.
	renewed := e.call("POST", "/api/v1/auth/password",
		`{"oldPassword":"correct horse","newPassword":"own wild horse"}`, page...).want(204)
	e.call("GET", mePath, "", page...).want(401)
	token = renewed.cookieOf().Value
	page = byCookie(token, "X-CSRF-Token", csrfOf(token))
	require.Equal(t, false, e.call("GET", mePath, "", page...).want(200).json()["mustChangePassword"])
	e.call("POST", job, "", page...).want(200)

	own := e.call("POST", "/api/v1/auth/password", `{"oldPassword":"own wild horse","newPassword":"own tame horse"}`,
		page...).want(204)
	require.Contains(t, own.header.Get("Set-Cookie"), "Max-Age=0", "a change of one's own accord asks for a sign-in")
	e.call("GET", mePath, "", page...).want(401)
}

func TestAnAdminSaysWhoseThePasswordIs(t *testing.T) {
	e := newEdge(t)
	must := func(a answer) any { return a.json()["mustChangePassword"] }
	a := e.call("POST", users,
		`{"username":"ci","password":"correct horse","role":"operator","mustChangePassword":false}`).want(201)
	require.Equal(t, false, must(a))
	path := a.header.Get("Location")
	require.Equal(t, true, must(e.call("PUT", path, `{"role":"operator","password":"other horse"}`).want(200)))
	require.Equal(t, true, must(e.call("PUT", path, `{"role":"viewer","mustChangePassword":false}`).want(200)),
		"it counts with a password alone")
	require.Equal(t, true, must(e.call("GET", path, "").want(200)))
	require.Equal(t, false, must(e.call("PUT", path,
		`{"role":"viewer","password":"third horse","mustChangePassword":false}`).want(200)))
	e.call("POST", users, `{"username":"x","password":"correct horse","role":"viewer","mustChangePassword":"no"}`).
		wantField(422, "mustChangePassword", "wrong_type")
	require.Equal(t, false, must(e.call("PUT", users+"/id-of-admin",
		`{"role":"admin","password":"my own horse"}`).want(200)), "nobody else knows it")
}
