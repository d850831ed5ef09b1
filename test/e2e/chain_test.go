//go:build linux

package e2e_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// chainedRuns are the runs of a job, as the command line lists them.
func chainedRuns(t *testing.T, s *shell, job string) (runs []map[string]any) {
	t.Helper()
	var page struct{ Items []map[string]any }
	listed := s.must("execution", "list", "--job", job, "--limit", "0", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(listed), &page))
	return page.Items
}

// The child jobs that the page shows are taken as they stand there, and run.
func TestChildJobsRunAsThePageSays(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	page, err := os.ReadFile("../../docs/chains.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "## Child jobs of XXL-JOB")
	require.True(t, found)
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	document, _, _ := strings.Cut(rest, "```")
	file := s.file("children.yaml", document)
	require.Contains(t, s.must("job", "apply", "-f", file), "3 created")
	require.Contains(t, s.must("job", "apply", "-f", file), "3 unchanged")
	require.Contains(t, s.must("job", "get", "load orders"), "count orders on SUCCESS")
	parent := strings.TrimSpace(s.must("job", "trigger", "load orders", "-o", "json"))
	for _, child := range []string{"count orders", "report orders"} {
		require.Eventually(t, func() bool {
			runs := chainedRuns(t, s, child)
			return len(runs) == 1 && runs[0]["status"] == "SUCCESS"
		}, time.Minute, 50*time.Millisecond, child)
		run := chainedRuns(t, s, child)[0]
		require.Equal(t, "DEPENDENCY", run["trigger"])
		require.Contains(t, parent, run["startedBy"])
		require.Contains(t, s.must("job", "why", child), "it was started by the run "+run["startedBy"].(string)+
			" of the job load orders, which ended as SUCCESS")
		require.Contains(t, s.must("job", "fires", child), run["startedBy"])
		require.Contains(t, s.must("execution", "get", run["startedBy"].(string)), child+": "+run["id"].(string)+", SUCCESS")
		require.Regexp(t, "Started by: +default/load orders", s.must("job", "get", child))
	}
	// An export can be applied, and is no difference.
	exported := s.file("exported.yaml", s.must("job", "export"))
	require.Contains(t, s.must("job", "apply", "-f", exported), "3 unchanged")
}

// A server that is killed at any moment, also between an end and the start of what follows it, starts each chained fire
// once and loses none. CHAIN_KILLS are more kills than the few of every day.
func TestAChainOutlivesKills(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { chainOutlivesKills(t) })
	t.Run("mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		chainOutlivesKills(t, "PS_STORE_DRIVER=mysql", "PS_STORE_DSN="+dbtest.MySQL(t).DSN)
	})
}

func chainOutlivesKills(t *testing.T, env ...string) {
	t.Helper()
	kills, each := 5, 10
	if text := os.Getenv("CHAIN_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		kills = n
	}
	var mu sync.Mutex
	calls := map[string]int{} // by path and key, which each attempt repeats
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		calls[r.URL.Path+" "+r.Header.Get("X-Key")]++
	}))
	defer target.Close()
	b := startBinaryWith(t, env...)
	s := newShell(t, b)
	job := func(name, more string) string {
		return "- name: " + name + "\n  jobType: HTTP\n  jobData: {url: '" + target.URL + "/" + name +
			"', headers: {X-Key: '${idempotencyKey}'}}\n  retryPolicy: {maxRetries: 1000, intervalMs: 10}\n" + more
	}
	s.must("job", "apply", "-f", s.file("chain.yaml", job("first", "  next: [{job: second, on: END}]\n")+
		job("second", "  next: [{job: third, on: END}]\n")+job("third", "")))
	ids := map[string]string{}
	for _, name := range []string{"first", "second", "third"} {
		var found struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(s.must("job", "get", name, "-o", "json")), &found))
		ids[name] = found.ID
	}
	var killed []time.Time
	for range kills {
		for range each {
			b.must(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+ids["first"]+"/trigger", map[string]any{}, nil)
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // any moment will do
		b.kill()
		killed = append(killed, time.Now())
		b.start()
	}
	over := func(job string) (runs []map[string]any, all bool) {
		runs = chainedRuns(t, s, job)
		for _, r := range runs {
			if r["endTime"] == nil {
				return runs, false
			}
		}
		return runs, len(runs) >= kills*each
	}
	all := map[string][]map[string]any{}
	for _, name := range []string{"first", "second", "third"} {
		require.Eventually(t, func() (done bool) {
			all[name], done = over(name)
			return done
		}, 2*time.Minute, 200*time.Millisecond, name)
	}
	apart := 0
	for from, to := range map[string]string{"first": "second", "second": "third"} {
		ended := map[string]string{}
		for _, r := range all[from] {
			ended[r["id"].(string)] = r["endTime"].(string)
		}
		require.Len(t, all[to], kills*each)
		for _, r := range all[to] {
			end := ended[r["startedBy"].(string)]
			require.NotEmpty(t, end, "%s was started twice, or by nothing", r["id"])
			delete(ended, r["startedBy"].(string))
			before, err := time.Parse(time.RFC3339, end)
			require.NoError(t, err)
			after, err := time.Parse(time.RFC3339, r["createTime"].(string))
			require.NoError(t, err)
			if slices.ContainsFunc(killed, func(at time.Time) bool { return before.Before(at) && after.After(at) }) {
				apart++
			}
		}
		require.Empty(t, ended, "these ends started nothing")
	}
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, calls, 3*kills*each, "each run has called its target, by its own key")
	t.Logf("%d kills, %d fires of three jobs; %d starts had a kill between the end and them", kills, kills*each, apart)
}
