package dbtest

import (
	"context"
	"os"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// A database that is made from the template has the tables, the rows and the counters that
// the migrations left, and opening it changes none of them.
func TestATemplateIsWhatTheMigrationsLeft(t *testing.T) {
	NeedMySQL(t)
	left, err := mysqlTemplate()
	require.NoError(t, err)
	require.Contains(t, left.text(), "CREATE TABLE `scheduler_job_execution`")
	require.Contains(t, left.text(), "INSERT INTO scheduler_schema_version VALUES ('1','0',")
	cfg := Migrated(t)
	Open(t, cfg)
	dsn, err := mysql.ParseDSN(cfg.DSN)
	require.NoError(t, err)
	s, err := newScratch()
	require.NoError(t, err)
	defer s.db.Close()
	made, err := s.dump(context.Background(), dsn.DBName)
	require.NoError(t, err)
	require.Equal(t, left, made)
}

// A test that takes over the database of another finds it as the migrations left it; one whose
// schema was changed is not handed on.
func TestASpareDatabaseIsAsNew(t *testing.T) {
	NeedMySQL(t)
	drop := Reuse()
	t.Cleanup(func() {
		require.NoError(t, drop())
		spare.kept = false
	})
	used := func(statements ...string) (dsn string) {
		t.Run("", func(t *testing.T) {
			cfg := Migrated(t)
			dsn = cfg.DSN
			left, err := mysqlTemplate()
			require.NoError(t, err)
			parsed, err := mysql.ParseDSN(dsn)
			require.NoError(t, err)
			s, err := newScratch()
			require.NoError(t, err)
			defer s.db.Close()
			made, err := s.dump(t.Context(), parsed.DBName)
			require.NoError(t, err)
			require.Equal(t, left, made)
			for _, statement := range statements {
				_, err := Raw(t, cfg).ExecContext(t.Context(), statement)
				require.NoError(t, err)
			}
		})
		return dsn
	}
	first := used("DELETE FROM scheduler_job_group", "UPDATE scheduler_schema_compat SET min_version = 1",
		"INSERT INTO scheduler_outbox (event_id, topic, event_type, payload, create_time) "+
			"VALUES ('e', 't', 't', '{}', NOW())", "DELETE FROM scheduler_outbox")
	require.Equal(t, first, used("ALTER TABLE scheduler_job_group ADD COLUMN more INT"))
	require.NotEqual(t, first, used())
}

// The other processes of a run read what one has made; a failure leaves nothing behind.
func TestProcessesOfARunShareWhatTheMigrationsMade(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(envTemplates, dir)
	_, err := shared("made", func() ([]byte, error) { return nil, os.ErrInvalid })
	require.ErrorIs(t, err, os.ErrInvalid)
	for range 2 {
		data, err := shared("made", func() ([]byte, error) { return []byte("first"), nil })
		require.NoError(t, err)
		require.Equal(t, "first", string(data))
	}
	_, err = shared("made", func() ([]byte, error) { return nil, os.ErrInvalid })
	require.NoError(t, err, "nothing is made again")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1)
}
