package worker_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/runidentity"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
	"github.com/platform-scheduler/platform-scheduler/test/conformance"
)

// defined runs what it is given by a script, and keeps it.
type defined struct {
	mu  sync.Mutex
	ran map[string]entity.Run
	do  func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

func (d *defined) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	d.mu.Lock()
	d.ran[run.Execution.ID] = run
	d.mu.Unlock()
	return d.do(ctx, run, rep)
}

func (d *defined) of(id string) entity.Run {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ran[id]
}

// An executor is given what a server's would be given, and its outcome arrives whole.
func TestAWorkerRunsDefinitions(t *testing.T) {
	t.Parallel()
	code := 3
	d := &defined{ran: map[string]entity.Run{}}
	d.do = func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
		rep.Log(entity.LogStderr, "said")
		switch {
		case !entity.MayAct(ctx):
			return entity.Failed(entity.ReasonNodeLost, "the lease is over")
		case run.Job.Type == entity.JobCommand:
			return entity.Outcome{Status: entity.StatusSuccess, Result: "out", ExitCode: &code}
		case run.Execution.ID == "busy":
			return entity.NotBegun(time.Second, "the host is busy")
		}
		return entity.Failed(entity.ReasonHTTPStatus, "answered 503")
	}
	r := start(t, worker.Options{CommandSlots: 1, Executor: d, HTTP: true}, nothing)
	data := map[string]any{"command": []string{"echo", "${jobName}"}}
	e := r.end(r.Add(&conformance.Run{ID: "command", Kind: "COMMAND", Data: data, TimeoutMs: 1500, Checkpoint: "c"}))
	require.Equal(t, []any{"SUCCESS", "out", 3}, []any{e.Status, e.Result, *e.ExitCode})
	run := d.of("command")
	require.True(t, run.Filled)
	require.Equal(t, 2*time.Second, run.Job.Timeout(), "no less than what is left")
	require.JSONEq(t, `{"command": ["echo", "${jobName}"]}`, run.Job.Data)
	id := runidentity.Of(run)
	require.Equal(t, "key-command", id.IdempotencyKey)
	require.Equal(t, run.Execution.Token, id.FencingToken)
	require.Equal(t, "c", id.Checkpoint)
	require.Empty(t, id.Params)
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", id.TraceParent[3:35])

	e = r.end(r.Add(&conformance.Run{ID: "call", Kind: "HTTP", Handler: "@http"}))
	require.Equal(t, []string{"FAILED", "HTTP_STATUS", "answered 503"}, []string{e.Status, e.Reason, e.Message})
	e = r.end(r.Add(&conformance.Run{ID: "busy", Kind: "HTTP", Handler: "@http"}))
	require.Equal(t, "RETURNED", e.Status)
	r.Do(func() {
		require.Equal(t, []string{"@http"}, r.Newest("register").Registration.Handlers)
	})
}
