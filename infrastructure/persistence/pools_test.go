package persistence_test

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
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
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	patient := repository.WithStatementTimeout(ctx, time.Hour)
	var callers sync.WaitGroup
	var served atomic.Int64
	for range 40 {
		callers.Go(func() {
			if s.Drain(patient, "b", true) == nil {
				served.Add(1)
			}
		})
	}
	enginetest.Await(t, func() bool { return s.Stats()["callers"].WaitCount > 0 }, "callers have no connection left")
	// None of these waits for a caller, which would be for an hour.
	for range 20 {
		require.NoError(t, addEvent(t.Context(), s, rand.Text()), "the engine")
		_, err := s.StoreTime(t.Context())
		require.NoError(t, err, "the clock")
		_, _, err = s.Locks.TryLock(t.Context(), "x", "a", time.Minute)
		require.NoError(t, err, "the locks")
		ok, err := s.Heartbeat(t.Context(), n)
		require.NoError(t, err, "the registry")
		require.True(t, ok)
		require.NoError(t, s.Ping(patient), "readiness tells of the store, not of its callers")
	}
	err = s.Drain(repository.WithStatementTimeout(t.Context(), time.Second), "b", true)
	require.True(t, apperror.Is(err, apperror.KindUnavailable),
		"a caller that cannot be served is told to come again: %v", err)
	cancel()
	callers.Wait()
	require.Zero(t, served.Load(), "the row was held all the while")
	require.NoError(t, held.Rollback())
	require.NoError(t, s.Drain(t.Context(), "b", true))
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
