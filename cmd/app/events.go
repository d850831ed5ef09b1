package app

import (
	"context"
	"sync"
	"sync/atomic"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/completion"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/application/manager/monitoring"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/tracing"
)

// events are the parts that carry events from the outbox to the brokers.
type events struct {
	readers   entity.EventReaders
	publisher maintenance.Publisher
	// client and copies are nil without brokers, relay without a publisher.
	client *kafka.Client
	copies *kafka.Copies
	// tracer is nil without a collector of traces.
	tracer *tracing.Tracer
	relay  *maintenance.Relay
	// unread bounds what waits for the rules, and excess what waits for the brokers; it is nil without a publisher.
	unread *maintenance.Unread
	excess *maintenance.Excess
	outbox repository.Outbox
	leads  func() bool
	// rules reads what the rules of alerting wait for.
	rules *manager.Loop
	// onAlert is called when a message says that an alert has changed; nil where nobody sends notifications.
	onAlert func()
	// hint tells the readers of new events, on whichever node they are; nil before the
	// parts are wired.
	hint atomic.Pointer[func()]
}

// openEvents decides who reads the outbox: the rules of alerting always do.
func openEvents(e *Engine, o Options) (v *events, err error) {
	v = &events{publisher: o.Publisher}
	if v.publisher == nil && len(e.cfg.Kafka.Brokers) > 0 {
		if v.client, err = kafka.Open(e.cfg.Kafka, e.cfg.Node.ID, o.Clock, o.Logger); err != nil {
			return v, err
		}
		v.publisher = measured{v.client, o.Clock, e.Metrics.Published}
		v.copies = v.client.NewCopies(e.Metrics.CopiesDropped)
	}
	v.tracer = openTracer(e)
	v.readers = entity.EventReaders{Rules: true, Kafka: v.publisher != nil}
	return v, nil
}

// wire makes the readers, once the store and the lead are there.
func (v *events) wire(e *Engine, tasks *periodic.Tasks) {
	v.outbox, v.leads, v.rules = e.Store, tasks.Leads, e.alerts.loop
	v.unread = maintenance.NewUnread(maintenance.UnreadDeps{
		Outbox: e.Store, Clock: e.machine, StoreClock: e.Clock, Logger: e.logger,
		Dropped: func(n int) { e.Metrics.OutboxDropped(string(entity.ReaderRules), n) },
	})
	if v.publisher != nil {
		v.relay = v.newRelay(e, tasks)
		v.excess = maintenance.NewExcess(e.Store, func(n int) { v.dropped(e, n) })
	}
	hint := v.wake
	if e.cluster != nil {
		hint = func() {
			v.wake()
			if !v.leads() {
				e.cluster.notifier.EventsAdded()
			}
		}
	}
	v.hint.Store(&hint)
}

func (v *events) newRelay(e *Engine, tasks *periodic.Tasks) *maintenance.Relay {
	return maintenance.NewRelay(maintenance.RelayDeps{
		Outbox: e.Store, Publisher: v.publisher, Clock: e.machine, Leads: tasks.Leads,
		Note: tasks.WatchLeader("relay", maintenance.RelayInterval),
	})
}

// dropped counts and shows events that the brokers do not get.
func (v *events) dropped(e *Engine, n int) {
	e.Metrics.OutboxDropped(string(entity.ReaderKafka), n)
	if v.client != nil {
		v.client.NoteDropped(n)
	}
}

// added is called after each commit that added events.
func (v *events) added() {
	if hint := v.hint.Load(); hint != nil {
		(*hint)()
	}
}

// wake makes the readers look, on the leader.
func (v *events) wake() {
	v.rules.Wake()
	if v.relay != nil {
		v.relay.Wake()
	}
}

// observer copies successes to the brokers, beside what it calls.
func (v *events) observer(next completion.Observer) completion.Observer {
	if v.copies == nil {
		return next
	}
	return func(job *entity.Job, exec *entity.Execution) {
		if exec.Status == entity.StatusSuccess {
			light := *exec
			light.Result, light.Params = "", ""
			v.copies.Offer(func() entity.Event { return event.Final(&light, light.EndTime) })
		}
		if next != nil {
			next(job, exec)
		}
	}
}

// collections is what copies the figures of each minute to the brokers; nil without brokers.
func (v *events) collections() monitoring.Publisher {
	if v.copies == nil {
		return nil
	}
	return collections{v.copies, series.NewCatalogue()}
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

// start runs the loops until ctx ends.
func (v *events) start(ctx context.Context, loops *sync.WaitGroup) {
	loops.Go(func() { v.rules.Run(ctx) })
	if v.tracer != nil {
		loops.Go(func() { v.tracer.Run(ctx) })
	}
	if v.relay != nil {
		loops.Go(func() { v.relay.Run(ctx) })
	}
	if v.client != nil {
		loops.Go(func() { _ = v.check(ctx) }) // the task's first turn comes later
		loops.Go(func() { v.copies.Run(ctx) })
		if v.onAlert != nil {
			loops.Go(func() { v.client.WakeOnAlerts(ctx, v.onAlert) })
		}
	}
}

// check asks the brokers. What is wrong is shown as the part kafka.
func (v *events) check(ctx context.Context) error {
	_ = v.client.Check(ctx)
	return nil
}

// forget clears what waits for readers that are off.
func (v *events) forget(ctx context.Context) error {
	_, err := maintenance.Forget(ctx, v.outbox, v.readers)
	return err
}

// trouble is what keeps events from the brokers.
func (v *events) trouble() (reason string, blocks bool) {
	if v.client == nil {
		return "", false
	}
	return v.client.Trouble()
}

func (v *events) close() error {
	if v == nil || v.client == nil {
		return nil
	}
	return v.client.Close()
}
