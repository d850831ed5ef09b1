package app_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// The original has sent the events and messages that its copy holds. So a server that stands by publishes no event and
// sends no message; an activated one does.
func TestAServerThatStandsByTellsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := newConfig(t)
		var brokers mailbox
		n := startNode(t, cfg, &script{publisher: &brokers})
		defer n.stop()
		setMode(t, n.Store, entity.StoreStandby)
		n.await("it stands by", func() bool { return standsBy(n) != "" })
		n.channel("chat")
		now := n.Clock.Now()
		run := &entity.Execution{
			ID: identity.RandomID(now), JobID: identity.RandomID(now), FireKey: "k", Status: entity.StatusFailed, Attempt: 1,
			Trigger: entity.TriggerManual, ShardTotal: 1, ScheduledTime: now, DueTime: now, StartTime: now, EndTime: now,
			CreateTime: now, UpdateTime: now,
		}
		final := event.Final(run, nil, now)
		final.Readers = entity.EventReaders{Kafka: true}
		a := &alert.Alert{
			ID: identity.RandomID(now), Fingerprint: "f", Held: true, Type: alert.JobFailed, Level: alert.Critical,
			Status: alert.Firing, RuleID: "r", RuleVersion: 1, JobID: run.JobID, Content: "it failed", Count: 1,
			Labels:       map[string]string{"alertname": "JOB_FAILED"},
			PendingSince: now, StartTime: now, LastTime: now, CreateTime: now, UpdateTime: now, Seq: 1,
		}
		message := &alert.Notification{
			ID: "m-1", GroupKey: "g", ChannelID: "chat", Number: 1, State: alert.NotificationOpen, NextTry: now,
			CreateTime: now, UpdateTime: now, Alerts: []alert.NotifiedAlert{{AlertID: a.ID, Seq: 1, Firing: true}},
		}
		err := n.Store.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			if err := tx.Records.AddEvents(ctx, []entity.Event{final}); err != nil {
				return err
			}
			if _, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a}); err != nil {
				return err
			}
			return tx.Alerts.AddNotifications(ctx, []*alert.Notification{message})
		})
		require.NoError(t, err)
		attempts := func() int {
			_, tried, err := n.Store.NotificationsOf(t.Context(), a.ID, 10)
			require.NoError(t, err)
			return len(tried)
		}
		n.await("looks have passed", func() bool { return n.Clock.Now().Sub(now) > 5*time.Second })
		require.Empty(t, brokers.seen())
		require.Zero(t, attempts())

		setMode(t, n.Store, entity.StoreActive)
		n.await("the brokers have it", func() bool { return len(brokers.seen()) == 1 })
		n.await("somebody is told", func() bool { return attempts() > 0 })
	})
}
