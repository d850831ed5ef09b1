package e2e_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	nodes "github.com/platform-scheduler/platform-scheduler/test/rig"
)

// contractor accepts every call with 202, those of /slow when the test says, and
// reports when the test says.
type contractor struct {
	*httptest.Server

	// slow is closed when the calls of /slow are answered.
	slow chan struct{}

	mu sync.Mutex
	// calls are those of each execution, in order.
	calls map[string][]http.Header
}

func newContractor(t *testing.T) *contractor {
	t.Helper()
	c := &contractor{calls: map[string][]http.Header{}, slow: make(chan struct{})}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		id := r.Header.Get("X-Scheduler-Execution-Id")
		c.calls[id] = append(c.calls[id], r.Header.Clone())
		c.mu.Unlock()
		if r.URL.Path == "/slow" {
			select {
			case <-c.slow:
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *contractor) of(id string) []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[id]
}

// report posts to a node about the latest attempt, and returns the status; zero
// where nobody answered.
func (c *contractor) report(t *testing.T, base, id, body string) int {
	t.Helper()
	calls := c.of(id)
	require.NotEmpty(t, calls)
	h := calls[len(calls)-1]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+h.Get("X-Scheduler-Report-Path"),
		bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Scheduler-Run-Token", h.Get("X-Scheduler-Run-Token"))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// fleet is three processes of the product on one store.
type fleet struct {
	t      *testing.T
	nodes  []*nodes.Node
	target *contractor
	store  *nodes.Proxy
	token  string
}

const fleetPassword = "an admin of a test fleet"

func newFleet(t *testing.T) *fleet {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	dsn, err := mysql.ParseDSN(dbtest.Migrated(t).DSN)
	require.NoError(t, err)
	f := &fleet{t: t, target: newContractor(t)}
	f.store, err = nodes.NewProxy(dsn.Addr)
	require.NoError(t, err)
	t.Cleanup(f.store.Close)
	dsn.Addr = f.store.Addr()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	dir := t.TempDir()
	for i := range 3 {
		addr, err := nodes.FreeAddr(t.Context())
		require.NoError(t, err)
		id := fmt.Sprintf("n%d", i+1)
		n := &nodes.Node{Binary: binary, Addr: addr, Env: []string{
			asServer + "=1", "PS_STORE_DRIVER=mysql", "PS_STORE_DSN=" + dsn.FormatDSN(), "PS_NODE_ID=" + id,
			"PS_NODE_LABELS=at=" + id,
			"PS_DATA_DIR=" + filepath.Join(dir, id), "PS_AUTH_INITIAL_ADMIN_PASSWORD=" + fleetPassword, "PS_LOG_LEVEL=info",
			"PS_SECRETS_KEY=" + base64.StdEncoding.EncodeToString(key), "PS_EXECUTOR_HTTP_ALLOWPRIVATE=true",
			"PS_SERVER_SHUTDOWN_GRACE_SEC=5",
		}}
		f.nodes = append(f.nodes, n)
		f.start(n)
	}
	t.Cleanup(func() {
		for _, n := range f.nodes {
			if !n.Exited() {
				n.Kill()
			}
		}
	})
	return f
}

func (f *fleet) start(n *nodes.Node) {
	f.t.Helper()
	_, err := n.Start(f.t.Context(), "")
	require.NoError(f.t, err, n.Stderr())
}

// at is a client of a node's API.
func (f *fleet) at(n *nodes.Node) *server {
	f.t.Helper()
	s := &server{t: f.t, url: "http://" + n.Addr, token: f.token}
	if f.token == "" {
		var login struct{ Token string }
		s.must(200, http.MethodPost, "/api/v1/auth/login", map[string]any{"username": "admin", "password": fleetPassword},
			&login)
		f.token, s.token = login.Token, login.Token
	}
	return s
}

// job makes an asynchronous job of one node.
func (f *fleet) job(name, at string, more map[string]any) string {
	f.t.Helper()
	definition := map[string]any{
		"name": name, "jobType": "HTTP", "timeoutSec": 600, "jobData": map[string]any{
			"method": "POST", "url": f.target.URL,
			"async": true,
		},
	}
	if at != "" {
		definition["routing"] = map[string]any{"labels": map[string]any{"at": at}}
	}
	for key, value := range more {
		definition[key] = value
	}
	var job struct{ ID string }
	f.at(f.alive()).must(201, http.MethodPost, "/api/v1/jobs", definition, &job)
	return job.ID
}

func (f *fleet) alive() *nodes.Node {
	f.t.Helper()
	for _, n := range f.nodes {
		if !n.Exited() {
			return n
		}
	}
	require.Fail(f.t, "no node lives")
	return nil
}

// shownRun is what the tests look at.
type shownRun struct {
	ID, Status, Reason, NodeID, Result, ErrorMessage, Checkpoint, TriggeredBy string

	Attempt, Progress int
	Detached          bool
	Deadline          *string
	Output            any
	Params            map[string]any
}

func (f *fleet) run(via *nodes.Node, id string) (x shownRun) {
	f.t.Helper()
	f.at(via).must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &x)
	return x
}

// detached triggers a job over a node and waits until its target has accepted.
func (f *fleet) detached(via *nodes.Node, job string) string {
	f.t.Helper()
	var made struct {
		IDs []string `json:"executionIds"`
	}
	f.at(via).must(202, http.MethodPost, "/api/v1/jobs/"+job+"/trigger",
		map[string]any{"params": map[string]any{"day": 7}}, &made)
	f.awaitDetached(via, made.IDs[0], 1)
	return made.IDs[0]
}

func (f *fleet) awaitDetached(via *nodes.Node, id string, attempt int) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		x := f.run(via, id)
		return x.Detached && x.Attempt == attempt
	}, time.Minute, 20*time.Millisecond, "attempt %d of %s is detached", attempt, id)
}

// status waits until a node is seen as that by another one.
func (f *fleet) status(via *nodes.Node, id, want string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		var n struct{ Status string }
		f.at(via).must(200, http.MethodGet, "/api/v1/nodes/"+id, nil, &n)
		return n.Status == want
	}, time.Minute, 100*time.Millisecond, "%s is %s", id, want)
}

// postedOnce: whatever happened, the target was called once.
func (f *fleet) postedOnce(id string) {
	f.t.Helper()
	require.Len(f.t, f.target.of(id), 1, "the run was posted again")
}

const done = `{"status":"SUCCESS","result":"{\"rows\": 7}"}`

// Neither the death nor the stop nor the freeze of the node that posted a run
// touches it, nor that of all nodes; and any node takes its report.
func TestADetachedRunOutlivesItsNodes(t *testing.T) {
	dbtest.NeedMySQL(t)
	f := newFleet(t)
	n1, n2, n3 := f.nodes[0], f.nodes[1], f.nodes[2]
	base := func(n *nodes.Node) string { return "http://" + n.Addr }
	killed, stopped, frozen, all := f.job("killed", "n1", nil), f.job("stopped", "n2", nil), f.job("frozen", "n3", nil),
		f.job("all", "", nil)
	byKilled, byStopped, byFrozen, survivor := f.detached(n2, killed), f.detached(n3, stopped), f.detached(n1, frozen),
		f.detached(n1, all)
	again := f.detached(n2, killed)

	n1.Kill()
	require.NoError(t, n3.Signal(syscall.SIGSTOP))
	f.status(n2, "n1", "DOWN")
	f.status(n2, "n3", "DOWN")
	require.Equal(t, 204, f.target.report(t, base(n2), byKilled, `{"progress":40,"lines":["half"],"checkpoint":"row 7"}`))
	x := f.run(n2, byKilled)
	require.Equal(t, []any{"RUNNING", true, "", 40, "row 7", "admin", map[string]any{"day": 7.0}},
		[]any{x.Status, x.Detached, x.NodeID, x.Progress, x.Checkpoint, x.TriggeredBy, x.Params})
	require.Equal(t, 204, f.target.report(t, base(n2), byFrozen, done))
	require.Equal(t, 204, f.target.report(t, base(n2), byKilled, done))
	require.Equal(t, 409, f.target.report(t, base(n2), byKilled, done), "a report that is repeated")
	require.NoError(t, n3.Signal(syscall.SIGCONT))
	f.start(n1)
	f.status(n2, "n3", "UP")
	require.Zero(t, n2.Stop())
	f.status(n1, "n2", "DOWN")
	require.Equal(t, 204, f.target.report(t, base(n3), byStopped, done))

	require.Zero(t, n3.Stop())
	n1.Kill()
	require.Zero(t, f.target.report(t, base(n1), survivor, done), "nobody is there")
	for _, n := range []*nodes.Node{n1, n3} {
		f.start(n)
	}
	require.Equal(t, 204, f.target.report(t, base(n3), survivor, done))
	require.Equal(t, 204, f.target.report(t, base(n1), again, `{"status":"FAILED","message":"no stock"}`))
	for _, id := range []string{byKilled, byStopped, byFrozen, survivor} {
		x := f.run(n1, id)
		require.Equal(t, []any{"SUCCESS", map[string]any{"rows": 7.0}, 1}, []any{x.Status, x.Output, x.Attempt}, id)
		f.postedOnce(id)
	}
	x = f.run(n1, again)
	require.Equal(t, []any{"FAILED", "ERROR", "no stock"}, []any{x.Status, x.Reason, x.ErrorMessage})
	f.postedOnce(again)
}

// What ends a detached run beside its target, and what a target is told when
// the store cannot be asked.
func TestADetachedRunIsEndedWithoutItsTarget(t *testing.T) {
	dbtest.NeedMySQL(t)
	f := newFleet(t)
	n1, n2, n3 := f.nodes[0], f.nodes[1], f.nodes[2]
	base := func(n *nodes.Node) string { return "http://" + n.Addr }

	t.Run("its deadline", func(t *testing.T) {
		job := f.job("in time", "n1",
			map[string]any{"timeoutSec": 2, "retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 100}})
		id := f.detached(n1, job)
		require.Equal(t, 204, f.target.report(t, base(n2), id, `{"checkpoint":"row 7"}`))
		f.awaitDetached(n1, id, 2)
		require.Equal(t, "row 7", f.target.of(id)[1].Get("X-Scheduler-Checkpoint"),
			"the retry goes on where the first attempt was")
		require.Eventually(t, func() bool { return f.run(n1, id).Status == "DEAD" }, time.Minute, 50*time.Millisecond)
		require.Equal(t, 409, f.target.report(t, base(n3), id, done), "a late report")
		var attempts struct {
			Items []struct {
				Attempt              int
				Status, ErrorMessage string
			}
		}
		f.at(n1).must(200, http.MethodGet, "/api/v1/executions/"+id+"/attempts", nil, &attempts)
		require.Len(t, attempts.Items, 2)
		for _, a := range attempts.Items {
			require.Equal(t, "TIMEOUT", a.Status)
			require.Contains(t, a.ErrorMessage, "did not report its end within 2")
		}
	})

	t.Run("a cancel over another node", func(t *testing.T) {
		id := f.detached(n1, f.job("cancelled", "n1", nil))
		f.at(n3).must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
		require.Equal(t, "CANCELLED", f.run(n2, id).Status, "at once: nobody is asked to stop")
		require.Equal(t, 409, f.target.report(t, base(n2), id, `{"progress":50}`))
		f.postedOnce(id)
	})

	t.Run("an outage of the store", func(t *testing.T) {
		id := f.detached(n1, f.job("outage", "n1", nil))
		f.store.Set(nodes.Cut)
		require.Eventually(t, func() bool {
			return f.target.report(t, base(n2), id, done) == 503
		}, time.Minute, 50*time.Millisecond)
		f.store.Set(nodes.Pass)
		var status int
		require.Eventually(t, func() bool {
			status = f.target.report(t, base(n2), id, done)
			return status != 503 && status != 0
		}, time.Minute, 50*time.Millisecond)
		require.Contains(t, []int{204, 409}, status, "409: one that was answered with 503 had been stored")
		require.Equal(t, "SUCCESS", f.run(n3, id).Status)
		f.postedOnce(id)
	})

	t.Run("many hold no slot", func(t *testing.T) {
		job := f.job("many", "", nil)
		var wg sync.WaitGroup
		ids := make([]string, 1000)
		for worker := range 8 {
			wg.Go(func() {
				s := f.at(f.nodes[worker%3])
				for i := worker; i < len(ids); i += 8 {
					var made struct {
						IDs []string `json:"executionIds"`
					}
					s.must(202, http.MethodPost, "/api/v1/jobs/"+job+"/trigger", map[string]any{}, &made)
					ids[i] = made.IDs[0]
				}
			})
		}
		wg.Wait()
		require.Eventually(t, func() bool {
			f.target.mu.Lock()
			defer f.target.mu.Unlock()
			for _, id := range ids {
				if len(f.target.calls[id]) == 0 {
					return false
				}
			}
			return true
		}, 2*time.Minute, 100*time.Millisecond, "every run was posted")
		require.Eventually(t, func() bool {
			var nodes struct{ Items []struct{ Running int } }
			f.at(n1).must(200, http.MethodGet, "/api/v1/nodes", nil, &nodes)
			running := 0
			for _, n := range nodes.Items {
				running += n.Running
			}
			return len(nodes.Items) == 3 && running == 0
		}, time.Minute, 100*time.Millisecond, "no slot is taken")
		for _, id := range ids {
			f.postedOnce(id)
		}
		require.True(t, f.run(n2, ids[500]).Detached)
		require.Equal(t, 204, f.target.report(t, base(n3), ids[500], done))
	})
}
