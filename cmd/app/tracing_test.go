package app_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// spanTree is a span of a run: its trace and the span that it hangs below.
type spanTree struct{ trace, parent string }

// collected are the spans that a collector of traces gets, by execution id.
func collected(t *testing.T) (url string, spans func() map[string][]spanTree) {
	t.Helper()
	var mu sync.Mutex
	got := map[string][]spanTree{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var request collector.ExportTraceServiceRequest
		body, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		raw, _ := io.ReadAll(body)
		if err := proto.Unmarshal(raw, &request); err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range request.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					for _, a := range span.GetAttributes() {
						if id := a.GetValue().GetStringValue(); a.GetKey() == "scheduler.execution.id" {
							got[id] = append(got[id], spanTree{
								hex.EncodeToString(span.GetTraceId()), hex.EncodeToString(span.GetParentSpanId()),
							})
						}
					}
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1/traces", func() map[string][]spanTree {
		mu.Lock()
		defer mu.Unlock()
		out := map[string][]spanTree{}
		for id, trees := range got {
			out[id] = append([]spanTree(nil), trees...)
		}
		return out
	}
}

// A node with a collector tells it of attempts. The spans of a run that a traced call asked for are in the trace of the
// call, below its span, also after a wait in the store and a retry; others are a trace of their own.
func TestANodeTellsTheCollectorOfAttempts(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	url, spans := collected(t)
	cfg := newConfig(t)
	cfg.Tracing.Endpoint = url
	n := startNode(t, cfg, &script{reply: func(_ context.Context, run entity.Run) entity.Outcome {
		if run.Execution.Attempt == 1 {
			return entity.Failed(entity.ReasonExitCode, "")
		}
		return entity.Succeeded("")
	}})
	id := n.create(newJob("traced", func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 1, 10 })).ID
	ask := func(delay int, parent entity.TraceContext) string {
		t.Helper()
		ids, err := n.Jobs.Trigger(t.Context(), id, job.Trigger{
			Source: entity.TriggerManual, DelaySec: delay, Parent: parent,
		})
		require.NoError(t, err)
		return ids[0]
	}
	parent := entity.ReadTraceContext("00-" + trace + "-" + span + "-01")
	below := spanTree{trace, span}
	retried := ask(0, parent)
	n.await("both attempts are told", func() bool { return len(spans()[retried]) == 2 })
	require.Equal(t, []spanTree{below, below}, spans()[retried])
	waited, own := ask(1, parent), ask(0, "")
	n.await("all are told", func() bool { return len(spans()[waited])+len(spans()[own]) == 4 })
	require.Equal(t, []spanTree{below, below}, spans()[waited])
	for _, alone := range spans()[own] {
		require.Empty(t, alone.parent)
		require.Equal(t, strings.ReplaceAll(own, "-", ""), alone.trace)
	}
}
