package persistence_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock/locktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

func TestSQLiteKeepsTheContractOfLocks(t *testing.T) {
	clock := clocktest.NewShifted()
	cfg := dbtest.SQLite(t)
	cfg.Clock = clock
	one, two := dbtest.Open(t, cfg), dbtest.Open(t, cfg)
	locktest.Run(t, locktest.Subject{One: one.Locks, Two: two.Locks, Pass: clock.Jump})
	locktest.Linearizable(t, one.Locks, two.Locks)
	requireReadable(t, one)
}

func TestMySQLKeepsTheContractOfLocks(t *testing.T) {
	dbtest.NeedMySQL(t)
	cfg := dbtest.Migrated(t)
	one, two := dbtest.Open(t, cfg), dbtest.Open(t, cfg)
	gone, p := behindProxy(t)
	p.set(func(p *proxy) { p.away = true })
	p.cut()
	locktest.Run(t, locktest.Subject{One: one.Locks, Two: two.Locks, Pass: time.Sleep, Away: gone.Locks})
	locktest.Linearizable(t, one.Locks, two.Locks)
	requireReadable(t, one)
}

// requireReadable looks at the table as a person would.
func requireReadable(t *testing.T, s *persistence.Store) {
	t.Helper()
	lease, ok, err := s.Locks.TryLock(t.Context(), "retention", "node-1#7", time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	_, _, err = s.Locks.TryLock(t.Context(), "ends with a space ", "node-1#7", time.Minute)
	require.NoError(t, err)
	read := func(query string, args ...any) (text string) {
		write := func(ctx context.Context, tx dbtest.Tx) (err error) {
			text, err = tx.QueryText(ctx, query, args...)
			return err
		}
		require.NoError(t, dbtest.Write(t.Context(), s, repository.LaneAPI, "test", write))
		return text
	}
	require.Equal(t, "node-1#7", read("SELECT node_id FROM scheduler_job_lock WHERE lock_key = 'retention'"))
	require.Equal(t, sqlvalue.TimeText(lease.Until),
		read("SELECT expire_time FROM scheduler_job_lock WHERE lock_key = 'retention'"))
	holder := func(name string) string {
		holder, err := s.Locks.Holder(t.Context(), name)
		require.NoError(t, err)
		return holder
	}
	require.Equal(t, []string{"node-1#7", ""}, []string{holder("retention"), holder("nobody asked for it")})
	ok, err = s.Locks.Unlock(t.Context(), lease)
	require.NoError(t, err)
	require.True(t, ok)
	require.Empty(t, holder("retention"))
	require.Equal(t, "1", read("SELECT COUNT(*) FROM scheduler_job_lock WHERE lock_key LIKE 'sha256:%' AND node_id = "+
		"'node-1#7'"))
}

func TestALostReplyToALockIsUnavailable(t *testing.T) {
	dbtest.NeedMySQL(t)
	s, p := behindProxy(t)
	p.set(func(p *proxy) { p.loseReply = true })
	_, ok, err := s.Locks.TryLock(t.Context(), "x", "a", time.Minute)
	require.ErrorIs(t, err, repository.ErrCommitUnknown)
	require.True(t, apperror.Is(err, apperror.KindUnavailable))
	require.False(t, ok)
	_, ok, err = s.Locks.TryLock(t.Context(), "x", "a", time.Minute)
	require.NoError(t, err)
	require.False(t, ok, "it was taken unseen, and ends by itself")
	granted, err := s.Locks.ClaimMany(t.Context(), []string{"x"}, "a", time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, granted, "a claim takes up what its holder has")
}

func BenchmarkClaimMany(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { locktest.Bench(b, dbtest.Open(b, dbtest.SQLite(b)).Locks) })
	if dbtest.HasMySQL(b) {
		b.Run("mysql", func(b *testing.B) { locktest.Bench(b, dbtest.Open(b, dbtest.MySQL(b)).Locks) })
	}
}
