package degrade_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	domainfault "github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"

	"github.com/platform-scheduler/platform-scheduler/test/rig"
)

// event writes a row; before is called ahead of its COMMIT.
func event(ctx context.Context, s *persistence.Store, id string, before func()) error {
	return s.Write(ctx, repository.LaneAPI, "test", func(ctx context.Context, tx repository.Tx) error {
		err := tx.Records.AddEvents(ctx,
			[]entity.Event{{
				ID: id, Topic: "t", Type: "x", Payload: "{}", CreateTime: time.Now(),
				Readers: entity.EventReaders{Kafka: true},
			}})
		before()
		return err
	})
}

func TestPatienceBoundsReadsTransactionsAndCommits(t *testing.T) {
	dbtest.NeedMySQL(t)
	dsn, p := behind(t)
	s := dbtest.Open(t, persistence.Config{
		Config:      sqldb.Config{Driver: "mysql", DSN: dsn, MaxConns: 3},
		AutoMigrate: true,
	})
	ctx := repository.WithStatementTimeout(t.Context(), 500*time.Millisecond)
	silently := func() { p.Set(rig.BlackHole) }
	for what, do := range map[string]func() error{
		"a read":                 func() error { return s.Ping(ctx) },
		"a read of GORM":         func() error { _, err := s.UserByName(ctx, "x"); return err },
		"a transaction":          func() error { return event(ctx, s, "never", func() {}) },
		"a connection to be had": func() error { return s.Ping(ctx) },
	} {
		silently()
		began := time.Now()
		err := do()
		require.True(t, domainfault.Is(err, domainfault.KindUnavailable), "%s: %v", what, err)
		require.Less(t, time.Since(began), 20*time.Second, what)
		p.Set(rig.Pass)
	}
	for _, id := range []string{"a", "b", "c", "d"} { // more than there are connections
		began := time.Now()
		err := event(ctx, s, id, silently)
		require.ErrorIs(t, err, repository.ErrCommitUnknown, "what was sent may have happened")
		require.Less(t, time.Since(began), 20*time.Second)
		p.Set(rig.Pass)
		require.NoError(t, s.Ping(ctx), "at once")
	}
	gone, cancel := context.WithCancel(ctx)
	err := event(gone, s, "gone", cancel)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, repository.ErrCommitUnknown, "what was not sent has not happened")
	require.NoError(t, event(ctx, s, "last", func() {}))
}
