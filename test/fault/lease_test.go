package fault_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/fault"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

var leaseLong = flag.Bool("lease.long", false, "the long forms of the tests of leases: all outages three times, with and without Redis, and 20 cuts")

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
}

// newStage starts everything; redis says whether there is one, doors whether the
// nodes ask each other through proxies.
func newStage(t *testing.T, redis, doors bool) *stage {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := folder(t, mathrand.Int64())
	s := &stage{t: t}
	more := []string{}
	if redis {
		more = append(more, "redis")
	}
	s.server, err = rig.StartServer(t.Context(), root, filepath.Join(dir, "services"), more...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.server.Down(context.Background())) })
	options := fault.Options(dir, 3)
	options.DSN, options.Redis, options.Cluster, options.Doors = s.server.DSN, s.server.Redis, true, doors
	options.Binary, err = rig.Build(t.Context(), dir)
	require.NoError(t, err)
	s.target, err = crash.NewTarget(filepath.Join(dir, "calls.jsonl"))
	require.NoError(t, err)
	web := httptest.NewServer(s.target)
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
	s.token = s.call("POST", "/api/v1/auth/login", map[string]string{"username": "admin", "password": options.Password})["token"].(string)
	s.settle()
	return s
}

// call sends to a node, which must answer well; a busy machine may have it try
// again.
func (s *stage) call(method, path string, body any) (answer map[string]any) {
	s.t.Helper()
	var status int
	require.Eventually(s.t, func() bool {
		status, answer = s.ask(s.t.Context(), s.base, method, path, body)
		return status != 0 && status != http.StatusServiceUnavailable
	}, 30*time.Second, 200*time.Millisecond, "%s %s", method, path)
	require.Less(s.t, status, 300, "%s %s: %v", method, path, answer)
	return answer
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
		return s.count("SELECT COUNT(*) FROM scheduler_job_execution WHERE status = 'RUNNING' AND job_id IN ('"+strings.Join(jobs, "','")+"')") == n
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

const stopsItsWork = "this node stops its work"

// An outage of the store for everybody kills nothing, with and without Redis.
func TestAnOutageOfTheStoreKillsNoRun(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	type outage struct {
		name string
		span time.Duration
		kill bool
	}
	outages, redis, times := []outage{{"frozen", 7 * time.Second, false}}, []bool{true}, 1
	if *leaseLong {
		outages = []outage{{"frozen", 15 * time.Second, false}, {"frozen", 30 * time.Second, false}, {"killed", 15 * time.Second, true}}
		redis, times = []bool{true, false}, 3
	}
	for _, with := range redis {
		t.Run(fmt.Sprintf("redis=%v", with), func(t *testing.T) {
			s := newStage(t, with, false)
			for _, o := range outages {
				for i := range times {
					jobs := s.spread(9, int((o.span + 25*time.Second).Milliseconds()))
					before := s.epochs()
					if o.kill {
						require.NoError(t, s.server.Kill(t.Context()))
					} else {
						require.NoError(t, s.server.Freeze())
					}
					time.Sleep(o.span)
					if o.kill {
						require.NoError(t, s.server.Up(t.Context()))
					} else {
						require.NoError(t, s.server.Thaw())
					}
					back := time.Now()
					s.settle()
					again, cut := 0, 0
					for _, c := range s.began(jobs) {
						if c.Attempt > 1 {
							again++
						}
						if c.Answer == history.AnswerCut {
							cut++
						}
					}
					t.Logf("store %s for %s (%d): %d of 9 runs cut, %d began again, %d stops; all UP %s after its return",
						o.name, o.span, i+1, cut, again, s.logged(stopsItsWork), time.Since(back).Round(100*time.Millisecond))
					require.Zero(t, again+cut)
					require.Zero(t, s.logged(stopsItsWork))
					require.Equal(t, before, s.epochs(), "nobody was declared dead")
				}
			}
		})
	}
}

// What a node's loss costs, and what does not cost a node.
func TestLossesOfNodes(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	s := newStage(t, true, false)
	var ticking []string
	for i := range 60 {
		ticking = append(ticking, s.job(fmt.Sprint("tick ", i), 1, "500"))
	}
	time.Sleep(3 * time.Second)
	t.Run("slow store", s.slow)
	t.Run("killed", func(t *testing.T) { s.lose(t, ticking, false) })
	t.Run("frozen", func(t *testing.T) { s.lose(t, ticking, true) })
	t.Run("flooded", s.flood)
}

// Cut from the store and from the others, a node stops before these take over.
func TestANodeThatIsCutOffStopsFirst(t *testing.T) {
	if testing.Short() {
		t.Log("the short loop does not start servers: see make test")
		return
	}
	newStage(t, true, true).cutOff(t)
}

// busiest is the node that runs most of some jobs, with those runs.
func (s *stage) busiest(jobs []string) (m *rig.Member, held []string) {
	s.t.Helper()
	for _, one := range s.rig.Members {
		runs := s.executions("SELECT id FROM scheduler_job_execution WHERE status = 'RUNNING' AND node_id = ? AND job_id IN ('"+strings.Join(jobs, "','")+"')", one.ID)
		if len(runs) > len(held) {
			m, held = one, runs
		}
	}
	require.NotNil(s.t, m)
	return m, held
}

// lose takes a node away and measures until its fires go on and its runs begin
// again elsewhere.
func (s *stage) lose(t *testing.T, ticking []string, freeze bool) {
	jobs := s.spread(9, 40_000)
	victim, held := s.busiest(jobs)
	at := time.Now()
	if freeze {
		victim.Freeze()
	} else {
		victim.Kill()
	}
	time.Sleep(8 * time.Second)
	fires, runs := time.Duration(0), time.Duration(0)
	for _, job := range ticking { // the longest pause of any of them
		last := at
		for _, c := range s.target.Calls() {
			if c.Job == job && c.Start.After(at) {
				fires = max(fires, c.Start.Sub(last))
				last = c.Start
			}
		}
		require.True(t, last.After(at), "its fires go on")
	}
	for _, id := range held {
		first := time.Time{}
		for _, c := range s.began(jobs) {
			if c.Execution == id && c.Attempt > 1 {
				first = c.Start
			}
		}
		require.False(t, first.IsZero(), "the run %s begins again", id)
		runs = max(runs, first.Sub(at))
	}
	thawed := time.Now()
	if freeze {
		victim.Thaw()
	} else {
		require.NoError(t, victim.Revive(t.Context()))
	}
	s.settle()
	stopped := time.Duration(0)
	for _, c := range s.began(jobs) { // its own calls end soon after it woke
		if slices.Contains(held, c.Execution) && c.Attempt == 1 && freeze {
			require.Equal(t, history.AnswerCut, c.Answer)
			stopped = max(stopped, c.End.Sub(thawed))
		}
	}
	cause := ""
	for _, m := range s.rig.Members {
		for _, line := range strings.Split(m.Node.Stderr(), "\n") {
			if strings.Contains(line, "stopped beating") && strings.Contains(line, `"DOWN"`) && strings.Contains(line, victim.ID) {
				cause = line[strings.Index(line, `"age"`):]
			}
		}
	}
	t.Logf("%s: the longest pause of a fire was %s, the last of %d runs began again after %s; the node stopped %s after it woke; %s",
		map[bool]string{false: "kill -9", true: "frozen"}[freeze], fires.Round(time.Millisecond), len(held), runs.Round(time.Millisecond), stopped.Round(time.Millisecond), cause)
	most := map[bool]time.Duration{false: 3 * time.Second, true: 4500 * time.Millisecond}[freeze]
	require.Less(t, fires, most+500*time.Millisecond, "and what was due in between")
	require.Less(t, runs, 5*time.Second)
	require.Less(t, stopped, 2*time.Second)
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

// cutOff cuts a node from the store and from the others: what it runs ends before
// it begins elsewhere.
func (s *stage) cutOff(t *testing.T) {
	rounds := 1
	if *leaseLong {
		rounds = 20
	}
	least := time.Hour
	for i := range rounds {
		jobs := s.spread(6, 30_000)
		victim, held := s.busiest(jobs)
		time.Sleep(time.Duration(mathrand.IntN(500)) * time.Millisecond)
		at := time.Now()
		for _, m := range s.rig.Members {
			m.Door.Set(rig.BlackHole)
		}
		victim.Store.Set(rig.BlackHole)
		victim.Hints.Set(rig.BlackHole)
		time.Sleep(7 * time.Second)
		require.NoError(t, s.rig.Heal(t.Context()))
		ended, began := time.Duration(0), time.Hour
		for _, c := range s.began(jobs) {
			switch {
			case !slices.Contains(held, c.Execution):
			case c.Attempt == 1:
				require.Equal(t, history.AnswerCut, c.Answer)
				ended = max(ended, c.End.Sub(at))
			default:
				began = min(began, c.Start.Sub(at))
			}
		}
		t.Logf("cut off (%d): %d runs ended %s after the cut at the latest, and began again after %s at the earliest: margin %s",
			i+1, len(held), ended.Round(time.Millisecond), began.Round(time.Millisecond), (began - ended).Round(time.Millisecond))
		require.NotEqual(t, time.Hour, began)
		least = min(least, began-ended)
		s.settle()
	}
	t.Logf("the least margin of %d cuts: %s", rounds, least.Round(time.Millisecond))
	require.Positive(t, least)
}

// slow lets each answer of the store take half a second for everybody.
func (s *stage) slow(t *testing.T) {
	span := 10 * time.Second
	if *leaseLong {
		span = time.Minute
	}
	before, stops := s.epochs(), s.logged(stopsItsWork)
	s.settle()
	for _, m := range s.rig.Members {
		m.Store.SlowBy(500 * time.Millisecond)
	}
	time.Sleep(span)
	require.NoError(t, s.rig.Heal(t.Context()))
	t.Logf("0.5 s for each answer of the store, for %s: %d nodes died, %d stops", span, s.epochs()-before, s.logged(stopsItsWork)-stops)
	require.Equal(t, before, s.epochs())
	require.Equal(t, stops, s.logged(stopsItsWork))
	s.settle()
}

// flood lets 60 callers wait for a job whose row somebody holds.
func (s *stage) flood(t *testing.T) {
	s.settle()
	victim := s.rig.Members[0]
	jobs := s.spread(6, 30_000)
	before, stops := s.epochs(), s.logged(stopsItsWork)
	locked := s.job("locked "+rand.Text(), 1, "")
	tx, err := s.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	var name string
	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT id FROM scheduler_job_definition WHERE id = ? FOR UPDATE", locked).Scan(&name))
	until := time.Now().Add(9 * time.Second)
	var callers sync.WaitGroup
	var mu sync.Mutex
	answers := map[int]int{}
	for range 60 {
		callers.Go(func() {
			for time.Now().Before(until) {
				status, _ := s.ask(t.Context(), victim.Base(), "POST", "/api/v1/jobs/"+locked+"/trigger", map[string]any{})
				mu.Lock()
				answers[status]++
				mu.Unlock()
			}
		})
	}
	suspect := 0
	for time.Now().Before(until) {
		suspect += s.count("SELECT COUNT(*) FROM scheduler_node_registry WHERE status <> 'UP'")
		time.Sleep(50 * time.Millisecond)
	}
	callers.Wait()
	again := 0
	for _, c := range s.began(jobs) {
		if c.Attempt > 1 || c.Answer == history.AnswerCut {
			again++
		}
	}
	t.Logf("60 callers of a job that is locked: answers by status %v; seen SUSPECT %d times, %d runs disturbed", answers, suspect, again)
	require.NotZero(t, answers[503])
	require.Zero(t, answers[500])
	require.Zero(t, suspect+again)
	require.Equal(t, before, s.epochs())
	require.Equal(t, stops, s.logged(stopsItsWork))
}
