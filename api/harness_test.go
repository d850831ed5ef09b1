package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/controller/access"
	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/resttest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
)

// The tokens of the accounts behind the harness.
const (
	adminToken    = resttest.AdminToken
	operatorToken = resttest.OperatorToken
	viewerToken   = resttest.ViewerToken
	// boundToken is of an operator who sees two groups, and may only read in one.
	boundToken = resttest.BoundToken
	// keeperToken is of the same with the right to make secrets.
	keeperToken = resttest.KeeperToken
	// apiToken is an admin's that may only read jobs.
	apiToken = resttest.ReadToken
	// userAdminToken is an admin's for users, wholeToken one for everything.
	userAdminToken = resttest.UserToken
	wholeToken     = resttest.WholeToken
)

var now = resttest.Noon

// edge is the API over the real services.
type edge struct {
	t *testing.T
	*resttest.Backend
	router *api.Router
	// parts are those of the router.
	parts api.Deps
	// probesOnly: it is not the documented API that is served.
	probesOnly bool
	log        *logtest.Log
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	return edgeOf(t, enginetest.Options{})
}

func edgeOf(t *testing.T, o enginetest.Options) *edge {
	t.Helper()
	e := &edge{t: t, Backend: resttest.New(t, o), log: &logtest.Log{}}
	d := e.Deps(slog.New(slog.NewJSONHandler(e.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	d.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, "up 1\n")
	})
	d.Version = vo.Version{Version: "1.2.3"}
	e.parts = d
	e.rebuild(func(*api.Deps) {})
	return e
}

// rebuild makes the router anew, with other parts.
func (e *edge) rebuild(change func(d *api.Deps)) {
	e.t.Helper()
	change(&e.parts)
	var err error
	e.router, err = api.NewRouter(e.parts)
	require.NoError(e.t, err)
}

// on is the same edge for a subtest.
func (e *edge) on(t *testing.T) *edge {
	sub := *e
	sub.t = t
	return &sub
}

// failing is a JobService that fails in ways that the real one is built not to.
type failing struct {
	api.JobService
	err    error
	panics any
}

func (f *failing) fail() error {
	if f.panics != nil {
		panic(f.panics)
	}
	return f.err
}

func (f *failing) Create(ctx context.Context, job *entity.Job, enabled bool) (*entity.Job, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.JobService.Create(ctx, job, enabled)
}

func (f *failing) Replace(ctx context.Context, id string, job *entity.Job, version, ifMatch int) (*entity.Job, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.JobService.Replace(ctx, id, job, version, ifMatch)
}

func (f *failing) Trigger(ctx context.Context, id string, t job.Trigger) ([]string, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.JobService.Trigger(ctx, id, t)
}

// failingJobs puts a failing service of jobs before the real one.
func (e *edge) failingJobs() *failing {
	e.t.Helper()
	f := &failing{JobService: e.Jobs}
	e.rebuild(func(d *api.Deps) { d.Jobs = f })
	return f
}

// failingAuth is an AuthService that cannot ask its store.
type failingAuth struct {
	access.AuthService
	err error
}

func (f failingAuth) Authenticate(context.Context, string) (entity.Principal, error) {
	return entity.Principal{}, f.err
}

// all are the stored jobs, in the order of their creation.
func (e *edge) all() []*entity.Job {
	e.t.Helper()
	jobs, next, err := e.Store.Jobs.List(e.t.Context(), repository.JobFilter{}, repository.Page{Limit: 1000})
	require.NoError(e.t, err)
	require.Empty(e.t, next)
	slices.Reverse(jobs)
	return jobs
}

// audit is the audit log, oldest first.
func (e *edge) kept() []entity.AuditEntry {
	e.t.Helper()
	entries, next, err := e.Store.ListAudit(e.t.Context(), repository.AuditFilter{}, repository.Page{Limit: 1000})
	require.NoError(e.t, err)
	require.Empty(e.t, next)
	slices.Reverse(entries)
	return entries
}

// put stores an execution in any state.
func (e *edge) put(x entity.Execution) {
	e.t.Helper()
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		row := x
		if row.ExitCode == nil {
			return tx.Executions.Insert(ctx, []*entity.Execution{&row})
		}
		// The exit code is known when an attempt ends, and not before.
		row.Status, row.Reason, row.EndTime = entity.StatusRunning, "", time.Time{}
		if err := tx.Executions.Insert(ctx, []*entity.Execution{&row}); err != nil {
			return err
		}
		refused, err := tx.Executions.Finish(ctx, []repository.Finish{{
			ID: x.ID, NodeID: x.NodeID, Epoch: x.Epoch, Token: x.Token, Status: x.Status, Reason: x.Reason,
			StartTime: x.StartTime, EndTime: x.EndTime,
			Duration: x.Duration, Progress: x.Progress, ErrorMessage: x.ErrorMessage, Result: x.Result, ExitCode: x.ExitCode,
		}}, now)
		require.Empty(e.t, refused)
		return err
	})
}

// dead is an execution of a job that used up its retries.
func dead(id, jobID string) entity.Execution {
	return entity.Execution{
		ID: id, JobID: jobID, FireKey: id, Trigger: entity.TriggerManual, ShardTotal: 1, JobVersion: 1, Priority: 5,
		Status: entity.StatusDead,
		Reason: entity.ReasonExitCode, RootID: id, ScheduledTime: now, DueTime: now, StartTime: now, EndTime: now,
		CreateTime: now, UpdateTime: now,
	}
}

// letter is the dead letter of an execution.
func letter(id, jobID string) entity.DeadLetter {
	return entity.DeadLetter{
		ExecutionID: id, JobID: jobID, Reason: entity.ReasonExitCode, Message: "exit 3",
		CreateTime: now,
	}
}

// deadRuns makes a job with executions that died, and their dead letters.
func (e *edge) deadRuns(ids ...string) (jobID string) {
	e.t.Helper()
	jobID = e.create(encode(e.t, minimal().with(fields{"name": "dies"})))["id"].(string)
	e.die(jobID, ids...)
	return jobID
}

// die adds executions of a job that died, and their dead letters.
func (e *edge) die(jobID string, ids ...string) {
	e.t.Helper()
	var rows []*entity.Execution
	var letters []entity.DeadLetter
	for _, id := range ids {
		row := dead(id, jobID)
		rows, letters = append(rows, &row), append(letters, letter(id, jobID))
	}
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, rows); err != nil {
			return err
		}
		return tx.Records.AddDeadLetters(ctx, letters)
	})
}

// keep stores what belongs to executions.
func (e *edge) keep(write func(ctx context.Context, r repository.RecordWriter) error) {
	e.t.Helper()
	e.Write(e.t, func(ctx context.Context, tx repository.Tx) error { return write(ctx, tx.Records) })
}

// runs are the executions of a job.
func (e *edge) runs(jobID string) []*entity.Execution { return e.Node.Executions(e.t, jobID) }

// signIn opens a session of an account.
func (e *edge) signIn(name string) (token string) {
	e.t.Helper()
	return e.Session(e.t, "id-of-"+name)
}

// as are the headers of a call with a token.
func as(token string) []string { return []string{"Authorization", "Bearer " + token} }

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
