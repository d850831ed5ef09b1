package persistence_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// Callers of the API wait for a row that somebody holds, more of them than they
// have connections: the engine, the clock, the locks and the registry go on.
func TestCallersCannotTakeTheConnectionsOfTheEngine(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	cfg.MaxConns = 12
	s := dbtest.Open(t, cfg)
	const wait = 8 * time.Second // far more than a busy machine adds to a call
	n := entity.Node{ID: "a", Roles: []string{entity.RoleScheduler}}
	var err error
	n.Epoch, err = s.Register(t.Context(), n)
	require.NoError(t, err)
	raw := dbtest.Raw(t, cfg)
	held, err := raw.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = s.Register(t.Context(), entity.Node{ID: "b"})
	require.NoError(t, err)
	_, err = held.ExecContext(t.Context(), "UPDATE scheduler_node_registry SET running = 1 WHERE id = 'b'")
	require.NoError(t, err)
	caller := repository.WithStatementTimeout(t.Context(), wait)
	var callers sync.WaitGroup
	began := time.Now()
	for range 40 {
		callers.Go(func() {
			err := s.Drain(caller, "b", true)
			if !apperror.Is(err, apperror.KindUnavailable) {
				t.Errorf("a caller that cannot be served is told to come again: %v", err)
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	for range 20 {
		began := time.Now()
		require.NoError(t, addEvent(t.Context(), s, rand.Text()), "the engine")
		_, err := s.StoreTime(t.Context())
		require.NoError(t, err, "the clock")
		_, _, err = s.Locks.TryLock(t.Context(), "x", "a", time.Minute)
		require.NoError(t, err, "the locks")
		ok, err := s.Heartbeat(t.Context(), n)
		require.NoError(t, err, "the registry")
		require.True(t, ok)
		require.NoError(t, s.Ping(caller), "readiness tells of the store, not of its callers")
		require.Less(t, time.Since(began), wait-time.Second)
	}
	callers.Wait()
	require.Less(t, time.Since(began), 4*wait)
	require.NoError(t, held.Rollback())
	require.NoError(t, s.Drain(caller, "b", true))
}

func addEvent(ctx context.Context, s *persistence.Store, id string) error {
	return s.Write(ctx, repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		return tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: id, Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(),
				Readers: entity.EventReaders{Kafka: true},
			}})
	})
}
