package crash

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// Target is the service that the jobs call, and the ledger outside the
// product: each call is noted when it comes and when it ends, also in a file.
type Target struct {
	mu    sync.Mutex
	file  *os.File
	calls []*Call
}

// NewTarget keeps its ledger in the file too, for whoever looks at a failure.
func NewTarget(file string) (*Target, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &Target{file: f}, err
}

// ServeHTTP takes ?ms= milliseconds, and fails the first ?fail= attempts.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, q := r.Header, r.URL.Query()
	call := &Call{Execution: h.Get("X-Scheduler-Execution-Id"), Job: h.Get("X-Scheduler-Job-Id"), Start: time.Now()}
	call.Attempt, _ = strconv.Atoi(h.Get("X-Scheduler-Attempt"))
	call.Shard, _ = strconv.Atoi(h.Get("X-Scheduler-Shard-Index"))
	call.Token, _ = strconv.ParseInt(h.Get("X-Scheduler-Fencing-Token"), 10, 64)
	t.note(call, true)
	defer t.end(call)
	ms, _ := strconv.Atoi(q.Get("ms"))
	work := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer work.Stop()
	select {
	case <-work.C:
	case <-r.Context().Done(): // the caller was killed, or stopped the run
		return
	}
	if failures, _ := strconv.Atoi(q.Get("fail")); call.Attempt <= failures {
		http.Error(w, "not yet", http.StatusServiceUnavailable)
	}
}

func (t *Target) note(c *Call, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if begins {
		t.calls = append(t.calls, c)
	}
	if line, err := json.Marshal(c); err == nil {
		_, _ = t.file.Write(append(line, '\n'))
	}
}

func (t *Target) end(c *Call) {
	t.mu.Lock()
	c.End = time.Now()
	t.mu.Unlock()
	t.note(c, false)
}

// Calls is the ledger so far; a call in progress ends now.
func (t *Target) Calls() []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]Call, len(t.calls))
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
