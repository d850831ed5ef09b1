package persistence_test

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// A copy of the store lies beside the original on one server. The rows of its registry name
// sessions and locks of living nodes: what the copy does about them touches nobody.
func TestACopyOnTheSameServerEndsNoSessionOfTheOriginal(t *testing.T) {
	dbtest.NeedMySQL(t)
	original, copied := dbtest.Migrated(t), dbtest.MySQL(t)
	a := newMember(t, original, "a")
	a.beat(t)
	n := a.seen(t, "a")
	parsed, err := mysql.ParseDSN(original.DSN)
	require.NoError(t, err)
	require.Equal(t, parsed.DBName, n.Life.Database)

	b := newMember(t, copied, "b")
	raw := dbtest.Raw(t, copied)
	_, err = raw.ExecContext(t.Context(),
		"INSERT INTO scheduler_node_registry SELECT * FROM "+parsed.DBName+".scheduler_node_registry")
	require.NoError(t, err)
	row := b.seen(t, "a")
	require.Equal(t, n.Life, row.Life)

	for name, change := range map[string]func() error{
		"a row of the same server and another database": func() error { return nil },
		"a row of the former release, which names no database": func() error {
			_, err := raw.ExecContext(t.Context(), "UPDATE scheduler_node_registry SET store_database = NULL WHERE id = 'a'")
			return err
		},
	} {
		require.NoError(t, change(), name)
		row = b.seen(t, "a")
		_, known, err := b.LockFree(t.Context(), row)
		require.NoError(t, err, name)
		require.False(t, known, "%s: the locks of the original have other names", name)
		if row.Status != entity.NodeDown {
			ok, err := b.Mark(t.Context(), row, entity.NodeDown, entity.DownLease)
			require.NoError(t, err)
			require.True(t, ok)
		}
		ended, err := b.Sever(t.Context(), row)
		require.NoError(t, err, name)
		require.Zero(t, ended, name)
	}
	a.beat(t)
	require.Equal(t, n.Life.LockSession, a.seen(t, "a").Life.LockSession, "over the same connection as before")
}
