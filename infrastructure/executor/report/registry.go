// Package report lets the targets of asynchronous calls say how their runs go
// on. Each attempt that waits has a token of its own; whoever shows it speaks
// for that attempt and for nothing else.
package report

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Registry knows the attempts of this node that wait for their targets. Their
// number is bounded by the node's slots. Safe for concurrent use.
type Registry struct {
	key []byte

	mu    sync.Mutex
	waits map[string]*Wait
}

// NewRegistry returns a registry with a key of its own: tokens die with the
// process, as the attempts do that they belong to.
func NewRegistry() (*Registry, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make the key of run tokens: %w", err)
	}
	return &Registry{key: key, waits: map[string]*Wait{}}, nil
}

// Wait is one attempt that waits for its target.
type Wait struct {
	registry *Registry
	id       string
	token    string
	rep      entity.Reporter
	end      chan entity.Outcome
	// over: the end was reported; guarded by the registry's mutex.
	over bool
}

// Open begins to wait for reports of an attempt, which go to rep until the
// end. The caller closes it.
func (r *Registry) Open(x *entity.Execution, rep entity.Reporter) *Wait {
	w := &Wait{registry: r, id: x.ID, token: r.tokenOf(x), rep: rep, end: make(chan entity.Outcome, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits[x.ID] = w
	return w
}

// Token is what the target must show.
func (w *Wait) Token() string { return w.token }

// End gives the outcome that the target reports, once.
func (w *Wait) End() <-chan entity.Outcome { return w.end }

// Close ends the waiting: later reports are refused.
func (w *Wait) Close() {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	if w.registry.waits[w.id] == w {
		delete(w.registry.waits, w.id)
	}
}

// tokenOf binds a token to one attempt: its id, number and fencing token.
func (r *Registry) tokenOf(x *entity.Execution) string {
	mac := hmac.New(sha256.New, r.key)
	mac.Write(fmt.Appendf(nil, "%d:%s:%d:%d", len(x.ID), x.ID, x.Attempt, x.Token))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Authorize returns fault.KindUnauthenticated unless the token is that of an
// attempt that waits here.
func (r *Registry) Authorize(executionID, token string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := r.wait(executionID, token)
	return err
}

// wait finds an attempt; the caller holds the lock. A wrong token and a run
// that does not wait here look the same from outside.
func (r *Registry) wait(executionID, token string) (*Wait, error) {
	w := r.waits[executionID]
	if w == nil || !hmac.Equal([]byte(w.token), []byte(token)) {
		return nil, fault.New(fault.KindUnauthenticated, "run_token",
			"the run token is not that of an attempt that waits for reports here: the attempt is over, or the token is another's")
	}
	return w, nil
}

// Report takes a report about an execution, as Authorize allows it. A run that
// has had its end refuses the rest with fault.KindConflict, code run_over.
func (r *Registry) Report(executionID, token string, report entity.RunReport) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, err := r.wait(executionID, token)
	if err != nil {
		return err
	}
	if w.over {
		return fault.Conflict("run_over", "the end of this attempt was reported before")
	}
	for _, line := range report.Lines {
		w.rep.Log(entity.LogStdout, line)
	}
	if report.Progress >= 0 {
		w.rep.Progress(report.Progress)
	}
	if report.Checkpoint != nil {
		w.rep.Checkpoint(*report.Checkpoint)
	}
	w.over = report.Status != ""
	switch report.Status {
	case "":
	case entity.StatusSuccess:
		w.end <- entity.Succeeded(report.Result)
	default:
		message := report.Message
		if message == "" {
			message = "the target reported a failure and did not say why"
		}
		o := entity.Failed(entity.ReasonError, message)
		o.Result, o.NoRetry = report.Result, report.NoRetry
		w.end <- o
	}
	return nil
}
