package e2e_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/apitest"
	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	appserver "github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/logging/logtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// anything is the class of a handler that takes any data.
const anything = "anything"

// rig is a server with a job, a run of it, a dead letter, and a view of its
// tables past the server.
type rig struct {
	*server
	db     *sql.DB
	sqlite bool
	log    *logtest.Log
	// ids stand in the place of the names that paths of cases hold.
	ids *strings.Replacer
}

// newRig starts a server on a store and makes what cases refer to.
func newRig(t *testing.T, store persistence.Config) *rig {
	t.Helper()
	dataDir := t.TempDir()
	flags := map[string]string{
		"dataDir": dataDir, "server.addr": "127.0.0.1:0", "server.shutdownGraceSec": "1",
		"auth.initialAdminPassword": apitest.AdminPassword, "store.driver": store.Driver,
	}
	driver, dsn := "sqlite", "file:"+dataDir+"/"+datafolder.DatabaseFile+"?mode=ro"
	if store.Driver == "mysql" {
		driver, dsn, flags["store.dsn"] = "mysql", store.DSN, store.DSN
	}
	cfg, _, err := config.Load(config.Options{Flags: flags})
	require.NoError(t, err)
	r := &rig{sqlite: driver == "sqlite", log: &logtest.Log{}}
	machine := clock.NewSystem()
	executor, err := executors.New(cfg, executors.Options{Clock: machine, Served: true, Handlers: map[string]sdk.Handler{
		anything: sdk.HandlerFunc(func(context.Context, *sdk.Run) error { return nil }),
	}})
	require.NoError(t, err)
	srv, err := appserver.New(t.Context(), cfg, app.Options{
		Clock: machine, Executor: executor, Logger: slog.New(slog.NewTextHandler(r.log, nil)),
	})
	require.NoError(t, err)
	require.NoError(t, srv.Start())
	t.Cleanup(func() { require.NoError(t, srv.Stop(context.Background())) })
	r.db, err = sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.db.Close()) })

	r.server = &server{t: t, url: srv.URL()}
	var login struct{ Token string }
	r.must(200, http.MethodPost, "/api/v1/auth/login",
		map[string]any{"username": "admin", "password": apitest.AdminPassword}, &login)
	r.token = login.Token
	r.furnish()
	return r
}

// on is the same rig for a subtest.
func (r *rig) on(t *testing.T) *rig {
	sub, srv := *r, *r.server
	srv.t = t
	sub.server = &srv
	return &sub
}

// furnish makes a job with a run that has a log, and a dead letter.
func (r *rig) furnish() {
	r.t.Helper()
	var job, failing struct{ ID string }
	r.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "talk", "jobType": "CUSTOM", "jobClass": "log", "jobData": map[string]any{"lines": []string{"a line"}},
	}, &job)
	r.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "fails", "jobType": "CUSTOM", "jobClass": "fail",
		"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 10},
	}, &failing)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	r.must(202, http.MethodPost, "/api/v1/jobs/"+job.ID+"/trigger", nil, &run)
	r.must(202, http.MethodPost, "/api/v1/jobs/"+failing.ID+"/trigger", nil, nil)
	var letters struct {
		Items []struct{ ExecutionID string }
	}
	r.await("a dead letter", "/api/v1/dead-letters", &letters, func() bool { return len(letters.Items) == 1 })
	var log struct{ Items []struct{ Seq int } }
	r.await("a log", "/api/v1/executions/"+run.IDs[0]+"/logs", &log, func() bool { return len(log.Items) == 1 })
	var row struct{ Status string }
	r.await("a run that is over", "/api/v1/executions/"+run.IDs[0], &row, func() bool { return row.Status == "SUCCESS" })
	r.ids = strings.NewReplacer("/"+apitest.JobID, "/"+job.ID, "/"+apitest.RunID, "/"+run.IDs[0], "/"+apitest.LetterID,
		"/"+letters.Items[0].ExecutionID)
	r.awaitQuiet()
}

// awaitQuiet waits until every event was delivered: then nothing changes any
// more by itself.
func (r *rig) awaitQuiet() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		var n int
		require.NoError(r.t, r.db.QueryRow("SELECT COUNT(*) FROM scheduler_outbox").Scan(&n))
		return n == 0
	}, 20*time.Second, 20*time.Millisecond)
}

// send sends a request as it is and returns the answer. The headers are those
// of a case.
func (r *rig) send(method, path, body string, headers ...string) (int, http.Header, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url, strings.NewReader(body))
	require.NoError(r.t, err)
	where, query, _ := strings.Cut(r.ids.Replace(path), "?")
	req.URL.Opaque, req.URL.RawQuery = where, query
	if strings.HasPrefix(where, "//") { // would be a host
		req.URL.Opaque = "http:" + strings.TrimPrefix(r.url, "http:") + where
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return res.StatusCode, res.Header, string(answer)
}

// tables are a fingerprint of every table by name. The node's own row changes
// with every heartbeat; deliveries empty the outbox, whose numbers SQLite
// keeps in a table of its own.
func (r *rig) tables() map[string]string {
	r.t.Helper()
	list := "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()"
	if r.sqlite {
		list = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	out := map[string]string{}
	for _, row := range r.query(list) {
		name := row[0]
		// What the server writes by itself: its beats, figures, and what it makes of runs that ended.
		if !slices.Contains([]string{
			"scheduler_node_registry", "scheduler_outbox", "scheduler_metrics", "scheduler_audit_log", "scheduler_end_digest",
			"scheduler_noted_end", "scheduler_store_state",
			"scheduler_fold", "scheduler_job_stat", "scheduler_scope_stat", "scheduler_job_baseline",
			"scheduler_alert_evaluation",
		}, name) {
			out[name] = fingerprint(r.query("SELECT * FROM " + name))
		}
	}
	require.Greater(r.t, len(out), 10)
	return out
}

func fingerprint(rows [][]string) string {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = fmt.Sprintf("%q", row)
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%d rows %s", len(rows), hex.EncodeToString(sum[:8]))
}

// query reads rows as texts.
func (r *rig) query(statement string) (out [][]string) {
	r.t.Helper()
	rows, err := r.db.QueryContext(r.t.Context(), statement)
	require.NoError(r.t, err)
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	require.NoError(r.t, err)
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		require.NoError(r.t, rows.Scan(into...))
		texts := make([]string, len(columns))
		for i, v := range values {
			texts[i] = fmt.Sprint(v.Valid, v.String)
			if v.Valid {
				texts[i] = v.String
			}
		}
		out = append(out, texts)
	}
	require.NoError(r.t, rows.Err())
	return out
}

// unchanged checks that every table is as it was.
func (r *rig) unchanged(before map[string]string) {
	r.t.Helper()
	after := r.tables()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		require.Equal(r.t, before[name], after[name], "%s changed", name)
	}
}

// blameless checks that the server logged no failure of its own, and that
// every line is one that it wrote.
func (r *rig) blameless() {
	r.t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(r.log.String()), "\n") {
		require.True(r.t, strings.HasPrefix(line, "time="), "a forged line: %q", line)
		require.NotContains(r.t, line, "level=ERROR")
		require.NotContains(r.t, line, "\x1b")
	}
}

// eachRig runs a test on every store.
func eachRig(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, store persistence.Config) {
		r := newRig(t, store)
		test(t, r)
		r.blameless()
	})
}
