package episode_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Each change of an alert is an event for Kafka, in the same transaction; planning is none.
func TestEachChangeOfAnAlertIsCopied(t *testing.T) {
	d := alertingtest.New(t)
	d.Rule(alert.JobFailed, nil)
	d.Route(nil)
	readers := entity.EventReaders{Kafka: true}
	leader := func() *manager.Evaluator { return d.Leader(episode.Copying(d.Store, readers)) }
	copies := func() (out []entity.Event) {
		found, err := d.Store.PendingEvents(t.Context(), entity.ReaderKafka, 0, 100)
		require.NoError(t, err)
		return found
	}
	d.End(d.Add(t, enginetest.Job("settle", nil)), entity.StatusFailed)
	_, _, err := leader().RunOnce(t.Context())
	require.NoError(t, err)
	_, err = d.Planning(episode.Copying(d.Store, readers)).Plan(t.Context())
	require.NoError(t, err)
	require.Len(t, copies(), 1)
	a := d.One()
	former := a.Seq
	require.NoError(t, a.Acknowledge("ann", enginetest.Noon))
	store := episode.Copying(d.Store, readers)
	change := func(fail error) error {
		return store.Write(t.Context(), repository.LaneAPI, "ack", func(ctx context.Context, tx repository.Tx) error {
			if _, err := tx.Alerts.UpdateAlert(ctx, a, former); err != nil {
				return err
			}
			return fail
		})
	}
	require.Error(t, change(errors.New("rolled back")))
	require.Len(t, copies(), 1)
	require.NoError(t, change(nil))
	a.Seq++ // the change after it, of somebody who has read the first one
	require.NoError(t, change(nil), "somebody else has changed it")
	found := copies()
	require.Len(t, found, 2)
	for i, status := range []alert.Status{alert.Firing, alert.Acknowledged} {
		require.Equal(t, entity.TopicAlerts, found[i].Topic)
		require.Equal(t, a.Fingerprint, found[i].Key)
		var data struct {
			Status alert.Status `json:"status"`
			Seq    int64        `json:"seq"`
		}
		require.NoError(t, json.Unmarshal([]byte(found[i].Payload), &data))
		require.Equal(t, status, data.Status)
		require.EqualValues(t, i+1, data.Seq)
	}
	require.Equal(t, repository.Store(d.Store), episode.Copying(d.Store, entity.EventReaders{}),
		"without brokers it is free")
}
