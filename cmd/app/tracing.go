package app

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/tracing"
)

// openTracer makes the tracer of attempts; nil where no collector is configured.
func openTracer(e *Engine) *tracing.Tracer {
	if e.cfg.Tracing.Endpoint == "" {
		return nil
	}
	return tracing.Open(tracing.Settings{
		Endpoint: e.cfg.Tracing.Endpoint, NodeID: e.cfg.Node.ID, Version: Version(),
	}, e.machine, e.logger, e.Metrics.SpansDropped)
}

// traced makes a span of each attempt; without a collector it is the executor itself.
func (v *events) traced(inner running.Executor) running.Executor {
	if v.tracer == nil {
		return inner
	}
	return traced{v.tracer, inner}
}

type traced struct {
	tracer *tracing.Tracer
	inner  running.Executor
}

// Run implements running.Executor.
func (t traced) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	return t.tracer.Attempt(ctx, t.inner, run, rep)
}
