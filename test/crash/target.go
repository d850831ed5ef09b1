package crash

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Target is the service that the jobs call, and the ledger outside the
// product: each call is noted when it comes and when it ends, also in a file.
type Target struct {
	mu    sync.Mutex
	file  *os.File
	calls []*history.Call
	// tokens is the highest seen of each job that asks for it.
	tokens map[string]int64
}

// NewTarget keeps its ledger in the file too, for whoever looks at a failure.
func NewTarget(file string) (*Target, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &Target{file: f, tokens: map[string]int64{}}, err
}

// ServeHTTP takes ?ms= milliseconds, and fails the first ?fail= attempts. With
// ?fence= it refuses what carries a lower token than the job showed before.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, q := r.Header, r.URL.Query()
	call := &history.Call{Execution: h.Get("X-Scheduler-Execution-Id"), Job: h.Get("X-Scheduler-Job-Id"), Start: time.Now()}
	call.Attempt, _ = strconv.Atoi(h.Get("X-Scheduler-Attempt"))
	call.Shard, _ = strconv.Atoi(h.Get("X-Scheduler-Shard-Index"))
	call.Token, _ = strconv.ParseInt(h.Get("X-Scheduler-Fencing-Token"), 10, 64)
	if !t.begin(call, q.Has("fence")) {
		http.Error(w, "a higher token was seen", http.StatusConflict)
		return
	}
	ms, _ := strconv.Atoi(q.Get("ms"))
	work := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer work.Stop()
	failures, _ := strconv.Atoi(q.Get("fail"))
	select {
	case <-r.Context().Done(): // the caller was killed, or stopped the run
		t.end(call, history.AnswerCut)
	case <-work.C:
		if call.Attempt > failures {
			t.end(call, history.AnswerOK)
			return
		}
		t.end(call, history.AnswerFailed)
		http.Error(w, "not yet", http.StatusServiceUnavailable)
	}
}

// begin notes a call, and reports whether its token is good.
func (t *Target) begin(c *history.Call, fenced bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	good := !fenced || c.Token >= t.tokens[c.Job]
	if good && fenced {
		t.tokens[c.Job] = c.Token
	}
	if !good {
		c.Answer, c.End = history.AnswerRefused, c.Start
	}
	t.write(c)
	return good
}

func (t *Target) end(c *history.Call, a history.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.End, c.Answer = time.Now(), a
	t.write(c)
}

func (t *Target) write(c *history.Call) {
	if line, err := json.Marshal(c); err == nil {
		_, _ = t.file.Write(append(line, '\n'))
	}
}

// Calls is the ledger so far; a call in progress ends now.
func (t *Target) Calls() []history.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]history.Call, len(t.calls))
	for i, c := range t.calls {
		out[i] = *c
		if out[i].End.IsZero() {
			out[i].End = time.Now()
		}
	}
	return out
}

// Close closes the file.
func (t *Target) Close() error { return t.file.Close() }
