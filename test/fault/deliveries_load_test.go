package fault_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/silence"
)

// watch is a rule: what it sees, and where it tells of it.
type watch struct {
	kind, channel string
	// label is what a job has that the rule sees.
	label string
	// inARow is how many fires have to fail; 0 for deadlines.
	inARow int
}

// Rules tell of single failures of some jobs, of failures in a row of others, as these would hold back those
// of the same job, and of deadlines.
const (
	eachFailure = "each"
	mailed      = "mail"
	inARow      = "row"
	punctual    = "deadline"
)

// threshold is how many fires in a row have to fail.
const threshold = 3

// work starts jobs that fail for a while, succeed for a while, and so on. A mail channel takes 20
// messages a minute: it hears of one job and of the probes.
func (p *post) work() {
	p.began = time.Now()
	web := httptest.NewServer(http.HandlerFunc(p.answer))
	p.t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	p.web = web.URL
	for _, w := range []watch{
		{"JOB_FAILED", p.hook, eachFailure, 1},
		{"JOB_FAILED", p.mail, mailed, 1},
		{"CONSECUTIVE_FAILURES", p.hook, inARow, threshold},
		{"DEADLINE_MISSED", p.hook, punctual, 0},
	} {
		body := map[string]any{
			"name": w.label, "type": w.kind, "level": "CRITICAL", "channelIds": []string{w.channel},
			"scope": map[string]any{"labels": map[string]string{w.label: "yes"}},
		}
		if w.inARow > 1 {
			body["threshold"] = w.inARow
		}
		p.rules[p.call("POST", "/api/v1/alert-rules", body)["id"].(string)] = w
	}
	for i := range 4 {
		p.keep(p.make(fmt.Sprint("turns ", i), fmt.Sprintf("/turn/%d", i), i == 0, 1000))
	}
	for i, shards := range []int{1, 1, 20} { // of several shards the first alone fails
		p.keep(p.add(map[string]any{"name": fmt.Sprintf("row %d of %d shards", i, shards), "shardCount": shards},
			fmt.Sprintf("/row/%d", i), max(1000, 150*shards), inARow))
	}
	p.expect()
	p.overlapping()
	require.Eventually(p.t, func() bool {
		return p.count("SELECT COUNT(*) FROM scheduler_alert_evaluation") == 1
	}, time.Minute, 100*time.Millisecond, "a leader evaluates the rules")
}

// deadlineRounds is how often jobs with a deadline are made.
const deadlineRounds = 5

// expect makes three jobs whose fires are to have succeeded by the next minute: one always fails, one always
// succeeds, and one is in turn.
func (p *post) expect() {
	if len(p.deadlines) >= 3*deadlineRounds {
		return
	}
	at := time.Now().UTC().Add(70 * time.Second).Truncate(time.Minute)
	for _, path := range []string{"/bad", "/good", fmt.Sprint("/turn/", len(p.deadlines))} {
		path = "/deadline" + path
		job := p.keep(p.add(map[string]any{
			"name": fmt.Sprint(len(p.deadlines), path), "deadline": map[string]any{"at": at.Format("15:04"), "timeZone": "UTC"},
		}, path, 2000, punctual))
		p.deadlines = append(p.deadlines, silence.Deadline{Job: job, At: at})
	}
}

// judged waits until no deadline is near, and those that have passed are judged: a job that is paused misses
// nothing.
func (p *post) judged() {
	require.Eventually(p.t, func() bool {
		return p.count("SELECT COUNT(*) FROM scheduler_deadline WHERE moment < UTC_TIMESTAMP(3) + INTERVAL 80 SECOND") == 0
	}, settled, 200*time.Millisecond, "the deadlines are judged")
}

// keep notes a job that is paused at the end.
func (p *post) keep(job string) string {
	p.jobs = append(p.jobs, job)
	return job
}

// make makes a job of whose failures is told; everyMs 0 is one by hand.
func (p *post) make(name, path string, byMail bool, everyMs int) string {
	labels := []string{eachFailure}
	if byMail {
		labels = append(labels, mailed)
	}
	return p.add(map[string]any{"name": name}, path, everyMs, labels...)
}

// add makes a job with labels.
func (p *post) add(body map[string]any, path string, everyMs int, labels ...string) string {
	of := map[string]string{}
	for _, label := range labels {
		of[label] = "yes"
	}
	for name, value := range map[string]any{
		"jobType": "HTTP", "timeoutSec": 60, "onNodeLoss": "RETRY", "labels": of,
		"jobData": map[string]any{"url": p.web + path, "method": "POST"},
	} {
		body[name] = value
	}
	if everyMs > 0 {
		body["schedule"] = map[string]any{"kind": "FIXED_RATE", "intervalMs": everyMs}
	}
	id := p.call("POST", "/api/v1/jobs", body)["id"].(string)
	p.labels[id] = of
	return id
}

// sees reports whether a rule is about a job.
func (p *post) sees(w watch, job string) bool { return p.labels[job][w.label] != "" }

// answer is the target of the jobs. Probes always fail.
func (p *post) answer(w http.ResponseWriter, r *http.Request) {
	status, execution := http.StatusOK, r.Header.Get("X-Scheduler-Execution-Id")
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/deadline"), "/") // "", what, and whose turn it is
	switch what := path[1]; {
	case what == "bad", what == "probe":
		status = http.StatusInternalServerError
	case what == "turn", what == "row" && r.Header.Get("X-Scheduler-Shard-Index") == "0":
		if (int(time.Since(p.began)/p.phase)+atoi(p.t, path[2]))%2 == 1 {
			status = http.StatusInternalServerError
		}
	}
	p.mu.Lock()
	if p.answers[execution] == nil {
		p.answers[execution] = map[int]int{}
	}
	p.answers[execution][status]++
	p.calls[r.URL.Path] = append(p.calls[r.URL.Path], time.Now())
	probed := p.probed
	p.mu.Unlock()
	if r.URL.Path == "/lasting" {
		time.Sleep(700 * time.Millisecond)
	}
	w.WriteHeader(status)
	if strings.HasPrefix(r.URL.Path, "/probe") && probed != nil {
		_ = http.NewResponseController(w).Flush()
		probed(execution)
	}
}
