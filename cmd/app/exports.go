package app

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/standby"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/running"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/tracing"
)

// exports are where a node sends what it records: the brokers, and a collector of traces.
type exports struct {
	// readers are those of the outbox. The rules of alerting always read it.
	readers   entity.EventReaders
	publisher maintenance.Publisher
	// client and copies are nil without brokers, tracer without a collector of traces.
	client *kafka.Client
	copies *kafka.Copies
	tracer *tracing.Tracer
}

func openExports(b base) (x *exports, err error) {
	x = &exports{publisher: b.options.Publisher}
	if x.publisher == nil && len(b.cfg.Kafka.Brokers) > 0 {
		if x.client, err = kafka.Open(b.cfg.Kafka, b.cfg.Node.ID, b.machine, b.logger); err != nil {
			return nil, err
		}
		b.opened.add(x.client.Close)
		x.publisher = measured{x.client, b.machine, b.Metrics.Published}
		x.copies = x.client.NewCopies(b.Metrics.CopiesDropped)
	}
	x.readers = entity.EventReaders{Rules: true, Kafka: x.publisher != nil}
	if b.cfg.Tracing.Endpoint != "" {
		x.tracer = tracing.Open(tracing.Settings{
			Endpoint: b.cfg.Tracing.Endpoint, NodeID: b.cfg.Node.ID, Version: Version(),
		}, b.machine, b.logger, b.Metrics.SpansDropped)
	}
	return x, nil
}

// traced makes a span of each attempt; without a collector it is the executor itself.
func (x *exports) traced(inner running.Executor) running.Executor {
	if x.tracer == nil {
		return inner
	}
	return traced{x.tracer, inner}
}

type traced struct {
	tracer *tracing.Tracer
	inner  running.Executor
}

// Run implements running.Executor.
func (t traced) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	return t.tracer.Attempt(ctx, t.inner, run, rep)
}

// observer copies successes to the brokers, beside what it calls.
func (x *exports) observer(next completion.Observer) completion.Observer {
	if x.copies == nil {
		return next
	}
	return func(job *entity.Job, exec *entity.Execution) {
		if exec.Status == entity.StatusSuccess && !exec.Inline() { // of steps the end of their workflow run tells
			light := *exec
			light.Result, light.Params = "", ""
			x.copies.Offer(func() entity.Event { return event.Final(&light, job, light.EndTime) })
		}
		if next != nil {
			next(job, exec)
		}
	}
}

// collections is what copies the figures of each minute to the brokers; nil without brokers.
func (x *exports) collections() monitoring.Publisher {
	if x.copies == nil {
		return nil
	}
	return collections{x.copies, series.NewCatalogue()}
}

// collections implements monitoring.Publisher.
type collections struct {
	copies    *kafka.Copies
	catalogue *series.Catalogue
}

func (c collections) Publish(done monitoring.Collection) {
	for _, event := range done.Events(c.catalogue) {
		c.copies.Offer(event)
	}
}

// start runs the loops until ctx ends, and those that reach the brokers only while the gate
// is open. A message that says that an alert has changed calls onAlert.
func (x *exports) start(ctx context.Context, loops *sync.WaitGroup, gate *standby.Gate, onAlert func()) {
	if x.tracer != nil {
		loops.Go(func() { x.tracer.Run(ctx) })
	}
	if x.client != nil {
		// The task's first turn comes later.
		loops.Go(func() { gate.While(ctx, func(ctx context.Context) { _ = x.check(ctx) }) })
		loops.Go(func() { gate.While(ctx, x.copies.Run) })
		loops.Go(func() { gate.While(ctx, func(ctx context.Context) { x.client.WakeOnAlerts(ctx, onAlert) }) })
	}
}

// check asks the brokers. The health of the node shows their trouble as the part kafka.
func (x *exports) check(ctx context.Context) error {
	_ = x.client.Check(ctx)
	return nil
}

// trouble is what keeps events from the brokers.
func (x *exports) trouble() (reason string, blocks bool) {
	if x.client == nil {
		return "", false
	}
	return x.client.Trouble()
}

// up returns what reports whether the brokers take events, or nil without brokers.
func (x *exports) up() func() bool {
	if x.client == nil {
		return nil
	}
	return func() bool {
		reason, _ := x.client.Trouble()
		return reason == ""
	}
}

// measured gives events to the brokers, and counts them.
type measured struct {
	maintenance.Publisher
	clock   clock.Clock
	observe func(taken, failed map[string]int, took time.Duration)
}

// Publish implements maintenance.Publisher.
func (m measured) Publish(ctx context.Context, events []entity.Event) (ids []string, err error) {
	began := m.clock.Monotonic()
	ids, err = m.Publisher.Publish(ctx, events)
	taken, failed, good := map[string]int{}, map[string]int{}, make(map[string]bool, len(ids))
	for _, id := range ids {
		good[id] = true
	}
	for _, e := range events {
		if good[e.ID] {
			taken[e.Topic]++
		} else {
			failed[e.Topic]++
		}
	}
	m.observe(taken, failed, m.clock.Monotonic()-began)
	return ids, err
}
