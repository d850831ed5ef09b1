package worker_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

// said keeps what a worker logs.
type said struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.text.Write(p)
}

// until waits for texts.
func (s *said) until(t *testing.T, texts ...string) {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	for _, text := range texts {
		for {
			s.mu.Lock()
			all, changed := s.text.String(), s.changed
			s.mu.Unlock()
			if strings.Contains(all, text) {
				break
			}
			select {
			case <-changed:
			case <-limit.C:
				t.Fatalf("it was never said: %s\n%s", text, all)
			}
		}
	}
}

// declaring starts a worker that declares jobs.
func declaring(t *testing.T, script func(g *conformance.Gateway), jobs ...worker.Job) (*rig, *said) {
	t.Helper()
	log := &said{changed: make(chan struct{})}
	return start(t, worker.Options{
		Handlers: map[string]sdk.Handler{"settle": does(func(context.Context, *sdk.Run) error { return nil })},
		Jobs:     jobs, Logger: slog.New(slog.NewTextHandler(log, nil)),
	}, script), log
}

// works waits until a run has succeeded, and the worker has left.
func (r *rig) works() {
	r.t.Helper()
	require.Equal(r.t, "SUCCESS", r.end(r.Add(&conformance.Run{ID: "run", Handler: "settle"})).Status)
	r.stop()
	require.NoError(r.t, <-r.ended)
}

func TestJobsAreDeclaredAfterEachRegistration(t *testing.T) {
	t.Parallel()
	r, log := declaring(t, func(g *conformance.Gateway) {
		g.Script = func(c *conformance.Call) *conformance.Fault {
			if c.Kind == "poll" && c.Poll.Epoch == 1 && len(g.Calls("jobs")) == 1 && g.Newest("jobs").Done {
				return &conformance.Fault{Status: 409, Code: "epoch_lost"}
			}
			return nil
		}
	}, worker.Job{Handler: "settle", Cron: "0 0 2 * * ?", Fields: map[string]any{
		"timeoutSec": 60, "jobData": map[string]any{"a": "<b>"},
	}}, worker.Job{Handler: "settle", Name: "clean up", Group: "orders", Fields: map[string]any{
		"schedule": map[string]any{"kind": "FIXED_RATE", "intervalMs": 60000},
	}})
	log.until(t, `epoch=2`, `job="orders/clean up"`, "fires when somebody has resumed it")
	r.until("the declaration of the second life", func() bool { return len(r.Calls("jobs")) == 2 })
	r.works()
	for i, call := range r.Calls("jobs") {
		require.JSONEq(t, fmt.Sprintf(`{"epoch": %d, "jobs": [
			{"name": "settle", "jobClass": "settle", "schedule": {"cronExpression": "0 0 2 * * ?"}, "timeoutSec": 60,
				"jobData": {"a": "<b>"}},
			{"name": "clean up", "jobClass": "settle", "group": "orders",
				"schedule": {"kind": "FIXED_RATE", "intervalMs": 60000}}]}`, i+1), string(call.Raw))
	}
	require.Len(t, r.Calls("jobs"), 2, "once in each life")
}

func TestManyJobsAreDeclaredInParts(t *testing.T) {
	t.Parallel()
	var jobs []worker.Job
	for i := range 101 {
		jobs = append(jobs, worker.Job{Handler: "settle", Name: fmt.Sprint("job ", i)})
	}
	r, log := declaring(t, nothing, jobs...)
	log.until(t, `job="orders/job 0"`, `job="orders/job 100"`)
	r.works()
	calls := r.Calls("jobs")
	require.Equal(t, []int{100, 1}, []int{len(calls[0].Declaration.Jobs), len(calls[1].Declaration.Jobs)})
}

func TestWhatCameOfEachDeclaredJobIsLogged(t *testing.T) {
	t.Parallel()
	r, log := declaring(t, func(g *conformance.Gateway) {
		g.Change = func(c *conformance.Call, answer map[string]any) {
			if c.Kind == "jobs" {
				answer["jobs"] = []map[string]any{
					{"group": "o", "name": "a", "outcome": "EXISTS"},
					{"group": "o", "name": "b", "outcome": "DIFFERS", "differs": []string{"timeoutSec", "owner"}},
					{"group": "o", "name": "c", "outcome": "REFUSED", "errors": []map[string]any{
						{"field": "group", "code": "x", "message": "must be orders"},
					}},
				}
			}
		}
	}, worker.Job{Handler: "settle"})
	log.until(
		t,
		`level=INFO msg="a job exists as it is declared" worker=shop/shop-1 job=o/a`,
		`job=o/b differs="timeoutSec, owner"`, `job=o/c errors="group: must be orders"`,
	)
	r.works()
}

// A declaration whose answer is lost is repeated, and one that is refused is not; neither keeps the worker from work.
func TestADeclarationIsRepeatedWhereItHelps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []*conformance.Fault
		calls  int
		says   string
	}{
		"trouble": {
			[]*conformance.Fault{{Lose: true}, {Status: 503, Code: "store_away"}, {Status: 429, Code: "too_many"}},
			4,
			"a job was created",
		},
		"not allowed":   {[]*conformance.Fault{{Status: 403, Code: "declare_not_allowed"}}, 1, "jobs were not declared"},
		"an old server": {[]*conformance.Fault{{Status: 404, Code: "not_found"}}, 1, "jobs were not declared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := slices.Clone(c.faults)
			r, log := declaring(t, func(g *conformance.Gateway) {
				g.Script = func(c *conformance.Call) (f *conformance.Fault) {
					if c.Kind == "jobs" && len(faults) > 0 {
						f, faults = faults[0], faults[1:]
					}
					return f
				}
			}, worker.Job{Handler: "settle"})
			log.until(t, c.says)
			r.works()
			require.Len(t, r.Calls("jobs"), c.calls)
		})
	}
}
