package degrade_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// bound is the time-out of a request, one second, with room for a busy machine; it
// is less than the five seconds that a call has by default.
const bound = 4 * time.Second

// calls is one of every kind that needs the store; JOB is the id of a job.
var calls = []string{
	`POST /auth/login {"username":"admin","password":"` + adminPassword + `"}`,
	"GET /auth/me", "GET /jobs", "GET /jobs/JOB", "POST /jobs/JOB/pause", "POST /jobs/JOB/resume",
	"POST /jobs/JOB/trigger", "GET /jobs/JOB/versions",
	"GET /jobs/JOB/fires", "GET /jobs/JOB/next-fire-times",
	`POST /jobs {"name":"new","jobType":"CUSTOM","jobClass":"noop"}`, "DELETE /jobs/JOB",
	"GET /groups", `POST /groups {"name":"g"}`, "GET /executions", "GET /dead-letters", "GET /nodes",
	"POST /nodes/node-1/drain", "GET /users", "GET /tokens",
	"GET /secrets", "GET /audit-logs", "GET /audit-logs/export", "GET /export", "GET /monitor/overview",
	"GET /schedules/load", "POST /schedules/preview {}",
	`POST /bulk/jobs/pause {"ids":["JOB"]}`, `POST /import {"version":1,"jobs":[]}`, "GET /executions/JOB/logs/stream",
	"POST /jobs/pause",
}

// all makes every call some times at once, with other keys each time.
func (n *node) all(job string, times int, check func(call string, a answer)) {
	var wg sync.WaitGroup
	for i := range times {
		for _, one := range calls {
			wg.Go(func() {
				method, rest, _ := strings.Cut(strings.ReplaceAll(one, "JOB", job), " ")
				path, body, _ := strings.Cut(rest, " ")
				check(one, n.call(method, "/api/v1"+path, body, "Idempotency-Key", fmt.Sprint(one[:3], len(one), "-", i)))
			})
		}
	}
	wg.Wait()
}

func TestASilentStoreIsAnsweredInTime(t *testing.T) {
	needServices(t)
	dsn, store := behind(t)
	n := start(t, settings(t, dsn, strings.Join(redistest.Config().Addrs, ","), nil))
	job := n.job("one", "500")
	for range 2 {
		store.Set(rig.BlackHole)
		n.all(job, 2, func(call string, a answer) {
			assert.NoError(t, a.err, call)
			assert.Equal(t, 503, a.status, "%s: %s", call, a.body)
			assert.Contains(t, []any{"store_unavailable", "timeout", "outcome_unknown"}, a.field("code"), call)
			assert.True(t, a.header.Get("Retry-After") != "" || a.field("code") == "outcome_unknown", call)
			assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"), call)
			assert.Less(t, a.took, bound, call)
		})
		began := time.Now()
		status, parts := n.degraded()
		require.Equal(t, 503, status)
		require.Contains(t, parts, "store")
		require.Less(t, time.Since(began), bound)
		require.Equal(t, 200, n.call("GET", "/healthz", "").status)
		require.Less(t, n.call("GET", "/metrics", "").took, 2*bound)
		store.Set(rig.Pass)
		a := n.call("GET", "/api/v1/jobs/"+job, "")
		require.Equal(t, 200, a.status, "at once: %s", a.body)
		require.Less(t, a.took, bound)
	}
	require.Eventually(t, func() bool {
		status, parts := n.degraded()
		return status == 200 && len(parts) == 0
	}, within, 100*time.Millisecond)
}

func TestConnectionsThatDiedUnseenAreReplaced(t *testing.T) {
	needServices(t)
	dsn, store := behind(t)
	n := start(t, settings(t, dsn, strings.Join(redistest.Config().Addrs, ","), nil))
	job := n.job("one", "200")
	n.all(job, 1, func(string, answer) {}) // fill the pool
	job = n.job("two", "")
	store.Set(rig.HalfOpen)
	n.all(job, 2, func(call string, a answer) {
		assert.NoError(t, a.err, call)
		assert.NotEqual(t, 500, a.status, "%s: %s", call, a.body)
		assert.Less(t, a.took, bound, call)
	})
	for range 20 {
		a := n.call("GET", "/api/v1/executions?limit=1", "")
		require.Equal(t, 200, a.status, "no dead connection is met any more: %s", a.body)
		require.Less(t, a.took, bound)
	}
	store.Set(rig.Pass)
}

func TestAKeyWhoseCallWasCutCanBeUsedAgain(t *testing.T) {
	needServices(t)
	cfg := dbtest.Migrated(t)
	dsn, store := through(t, cfg.DSN)
	n := start(t, settings(t, dsn, strings.Join(redistest.Config().Addrs, ","), nil))
	job := n.job("one", "")
	trigger := func() answer {
		return n.call("POST", "/api/v1/jobs/"+job+"/trigger", "", "Idempotency-Key", "key-1")
	}
	// The call begins, waits for a locked table, and then the store is silent: it
	// can neither end nor be noted as ended.
	direct := dbtest.Raw(t, cfg)
	beside, err := direct.Conn(t.Context())
	require.NoError(t, err)
	defer beside.Close()
	_, err = beside.ExecContext(t.Context(), "LOCK TABLES scheduler_job_execution WRITE")
	require.NoError(t, err)
	cut := make(chan answer, 1)
	go func() { cut <- trigger() }()
	require.Eventually(t, func() bool {
		begun := 0
		return direct.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM scheduler_idempotency_key").Scan(&begun) == nil &&
			begun == 1
	}, within, 5*time.Millisecond)
	store.Set(rig.BlackHole)
	require.Equal(t, 503, (<-cut).status)
	_, err = beside.ExecContext(t.Context(), "UNLOCK TABLES")
	require.NoError(t, err)
	store.Set(rig.Pass)
	var a answer
	require.Eventually(t, func() bool {
		a = trigger()
		return a.status == 202
	}, within, 100*time.Millisecond, "%s", a.body)
	again := trigger()
	require.Equal(t, []any{202, a.body, "true"}, []any{again.status, again.body, again.header.Get("Idempotent-Replayed")})
	runs := n.call("GET", "/api/v1/executions?jobId="+job, "").field("items").([]any)
	require.Len(t, runs, 1)
}
