package app

import (
	"context"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/maintenance"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// events are the readers of the outbox.
type events struct {
	// rules reads what the rules of alerting wait for; relay is nil without a publisher.
	rules *manager.Loop
	relay *maintenance.Relay
	// unread bounds what waits for the rules, and excess what waits for the brokers; it is nil without a publisher.
	unread *maintenance.Unread
	excess *maintenance.Excess
}

func newEvents(b base, s storage, x *exports, tasks *periodic.Tasks, rules *manager.Loop) events {
	dropped := func(n int) { b.Metrics.OutboxDropped(string(entity.ReaderRules), n) }
	v := events{rules: rules, unread: maintenance.NewUnread(maintenance.UnreadDeps{
		Outbox: s.Store, Clock: b.machine, StoreClock: s.Clock, Logger: b.logger, Dropped: dropped,
	})}
	if x.publisher != nil {
		v.relay = maintenance.NewRelay(maintenance.RelayDeps{
			Outbox: s.Store, Publisher: x.publisher, Clock: b.machine, Leads: tasks.Leads,
			Note: tasks.WatchLeader("relay", maintenance.RelayInterval),
		})
		v.excess = maintenance.NewExcess(s.Store, func(n int) {
			b.Metrics.OutboxDropped(string(entity.ReaderKafka), n)
			if x.client != nil {
				x.client.NoteDropped(n)
			}
		})
	}
	return v
}

// wake makes the readers look, on the leader.
func (v events) wake() {
	v.rules.Wake()
	if v.relay != nil {
		v.relay.Wake()
	}
}

// eventsAdded wakes the readers on the leader after a commit that added events.
func (p *parts) eventsAdded() {
	p.events.wake()
	if p.cluster != nil && !p.tasks.Leads() {
		p.cluster.notifier.EventsAdded()
	}
}

// forget clears what waits for readers that are off.
func (p *parts) forget(ctx context.Context) error {
	_, err := maintenance.Forget(ctx, p.Store, p.exports.readers)
	return err
}
