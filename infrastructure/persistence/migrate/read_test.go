package migrate_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	migrations "github.com/platform-scheduler/platform-scheduler/sql"
)

func TestTheSchemaIsReadBesideAServer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		store := dbtest.Open(t, cfg) // a server has it open
		s, err := migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		require.Empty(t, s.Pending())
		require.Equal(t, s.Target, s.Current)
		require.False(t, s.Migrations[0].AppliedAt.IsZero())
		require.True(t, s.WayBack())
		require.NoError(t, store.Ping(t.Context()))

		m, err := migrate.Open(t.Context(), cfg.Config)
		require.NoError(t, err)
		defer m.Close()
		_, err = m.Down(t.Context())
		require.NoError(t, err)
		s, err = migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		require.Len(t, s.Pending(), 1)
		require.Less(t, s.Current, s.Target)
		_, err = m.Up(t.Context())
		require.NoError(t, err)

		newer(t, cfg, 99999)
		s, err = migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		require.Equal(t, []int64{99999, 99999}, []int64{s.Current, s.Serves})
		require.Equal(t, int64(99999), s.Migrations[len(s.Migrations)-1].Version, "of the newer program")
	})
}

func TestAStoreThatIsNotThereIsNotMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "store.db")
	s, err := migrate.ReadSchema(t.Context(), sqldb.Config{Driver: "sqlite", Path: path})
	require.NoError(t, err)
	require.Zero(t, s.Current)
	require.Equal(t, len(s.Migrations), len(s.Pending()))
	require.True(t, s.WayBack())
	require.NoFileExists(t, path)
	_, err = os.Stat(filepath.Dir(path))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = migrate.ReadSchema(t.Context(), sqldb.Config{Driver: "oracle"})
	require.ErrorContains(t, err, "store.driver")
}

func TestAWayBackIsThereWhileTheSchemaServesItsMaker(t *testing.T) {
	for _, c := range []struct {
		s    migrate.Schema
		back bool
	}{
		{migrate.Schema{Current: 31, Target: 33, Serves: 31, ServesThen: 31}, true},
		{migrate.Schema{Current: 31, Target: 33, Serves: 31, ServesThen: 32}, false},
		{migrate.Schema{Current: 0, Target: 33, ServesThen: 33}, true},
	} {
		require.Equal(t, c.back, c.s.WayBack(), "%+v", c.s)
	}
}

// A step that one store lacks is found without a server.
func TestBothStoresHaveTheSameSteps(t *testing.T) {
	names := func(files fs.FS, folder string) (names []string) {
		entries, err := fs.ReadDir(files, folder)
		require.NoError(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	require.Equal(t, names(migrations.SQLite, "sqlite"), names(migrations.MySQL, "mysql"))
}
