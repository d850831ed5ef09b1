package persistence_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A reader of the outbox is told of each commit that filled it, and of no other.
func TestACommitThatAddsEventsIsTold(t *testing.T) {
	told := 0
	cfg := dbtest.SQLite(t)
	cfg.EventsAdded = func() { told++ }
	cfg.AutoMigrate = true
	s, err := persistence.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	write := func(readers entity.EventReaders, fails error) {
		err := s.Write(t.Context(), repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
			require.Zero(t, told, "not before the commit")
			err := tx.Records.AddEvents(ctx, []entity.Event{{
				ID: "e", Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(), Readers: readers,
			}})
			return errors.Join(err, fails)
		})
		require.ErrorIs(t, err, fails)
	}
	write(entity.EventReaders{}, nil)
	require.Zero(t, told, "nobody reads it")
	write(entity.EventReaders{Kafka: true}, context.Canceled)
	require.Zero(t, told, "rolled back")
	write(entity.EventReaders{Kafka: true}, nil)
	require.Equal(t, 1, told)
}
