package tracing_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/tracing"
)

// receiver is a collector that keeps the spans it gets.
func receiver(t *testing.T) (url string, spans <-chan *traces.Span) {
	t.Helper()
	got := make(chan *traces.Span, 10_000)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			panic(err)
		}
		raw, _ := io.ReadAll(body)
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(raw, &request); err != nil {
			panic(err)
		}
		for _, resource := range request.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					got <- span
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1/traces", got
}

type executor func() entity.Outcome

func (e executor) Run(context.Context, entity.Run, entity.Reporter) entity.Outcome { return e() }

func runOf(attempt int) entity.Run {
	return entity.Run{
		Job: &entity.Job{Name: "settle", Group: "bank", Type: entity.JobCustom},
		Execution: &entity.Execution{
			ID: "0193a1b2-0000-7000-8000-000000000001", JobID: "j", Attempt: attempt, Token: 7, Trigger: entity.TriggerSchedule,
			ScheduledTime: time.Unix(1_795_000_000, 0), Params: "canary-1",
		},
	}
}

// open starts a tracer; finish sends what waits.
func open(t *testing.T, url string) (tracer *tracing.Tracer, dropped *atomic.Int64, finish func()) {
	t.Helper()
	dropped = &atomic.Int64{}
	tracer = tracing.Open(tracing.Settings{Endpoint: url, NodeID: "node-1", Version: "v"}, clock.NewSystem(),
		slog.New(slog.DiscardHandler), func(n int) { dropped.Add(int64(n)) })
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		tracer.Run(ctx)
		done <- struct{}{}
	}()
	return tracer, dropped, func() {
		stop()
		<-done
	}
}

func attribute(s *traces.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// A span has the ids that the target of its attempt gets, and says how it ended, and nothing of what a run says.
func TestASpanForEachAttempt(t *testing.T) {
	url, spans := receiver(t)
	tracer, dropped, finish := open(t, url)
	bad := entity.Failed(entity.ReasonHTTPStatus, "canary-2")
	require.Equal(t, bad, tracer.Attempt(t.Context(), executor(func() entity.Outcome { return bad }), runOf(1), nil))
	tracer.Attempt(t.Context(), executor(func() entity.Outcome { return entity.Succeeded("canary-3") }), runOf(2), nil)
	tracer.Attempt(t.Context(), executor(func() entity.Outcome {
		return entity.NotBegun(time.Second, "busy")
	}), runOf(3), nil)
	require.Panics(t, func() {
		tracer.Attempt(t.Context(), executor(func() entity.Outcome { panic("canary-4") }), runOf(4), nil)
	})
	finish()
	require.Zero(t, dropped.Load())
	require.Len(t, spans, 3, "what did not begin has none")
	want := []struct{ outcome, reason string }{{"FAILED", "HTTP_STATUS"}, {"SUCCESS", ""}, {"FAILED", "PANIC"}}
	for i, attempt := range []int{1, 2, 4} {
		span := <-spans
		parts := strings.Split(runOf(attempt).Execution.TraceParent(), "-")
		require.Equal(t, parts[1], hex.EncodeToString(span.GetTraceId()))
		require.Equal(t, parts[2], hex.EncodeToString(span.GetSpanId()))
		require.Empty(t, span.GetParentSpanId())
		require.Equal(t, "settle", span.GetName())
		require.Equal(t, "bank", attribute(span, "scheduler.job.group"))
		require.Equal(t, want[i].outcome, attribute(span, "scheduler.outcome"))
		require.Equal(t, want[i].reason, attribute(span, "scheduler.reason"))
		require.Equal(t, want[i].reason != "", span.GetStatus().GetCode() == traces.Status_STATUS_CODE_ERROR)
		require.NotContains(t, span.String(), "canary")
	}
}

// A collector that hangs slows nobody: spans are dropped and counted. Runs that waited for it would let it see a call
// for each batch.
func TestACollectorThatHangsSlowsNobody(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		<-release
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	tracer, dropped, finish := open(t, s.URL)
	const batch, runs = 512, 20_000 // more than wait
	for range runs {
		tracer.Attempt(t.Context(), executor(func() entity.Outcome { return entity.Succeeded("") }), runOf(1), nil)
	}
	require.Less(t, asked.Load(), int64(runs/batch/4))
	require.Positive(t, dropped.Load())
	finish()
	require.Equal(t, int64(runs), dropped.Load(), "all are accounted for")
}

// The attempts of a run that a traced call asked for hang below the span of the call.
func TestASpanBelowTheOneThatAskedForTheRun(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	url, spans := receiver(t)
	tracer, _, finish := open(t, url)
	for attempt := range 2 {
		run := runOf(attempt + 1)
		run.Execution.Parent = entity.ReadTraceContext("00-" + trace + "-" + span + "-01")
		tracer.Attempt(t.Context(), executor(func() entity.Outcome { return entity.Succeeded("") }), run, nil)
	}
	finish()
	require.Len(t, spans, 2)
	for attempt := range 2 {
		run, got := runOf(attempt+1), <-spans
		require.Equal(t, trace, hex.EncodeToString(got.GetTraceId()))
		require.Equal(t, span, hex.EncodeToString(got.GetParentSpanId()))
		require.Equal(t, strings.Split(run.Execution.TraceParent(), "-")[2], hex.EncodeToString(got.GetSpanId()),
			"the span that the target is told")
	}
}
