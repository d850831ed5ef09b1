package fault_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// stage is three real nodes on a store of their own, with work on them.
type stage struct {
	t      *testing.T
	rig    *rig.Rig
	server *rig.Server
	target *crash.Target
	url    string
	db     *sql.DB
	token  string
	base   string
	// kafka names the topics of the nodes, where there are brokers.
	kafka config.Kafka
}

// newStage starts everything; redis says whether there is one, doors whether the nodes ask each other through
// proxies, more names other servers.
func newStage(t *testing.T, redis, doors bool, more ...string) *stage {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := folder(t, mathrand.Int64())
	s := &stage{t: t}
	if redis {
		more = append(more, "redis")
	}
	s.server, err = rig.StartServer(t.Context(), root, filepath.Join(dir, "services"), more...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.server.Down(context.Background())) })
	options := fault.Options(dir, 3)
	options.DSN, options.Redis, options.Doors = s.server.DSN, s.server.Redis, doors
	if s.server.Kafka != "" {
		s.makeTopics()
		options.Kafka, options.TopicPrefix = s.server.Kafka, s.kafka.TopicPrefix
	}
	options.Binary, err = rig.Build(t.Context(), dir)
	require.NoError(t, err)
	s.target, err = crash.NewTarget(filepath.Join(dir, "calls.jsonl"))
	require.NoError(t, err)
	web := s.target.Serve()
	s.url = web.URL
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		_ = s.target.Close()
	})
	s.rig, err = rig.NewRig(t.Context(), options)
	t.Cleanup(s.rig.Close)
	require.NoError(t, err)
	require.NoError(t, s.rig.Start(t.Context()))
	s.db, err = sql.Open("mysql", options.DSN)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.db.Close() })
	s.base = s.rig.Members[0].Base()
	s.token = s.call("POST", "/api/v1/auth/login",
		map[string]string{"username": "admin", "password": options.Password})["token"].(string)
	s.settle()
	return s
}

// client is a signed-in client of the first node.
func (s *stage) client() *crash.Client {
	s.t.Helper()
	c := &crash.Client{Base: s.rig.Members[0].Base()}
	require.NoError(s.t, c.Login(s.t.Context(), s.rig.Password))
	return c
}

// call sends to a node, which must answer well; a busy machine may have it try again. A node that has died
// meanwhile is left for another one; what it had done is done twice then.
func (s *stage) call(method, path string, body any) (answer map[string]any) {
	s.t.Helper()
	var status int
	require.Eventually(s.t, func() bool {
		status, answer = s.ask(s.t.Context(), s.base, method, path, body)
		if status == 0 {
			s.base = s.alive()
		}
		return status != 0 && status != http.StatusServiceUnavailable
	}, 30*time.Second, 200*time.Millisecond, "%s %s", method, path)
	require.Less(s.t, status, 300, "%s %s: %v", method, path, answer)
	return answer
}

// alive is the node that is asked, or another one where that one is dead.
func (s *stage) alive() string {
	base := s.base
	for _, m := range s.rig.Members {
		switch {
		case m.Base() == s.base && m.Up():
			return s.base
		case m.Up():
			base = m.Base()
		}
	}
	return base
}

func (s *stage) ask(ctx context.Context, base, method, path string, body any) (int, map[string]any) {
	raw, _ := json.Marshal(body)
	req, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(raw))
	if err != nil {
		return 0, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	answer := map[string]any{}
	_ = json.Unmarshal(text, &answer)
	return res.StatusCode, answer
}

// job makes one that calls the target for so long; schedule may be empty.
func (s *stage) job(name string, ms int, schedule string) string {
	s.t.Helper()
	definition := map[string]any{
		"name": name, "jobType": "HTTP", "timeoutSec": 300, "onNodeLoss": "RETRY",
		"jobData": map[string]any{"url": s.url + "/?ms=" + strconv.Itoa(ms), "method": "POST"},
	}
	if schedule != "" {
		definition["schedule"] = map[string]any{"kind": "FIXED_RATE", "intervalMs": json.Number(schedule)}
	}
	return s.call("POST", "/api/v1/jobs", definition)["id"].(string)
}

// settle waits until every node is UP and has been for a lease.
func (s *stage) settle() {
	s.t.Helper()
	since := time.Time{}
	require.Eventually(s.t, func() bool {
		if s.count("SELECT COUNT(*) FROM scheduler_node_registry WHERE status = 'UP'") != len(s.rig.Members) {
			since = time.Time{}
			return false
		}
		if since.IsZero() {
			since = time.Now()
		}
		return time.Since(since) > 3*time.Second
	}, time.Minute, 100*time.Millisecond, "the nodes are UP")
}

func (s *stage) count(query string, args ...any) (n int) {
	s.t.Helper()
	if err := s.db.QueryRowContext(s.t.Context(), query, args...).Scan(&n); err != nil {
		return -1
	}
	return n
}

// spread starts n long runs, by triggering jobs until each node has a third.
func (s *stage) spread(n, ms int) (jobs []string) {
	s.t.Helper()
	for i := range n {
		jobs = append(jobs, s.job(fmt.Sprint("long ", i, " ", rand.Text()), ms, ""))
	}
	for i, job := range jobs {
		s.base = s.rig.Members[i%len(s.rig.Members)].Base()
		s.call("POST", "/api/v1/jobs/"+job+"/trigger", map[string]any{})
	}
	s.base = s.rig.Members[0].Base()
	require.Eventually(s.t, func() bool {
		return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE status = 'RUNNING' AND job_id IN ('"+
			strings.Join(jobs, "','")+"')") == n
	}, 20*time.Second, 20*time.Millisecond, "they run")
	return jobs
}

// began is when each attempt of a job's runs began at the target.
func (s *stage) began(jobs []string) (calls []history.Call) {
	for _, c := range s.target.Calls() {
		if slices.Contains(jobs, c.Job) {
			calls = append(calls, c)
		}
	}
	return calls
}

// epochs is the sum of all epochs: a node that was declared has another one.
func (s *stage) epochs() int {
	s.t.Helper()
	return s.count("SELECT SUM(epoch) FROM scheduler_node_registry")
}

// logged counts the lines of all nodes that hold a text.
func (s *stage) logged(text string) (n int) {
	for _, m := range s.rig.Members {
		n += strings.Count(m.Node.Stderr(), text)
	}
	return n
}

// busiest is the node that runs most of some jobs, with those runs.
func (s *stage) busiest(jobs []string) (m *rig.Member, held []string) {
	s.t.Helper()
	for _, one := range s.rig.Members {
		runs := s.executions("SELECT id FROM scheduler_job_execution WHERE status = 'RUNNING' AND node_id = ? AND "+
			"job_id IN ('"+strings.Join(jobs, "','")+"')", one.ID)
		if len(runs) > len(held) {
			m, held = one, runs
		}
	}
	require.NotNil(s.t, m)
	return m, held
}

func (s *stage) executions(query string, args ...any) (ids []string) {
	s.t.Helper()
	rows, err := s.db.QueryContext(s.t.Context(), query, args...)
	require.NoError(s.t, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		require.NoError(s.t, rows.Scan(&id))
		ids = append(ids, id)
	}
	require.NoError(s.t, rows.Err())
	return ids
}
