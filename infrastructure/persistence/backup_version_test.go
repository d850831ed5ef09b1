package persistence_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

// formerSchema is that of the backup in testdata, which the program of commit 44ce92fb wrote. It holds the rows of its
// fillEverything, with 60 runs of 20 jobs; two jobs of storetest, and a range of missed fires of the first of them.
const formerSchema = 75

func formerBackup(t *testing.T) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", fmt.Sprintf("backup-of-schema-%d.db.gz", formerSchema)))
	require.NoError(t, err)
	defer func() { require.NoError(t, packed.Close()) }()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	data, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "former.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// A backup that a former program wrote holds the same rows when this one has restored it, and what migrations make of
// rows is made of them. The restored store is backed up again, because that gives both kinds of stores one form.
func TestABackupOfAnOlderSchemaIsMigratedOnItsWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, kind persistence.Config) {
		to := nothing(t)
		if kind.Driver == dialect.MySQL {
			to = dbtest.MySQL(t)
		}
		to.AutoMigrate = false // so that the restore itself has to migrate
		path := formerBackup(t)
		before, err := storecopy.Verify(t.Context(), path, quiet)
		require.NoError(t, err)
		require.EqualValues(t, formerSchema, before.Schema)
		s := restored(t, path, to)
		again, after := backedUp(t, to, quick)
		target, err := migrate.Target()
		require.NoError(t, err)
		require.Equal(t, target, after.Schema)
		require.Equal(t, before.Keys, after.Keys)
		require.Equal(t, before.Nodes, after.Nodes)

		want, got := file(t, change(t, path, unchanged)), file(t, change(t, again, unchanged))
		for _, table := range texts(t, want, "SELECT name FROM backup_table") {
			columns := keptColumns(t, want, table)
			if len(columns) == 0 {
				continue
			}
			rows := "SELECT " + strings.Join(columns, " || ' ' || ") + " FROM " + table + " ORDER BY 1"
			require.Equal(t, texts(t, want, rows), texts(t, got, rows), table)
		}
		require.Len(t, texts(t, want, "SELECT id FROM scheduler_job_log"), 2, "the file holds rows")

		once, err := s.Jobs.Get(t.Context(), storetest.JobID(1))
		require.NoError(t, err)
		require.Equal(t, 31_536_000, once.Misfire.WindowSec)
		require.Equal(t, storetest.Noon.Add(time.Hour), once.DecidedUntil)
		skip, err := s.Jobs.Get(t.Context(), storetest.JobID(2))
		require.NoError(t, err)
		require.Equal(t, 86_400, skip.Misfire.WindowSec)
	})
}

func unchanged(*testing.T, string) {}

func texts(t *testing.T, db sqlvalue.Querier, query string, args ...any) []string {
	t.Helper()
	found, err := sqlvalue.Texts(t.Context(), db, query, args...)
	require.NoError(t, err)
	return found
}

// keptColumns are the columns of a table whose values no migration and no backup changes, as SQL that shows each. MySQL
// keeps four digits of the value of a metric.
func keptColumns(t *testing.T, db sqlvalue.Querier, table string) (columns []string) {
	t.Helper()
	changed := map[string][]string{
		"scheduler_job_definition": {"misfire_window_sec"},
		"scheduler_job_version":    {"definition"},
		"scheduler_metrics":        {"metric_value"},
	}[table]
	if slices.Contains([]string{migrate.SchemaTable, migrate.CompatTable, "scheduler_store_state"}, table) {
		return nil
	}
	for _, name := range texts(t, db, "SELECT name FROM pragma_table_info(?)", table) {
		if !slices.Contains(changed, name) {
			columns = append(columns, "quote("+name+")")
		}
	}
	require.NotEmpty(t, columns, table)
	return columns
}

// later makes a backup one of the next schema.
func later(t *testing.T, copied string) {
	t.Helper()
	db := file(t, copied)
	var info storecopy.Info
	said := texts(t, db, "SELECT info FROM backup_info")
	require.NoError(t, json.Unmarshal([]byte(said[0]), &info))
	info.Schema++
	text, err := json.Marshal(info)
	require.NoError(t, err)
	sums := texts(t, db, "SELECT name || ' ' || rows || ' ' || sum || char(10) FROM backup_table ORDER BY name")
	all := sha256.Sum256([]byte(strings.Join(sums, "") + string(text)))
	_, err = db.ExecContext(t.Context(), "UPDATE backup_info SET info = ?, sum = ?", string(text),
		hex.EncodeToString(all[:]))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
}

func TestABackupOfANewerSchemaIsRefused(t *testing.T) {
	path, info := backedUp(t, dbtest.SQLite(t), quick)
	_, err := storecopy.Verify(t.Context(), change(t, path, later), quiet)
	require.ErrorContains(t, err, fmt.Sprintf("its schema is version %d and this program knows up to %d; use the program "+
		"that wrote it, or a newer one", info.Schema+1, info.Schema))
}

// A program does not know which tables of another one it would leave out.
func TestAStoreOfAnotherSchemaIsNotBackedUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		target, err := migrate.Target()
		require.NoError(t, err)
		folder := t.TempDir()
		refused := func(version int64) {
			t.Helper()
			_, err := storecopy.Backup(t.Context(), cfg.Config, filepath.Join(folder, "backup.db"), quick, quiet)
			require.ErrorContains(t, err, fmt.Sprintf("the store to back up: its schema is version %d and this program's is "+
				"%d; back it up with the program that its servers run", version, target))
			files, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Empty(t, files)
		}
		m, err := migrate.Open(t.Context(), cfg.Config)
		require.NoError(t, err)
		defer func() { require.NoError(t, m.Close()) }()
		_, err = m.Down(t.Context())
		require.NoError(t, err)
		older, err := migrate.ReadSchema(t.Context(), cfg.Config)
		require.NoError(t, err)
		require.Less(t, older.Current, target)
		refused(older.Current)
		_, err = m.Up(t.Context())
		require.NoError(t, err)
		_, err = m.DB().ExecContext(t.Context(), "INSERT INTO "+migrate.SchemaTable+
			" (version_id, is_applied) VALUES (?, 1)", target+1)
		require.NoError(t, err)
		refused(target + 1)
	})
}

// A store without tables is not the one that somebody wants to keep.
func TestAnEmptyStoreIsNotBackedUp(t *testing.T) {
	empty := func(t *testing.T, cfg persistence.Config) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "backup.db")
		_, err := storecopy.Backup(t.Context(), cfg.Config, path, quick, quiet)
		require.ErrorContains(t, err, "it has no tables; name the store of the servers")
		require.NoFileExists(t, path)
	}
	t.Run("sqlite", func(t *testing.T) { empty(t, nothing(t)) })
	t.Run("mysql", func(t *testing.T) {
		dbtest.NeedMySQL(t)
		empty(t, dbtest.MySQL(t))
	})
}
