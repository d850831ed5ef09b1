// Package tracing sends a span for each attempt to an OpenTelemetry collector, by OTLP over HTTP. It never slows a
// run: spans wait in a bounded queue, and what does not fit, or is not taken, is dropped and counted.
package tracing

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// sendTimeout bounds one call of the collector.
const sendTimeout = 2 * time.Second

// Settings say where spans go.
type Settings struct {
	// Endpoint is the URL of the collector, such as http://collector:4318/v1/traces.
	Endpoint string
	// NodeID and Version are attributes of all spans.
	NodeID, Version string
}

// Tracer makes a span for each attempt. Safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	queue  *queue
}

// Open makes the tracer; it connects when there is a span. Dropped is told how many spans were lost,
// and must not wait.
func Open(s Settings, c clock.Clock, l *slog.Logger, dropped func(spans int)) *Tracer {
	exporter := otlptrace.NewUnstarted(otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(s.Endpoint),
		otlptracehttp.WithTimeout(sendTimeout), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression)))
	q := newQueue(exporter, c, l, dropped)
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(q), sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithSampler(sdktrace.AlwaysSample()), sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "platform-scheduler"), attribute.String("service.instance.id", s.NodeID),
			attribute.String("service.version", s.Version))))
	return &Tracer{tracer: provider.Tracer("github.com/platform-scheduler/platform-scheduler"), queue: q}
}

// Run sends until ctx ends, and then what waits, for a few seconds at most.
func (t *Tracer) Run(ctx context.Context) { t.queue.run(ctx) }

// Executor runs attempts.
type Executor interface {
	Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome
}

// Attempt runs an attempt by an executor, and makes its span. The span has the ids of the header traceparent that the
// attempt hands on. It holds no text of the run.
func (t *Tracer) Attempt(ctx context.Context, inner Executor, run entity.Run, rep entity.Reporter) entity.Outcome {
	x := run.Execution
	_, span := t.tracer.Start(below(ctx, x), run.Job.Name,
		trace.WithAttributes(
			attribute.String("scheduler.job.id", x.JobID), attribute.String("scheduler.job.group", run.Job.Group),
			attribute.String("scheduler.job.type", string(run.Job.Type)),
			attribute.String("scheduler.execution.id", x.ID), attribute.Int("scheduler.execution.attempt", x.Attempt),
			attribute.String("scheduler.execution.trigger", string(x.Trigger)),
			attribute.String("scheduler.execution.scheduled_time", clock.Text(x.ScheduledTime)),
			attribute.Int("scheduler.execution.shard_index", x.ShardIndex),
			attribute.Int64("scheduler.execution.lateness_ms", x.Lateness().Milliseconds())))
	outcome := entity.Failed(entity.ReasonPanic, "")
	defer func() { // also when the executor panics
		if outcome.Status == entity.StatusWaiting {
			return // the attempt did not begin, and does not count
		}
		span.SetAttributes(attribute.String("scheduler.outcome", string(outcome.Status)))
		if outcome.Reason != entity.ReasonNone {
			span.SetAttributes(attribute.String("scheduler.reason", string(outcome.Reason)))
			span.SetStatus(codes.Error, string(outcome.Reason))
		}
		span.End()
	}()
	outcome = inner.Run(ctx, run, rep)
	return outcome
}

// below is the context of the span of an attempt: below the span that asked for the run, or the root of its trace.
func below(ctx context.Context, x *entity.Execution) context.Context {
	var parent trace.SpanContextConfig
	if x.Parent != "" {
		parent.TraceFlags, parent.Remote = trace.FlagsSampled, true
		_, _ = hex.Decode(parent.TraceID[:], []byte(x.Parent.TraceID()))
		_, _ = hex.Decode(parent.SpanID[:], []byte(x.Parent.SpanID()))
	}
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(parent))
	return context.WithValue(ctx, parentKey{}, x.TraceParent())
}

// parentKey is of the header traceparent in a context.
type parentKey struct{}

// ids takes the ids of a span from the header traceparent of its attempt.
type ids struct{}

// NewIDs implements sdktrace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (t trace.TraceID, s trace.SpanID) {
	text, _ := ctx.Value(parentKey{}).(string)
	parts := strings.Split(text, "-")
	if len(parts) == 4 {
		_, _ = hex.Decode(t[:], []byte(parts[1]))
		_, _ = hex.Decode(s[:], []byte(parts[2]))
	}
	return t, s
}

// NewSpanID implements sdktrace.IDGenerator; no span here has a child.
func (i ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, s := i.NewIDs(ctx)
	return s
}
