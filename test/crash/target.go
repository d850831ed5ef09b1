package crash

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// Target is the service that the jobs call, and the ledger outside the product. Each call is
// recorded when it begins and when it ends, also in a file.
type Target struct {
	mu    sync.Mutex
	file  *os.File
	calls []*history.Call
	// Reports are where targets report that accept their calls; set before the first.
	reports Reports
	wg      sync.WaitGroup
	// seq is the place of the last begin or end.
	seq int64
	// tokens is the highest seen of each job that asks for it.
	tokens map[string]int64
}

// NewTarget keeps its ledger in the file too, for whoever looks at a failure.
func NewTarget(file string) (*Target, error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &Target{file: f, tokens: map[string]int64{}}, err
}

// Reports sends the end of a call that a target accepted to some node. It returns the status of
// the answer; 0 is no answer.
type Reports func(path, token, body string) int

// ReportTo sets where accepted calls report; before it they are refused.
func (t *Target) ReportTo(r Reports) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reports = r
}

// ServeHTTP takes ?ms= milliseconds, and fails the first ?fail= attempts. With
// ?fence= it refuses what carries a lower token than the job showed before. With
// ?async= it accepts the call and reports the end to some node.
func (t *Target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == MessagesPath {
		return
	}
	h, q := r.Header, r.URL.Query()
	call := &history.Call{
		Execution: h.Get("X-Scheduler-Execution-Id"), Job: h.Get("X-Scheduler-Job-Id"),
		Start: time.Now(),
	}
	call.Attempt, _ = strconv.Atoi(h.Get("X-Scheduler-Attempt"))
	call.Shard, _ = strconv.Atoi(h.Get("X-Scheduler-Shard-Index"))
	call.Token, _ = strconv.ParseInt(h.Get("X-Scheduler-Fencing-Token"), 10, 64)
	call.Gone = hungUp(r)
	failures, _ := strconv.Atoi(q.Get("fail"))
	if r.URL.Path == StepPath {
		failures = t.step(call, r, failures)
	}
	if !t.begin(call, q.Has("fence")) {
		http.Error(w, "a higher token was seen", http.StatusConflict)
		return
	}
	ms, _ := strconv.Atoi(q.Get("ms"))
	if q.Has("async") {
		t.accept(w, call, time.Duration(ms)*time.Millisecond, h.Get("X-Scheduler-Report-Path"),
			h.Get("X-Scheduler-Run-Token"))
		return
	}
	work := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer work.Stop()
	select {
	case <-r.Context().Done(): // the caller was killed, or stopped the run
		t.end(call, history.AnswerCut)
	case <-work.C:
		if call.Attempt > failures {
			t.end(call, history.AnswerOK)
			if call.Step != nil {
				_, _ = io.WriteString(w, call.Step.Out)
			}
			return
		}
		t.end(call, history.AnswerFailed)
		http.Error(w, history.Mark(call.Attempt), http.StatusServiceUnavailable)
	}
}

// begin notes a call, and reports whether its token is good.
func (t *Target) begin(c *history.Call, fenced bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	t.seq++
	c.Began = t.seq
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

// accept answers 202 and reports later, until some node takes the report or refuses
// it. A refused call had no effect, and was over when it began.
func (t *Target) accept(w http.ResponseWriter, c *history.Call, work time.Duration, path, token string) {
	t.mu.Lock()
	reports := t.reports
	t.mu.Unlock()
	if reports == nil || path == "" {
		t.end(c, history.AnswerFailed)
		http.Error(w, "nobody is there to report to", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	t.wg.Go(func() {
		time.Sleep(work)
		// The work is over when the target says so for the first time. The scheduler may begin
		// the next run before the target has the answer.
		over := time.Now()
		lost := false // an answer: the report may have counted
		for ; ; time.Sleep(200 * time.Millisecond) {
			switch status := reports(path, token, `{"status":"SUCCESS","result":"`+history.Mark(c.Attempt)+`"}`); {
			case status/100 == 2:
				t.endAt(c, history.AnswerOK, over)
				return
			case status/100 == 4 && status != http.StatusTooManyRequests, time.Since(c.Start) > reportBound:
				answer := history.AnswerCut
				if lost {
					answer = history.AnswerUnsure
				}
				t.endAt(c, answer, c.Start)
				return
			default:
				lost = lost || status != http.StatusTooManyRequests
			}
		}
	})
}

// reportBound is how long a target tries to report.
const reportBound = 2 * time.Minute

func (t *Target) end(c *history.Call, a history.Answer) { t.endAt(c, a, time.Now()) }

func (t *Target) endAt(c *history.Call, a history.Answer, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.End, c.Answer = at, a
	t.seq++
	c.Ended = t.seq
	t.write(c)
}

// Now is a place in the sequence of begins and ends: all that the target saw before has a lower one.
func (t *Target) Now() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	return t.seq
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

// Close waits for the last reports and closes the file.
func (t *Target) Close() error {
	t.wg.Wait()
	return t.file.Close()
}
