//go:build linux

package restore_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/crash"
	"github.com/platform-scheduler/platform-scheduler/test/history"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// The hosts by which messages and heartbeats say which server they come from.
const (
	original = "original.example"
	standing = "copy.example"
)

// outside is the world around the servers: the target of their jobs, and the receiver of their messages and heartbeats.
type outside struct {
	target *crash.Target
	// calls and inbox are where the two listen.
	calls, inbox string

	mu    sync.Mutex
	heard []string
	// refuses: messages are not taken now; refused is how many were not.
	refuses bool
	refused int
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	target, err := crash.NewTarget(filepath.Join(t.TempDir(), "calls.jsonl"))
	require.NoError(t, err)
	o := &outside{target: target}
	calls, inbox := target.Serve(), httptest.NewServer(o)
	t.Cleanup(func() {
		for _, s := range []*httptest.Server{calls, inbox} {
			s.CloseClientConnections()
			s.Close()
		}
		_ = target.Close()
	})
	o.calls, o.inbox = calls.URL, inbox.URL
	return o
}

// settings are those of a server that gives itself away by a host.
func (o *outside) settings(host string) []string {
	return []string{"PS_SERVER_PUBLICURL=http://" + host, "PS_MONITORING_HEARTBEATURL=" + o.inbox + "/beat/" + host}
}

// ServeHTTP writes a message or a heartbeat down.
func (o *outside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuses && r.URL.Path == "/hook" {
		o.refused++
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	o.heard = append(o.heard, r.URL.Path+" "+string(body))
	w.WriteHeader(http.StatusNoContent)
}

// refuse says whether messages are refused from now on, and returns how many were.
func (o *outside) refuse(now bool) (refused int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refuses = now
	return o.refused
}

// from counts the messages and heartbeats of the server that a host belongs to; an empty one is any.
func (o *outside) from(host string) (messages, heartbeats int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, text := range o.heard {
		switch {
		case !strings.Contains(text, host):
		case strings.HasPrefix(text, "/beat/"):
			heartbeats++
		default:
			messages++
		}
	}
	return messages, heartbeats
}

// called counts the calls of an execution, of all where it is empty.
func (o *outside) called(execution string) (n int) {
	for _, c := range o.target.Calls() {
		if execution == "" || c.Execution == execution {
			n++
		}
	}
	return n
}

// perSecond is about how many runs a source starts each second; fill jobs start two of them each.
const (
	perSecond = 100
	fill      = 36
)

// source is a server under load, whose backups are restored.
type source struct {
	*program
	// plain is the program without the data folder of the source.
	plain  *program
	out    *outside
	data   string
	client *crash.Client
	node   *rig.Node
	jobs   []history.Job
	hand   crash.Hand
	began  time.Time
}

// newSource starts a server with jobs of each kind, and waits until they run.
func newSource(t *testing.T, p *program, out *outside) *source {
	t.Helper()
	s := &source{plain: p, out: out, data: t.TempDir()}
	s.program = p.on(s.data, out.settings(original)...)
	s.client, s.node = s.serve()
	var channel struct{ ID string }
	require.NoError(t, s.client.Ask(t.Context(), "POST", "/api/v1/alert-channels", map[string]any{
		"name": "hook", "type": "WEBHOOK", "config": map[string]any{"url": out.inbox + "/hook"},
	}, &channel))
	require.NoError(t, s.client.Call(t.Context(), "POST", "/api/v1/alert-rules", map[string]any{
		"name": "failures", "type": "JOB_FAILED", "level": "WARNING", "notify": "EACH", "channelIds": []string{channel.ID},
	}))
	var err error
	s.jobs, err = crash.CreateAll(t.Context(), s.client, out.calls, crash.Size{Fill: fill})
	require.NoError(t, err)
	s.hand.Job = crash.ByHand(s.jobs)
	runs(t, s.client, s.calling(), 10)
	s.began = time.Now()
	return s
}

// calling is a job that calls the target.
func (s *source) calling() string {
	s.t.Helper()
	for _, j := range s.jobs {
		if j.Name == "cron, parallel" {
			return j.ID
		}
	}
	require.Fail(s.t, "the load has no such job")
	return ""
}

// press runs a job by hand, whose answer must be kept.
func (s *source) press() {
	s.t.Helper()
	require.NoError(s.t, s.hand.Press(s.t.Context(), s.client))
}

// holdMessage has a run of the source fail, and its message refused: it waits until the receiver takes messages again.
func (s *source) holdMessage() {
	s.t.Helper()
	failing, err := s.client.Create(s.t.Context(), map[string]any{
		"name": "told", "jobType": "HTTP", "schedule": map[string]any{"kind": "NONE"},
		"jobData": map[string]any{"method": "GET", "url": s.out.calls + "/?ms=5&fail=99"},
	})
	require.NoError(s.t, err)
	s.jobs = append(s.jobs, history.Job{ID: failing.ID, Name: "told", Shards: 1, Called: true})
	before := s.out.refuse(true)
	run, err := s.client.Trigger(s.t.Context(), failing.ID, "told")
	require.NoError(s.t, err)
	s.hand.Triggers = append(s.hand.Triggers, history.Trigger{Key: "told", JobID: failing.ID, Execution: run})
	require.Eventually(s.t, func() bool { return s.out.refuse(true) > before }, 30*time.Second, 20*time.Millisecond)
}

// mostTold bounds the violations that are written out.
const mostTold = 20

// finish lets the source end, and compares its ledger with what the target saw.
func (s *source) finish() {
	s.t.Helper()
	ended := time.Now()
	h, err := crash.Quiet(s.t.Context(), s.client, s.jobs, &s.hand)
	require.NoError(s.t, err)
	h.Calls = s.out.target.Calls()
	require.Zero(s.t, s.node.Stop(), "a graceful stop ends with 0")
	sum := history.Summarize(h)
	found := append(sum.Violations, strangers(h)...)
	for _, v := range found[:min(len(found), mostTold)] {
		prooftest.Violation(s.t, "%s: %s", v.Rule, v.Detail)
	}
	rate := startedIn(h.Rows, s.began, ended) / ended.Sub(s.began).Seconds()
	s.t.Logf("%.0f runs a second for %s; %s, %d of a copy", rate, ended.Sub(s.began).Round(time.Second), sum,
		len(found)-len(sum.Violations))
	require.False(s.t, s.t.Failed(), "%d rules are broken", len(found))
	require.Greater(s.t, rate, 0.8*perSecond, "the source was under load")
}

func startedIn(rows []history.Row, from, until time.Time) (n float64) {
	for _, r := range rows {
		if r.StartTime.After(from) && r.StartTime.Before(until) {
			n++
		}
	}
	return n
}

// strangers are calls of attempts that the ledger does not know: another server made them.
func strangers(h history.History) (found []history.Violation) {
	attempts := map[string]int{}
	for _, r := range h.Rows {
		attempts[r.ID] = r.Attempt
	}
	for _, c := range h.Calls {
		if c.Attempt > attempts[c.Execution] {
			found = append(found, history.Violation{
				Rule:   "a copy that stands by makes no call",
				Detail: fmt.Sprintf("attempt %d of %s is not in the ledger of the source", c.Attempt, c.Execution),
			})
		}
	}
	return found
}
