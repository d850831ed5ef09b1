package command_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/custom"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Headers, variables, placeholders and the SDK tell the same of one run.
func TestAllExecutorsTellTheSameIdentity(t *testing.T) {
	run := executortest.NewRun(entity.JobHTTP, "", "")
	run.Job.Group, run.Job.Owner, run.Job.Class = "billing", "ann", "handler"
	run.Deadline = time.Date(2026, 3, 1, 3, 1, 0, 5_000_000, time.FixedZone("CET", 3600))
	x := run.Execution
	x.Attempt, x.ShardIndex, x.ShardTotal, x.Token, x.JobFence, x.RootID = 3, 2, 4, 5, 7, "execution-0"
	x.Params, x.Checkpoint = `{"day":"2026-03-01"}`, "line 7"
	want := map[string]string{
		"executionId": "execution-1", "jobId": "job-1", "jobName": "settle orders",
		"scheduledTime": "2026-03-01T02:00:00.000Z",
		"attempt":       "3", "shardIndex": "2", "shardTotal": "4", "fencingToken": "458757", "idempotencyKey": "execution-0",
		"deadline": "2026-03-01T02:01:00.005Z", "params": `{"day":"2026-03-01"}`, "checkpoint": "line 7",
		"traceparent": x.TraceParent(),
	}

	header := headerOf(t, run)
	environment := environmentOf(t, run)
	info := handlerOf(t, run)
	for name, value := range want {
		dashed := dash(name)
		if name == "traceparent" {
			require.Equal(t, value, header.Get(name))
		} else {
			require.Equal(t, value, header.Get("X-Scheduler-"+dashed), name)
		}
		require.Equal(t, value, environment["SCHEDULER_"+strings.ToUpper(strings.ReplaceAll(dashed, "-", "_"))], name)
		require.Equal(t, value, info[name], name)
		if name == "traceparent" || name == "fencingToken" {
			continue // no placeholder stands for it
		}
		text, err := placeholder.Expand("${"+name+"}", placeholder.Of(run), placeholder.Raw)
		require.NoError(t, err)
		require.Equal(t, value, text, name)
	}
	require.Equal(t, x.TraceParent(), environment["TRACEPARENT"])
	text, err := placeholder.Expand("${group} ${owner}", placeholder.Of(run), placeholder.Raw)
	require.NoError(t, err)
	require.Equal(t, "billing ann", text)
}

// dash writes executionId as Execution-Id.
func dash(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('-')
		}
		if i == 0 {
			c -= 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

func headerOf(t *testing.T, run entity.Run) (got http.Header) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer s.Close()
	job := *run.Job
	job.Data = fmt.Sprintf(`{"url":%q}`, s.URL)
	run.Job = &job
	x := httpcall.New(clock.NewSystem(), httpcall.Settings{Guard: outbound.New(outbound.Policy{AllowPrivate: true})})
	defer x.Close()
	require.Equal(t, entity.StatusSuccess, x.Run(t.Context(), run, &executortest.Recorder{}).Status)
	return got
}

func environmentOf(t *testing.T, run entity.Run) map[string]string {
	t.Helper()
	b := newBench(t)
	job := *run.Job
	job.Type, job.Data = entity.JobCommand, `{"command":["env"]}`
	run.Job = &job
	outcome := b.Run(t.Context(), run, b.rep)
	require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
	found := map[string]string{}
	for line := range strings.Lines(outcome.Result) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		found[name] = value
	}
	return found
}

func handlerOf(t *testing.T, run entity.Run) map[string]string {
	t.Helper()
	found := map[string]string{}
	registry := custom.New(clock.NewSystem())
	require.NoError(t, registry.Register(run.Job.Class, sdk.HandlerFunc(func(_ context.Context, r *sdk.Run) error {
		deadline, _ := r.Deadline()
		found = map[string]string{
			"executionId": r.ExecutionID(), "jobId": r.JobID(), "jobName": r.JobName(),
			"scheduledTime": clock.Text(r.ScheduledTime()),
			"attempt":       fmt.Sprint(r.Attempt()), "shardIndex": fmt.Sprint(r.ShardIndex()),
			"shardTotal":   fmt.Sprint(r.ShardTotal()),
			"fencingToken": fmt.Sprint(r.FencingToken()), "idempotencyKey": r.IdempotencyKey(), "deadline": clock.Text(deadline),
			"params": string(r.Params()), "checkpoint": r.LastCheckpoint(), "traceparent": r.TraceParent(),
		}
		return nil
	})))
	job := *run.Job
	job.Type, job.Data = entity.JobCustom, "{}"
	run.Job = &job
	require.Equal(t, entity.StatusSuccess, registry.Run(t.Context(), run, &executortest.Recorder{}).Status)
	return found
}
