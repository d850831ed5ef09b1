package tracing

import (
	"context"
	"log/slog"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

const (
	// queueSize bounds the spans that wait, batchSize those of one call.
	queueSize = 4096
	batchSize = 512
	// linger is how long a span waits for others.
	linger = time.Second
)

// queue is a sdktrace.SpanProcessor that never waits.
type queue struct {
	exporter sdktrace.SpanExporter
	clock    clock.Clock
	report   *faillog.Recorder
	dropped  func(spans int)
	spans    chan sdktrace.ReadOnlySpan
}

func newQueue(exporter sdktrace.SpanExporter, c clock.Clock, l *slog.Logger, dropped func(spans int)) *queue {
	return &queue{
		exporter: exporter, clock: c, dropped: dropped, spans: make(chan sdktrace.ReadOnlySpan, queueSize),
		report: faillog.New(c, l, faillog.Texts{
			Fails: "spans do not reach the collector of traces; they are dropped, and runs go on",
			Works: "spans reach the collector of traces again",
		}),
	}
}

// OnStart implements sdktrace.SpanProcessor.
func (q *queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	select {
	case q.spans <- s:
	default:
		q.dropped(1)
	}
}

// ForceFlush implements sdktrace.SpanProcessor; spans go by themselves.
func (q *queue) ForceFlush(context.Context) error { return nil }

// Shutdown implements sdktrace.SpanProcessor; the end of run ends the queue.
func (q *queue) Shutdown(context.Context) error { return nil }

// run sends until ctx ends, and then what waits, for at most sendTimeout.
func (q *queue) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case first := <-q.spans:
			q.send(ctx, q.collect(ctx, first))
		case <-ctx.Done():
		}
	}
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	for len(q.spans) > 0 {
		batch := q.collect(ctx, <-q.spans)
		if rest.Err() != nil {
			q.dropped(len(batch))
			continue
		}
		q.send(rest, batch)
	}
	_ = q.exporter.Shutdown(rest)
}

// collect waits a little for spans that go with the first; not at all once ctx has ended.
func (q *queue) collect(ctx context.Context, first sdktrace.ReadOnlySpan) []sdktrace.ReadOnlySpan {
	batch := []sdktrace.ReadOnlySpan{first}
	timer := q.clock.NewTimer(linger)
	defer timer.Stop()
	for waiting := true; len(batch) < batchSize && waiting; {
		select {
		case s := <-q.spans:
			batch = append(batch, s)
		case <-timer.C():
			waiting = false
		case <-ctx.Done():
			waiting = false
		}
	}
	for len(batch) < batchSize && len(q.spans) > 0 {
		batch = append(batch, <-q.spans)
	}
	return batch
}

// send makes one call; it is not cut off when the node begins to stop.
func (q *queue) send(ctx context.Context, batch []sdktrace.ReadOnlySpan) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendTimeout)
	defer cancel()
	err := q.exporter.ExportSpans(bounded, batch)
	q.report.Observe(err)
	if err != nil {
		q.dropped(len(batch))
	}
}
