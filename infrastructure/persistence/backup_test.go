package persistence_test

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/migrate"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/connect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

// eachStore calls fn with a filled store of each kind, which is open, and what it holds.
func eachStore(t *testing.T, fn func(t *testing.T, cfg persistence.Config, s *persistence.Store, want map[string]any)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		s := dbtest.Open(t, cfg)
		fillEverything(t, s)
		want := everything(t, s)
		delete(want, "session") // no backup holds one
		fn(t, cfg, s, want)
	})
}

var quick = storecopy.Options{Fast: true, By: "ann@host", Clock: clock.NewSystem()}

// backedUp is a new backup of a store.
func backedUp(t *testing.T, cfg persistence.Config, o storecopy.Options) (path string, info storecopy.Info) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "backup.db")
	info, err := storecopy.Backup(t.Context(), cfg.Config, path, o, quiet)
	require.NoError(t, err)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing lies beside the backup")
	stat, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), stat.Mode().Perm())
	return path, info
}

// nothing is a SQLite store that is not there yet.
func nothing(t *testing.T) persistence.Config {
	t.Helper()
	cfg := dbtest.SQLite(t)
	require.NoError(t, os.Remove(cfg.Path))
	return cfg
}

// restored opens the store into which a backup was restored.
func restored(t *testing.T, path string, to persistence.Config) *persistence.Store {
	t.Helper()
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	info, err := storecopy.Verify(t.Context(), path, quiet)
	require.NoError(t, err)
	require.NoError(t, storecopy.Restore(t.Context(), path, info, to.Config, quiet))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after, "the backup is as it was")
	s := dbtest.Open(t, to)
	state, err := s.StoreState(t.Context())
	require.NoError(t, err)
	require.Equal(t, entity.StoreStandby, state.Mode)
	require.Contains(t, state.Reason, "a backup of 20")
	schema, err := migrate.ReadSchema(t.Context(), to.Config)
	require.NoError(t, err)
	require.EqualValues(t, entity.StandbySchema, schema.Serves, "programs that know no standby are refused")
	require.Equal(t, "ann@host", state.By)
	return s
}

func holds(t *testing.T, want map[string]any, s *persistence.Store) {
	t.Helper()
	for what := range want {
		require.NotEmpty(t, want[what], what)
	}
	require.Equal(t, want, everythingButSessions(t, s))
}

func TestABackupHoldsEverything(t *testing.T) {
	eachStore(t, func(t *testing.T, cfg persistence.Config, _ *persistence.Store, want map[string]any) {
		done := map[string]storecopy.Progress{}
		path := filepath.Join(t.TempDir(), "backup.db")
		wrote, err := storecopy.Backup(t.Context(), cfg.Config, path, quick, func(p storecopy.Progress) { done[p.Table] = p })
		require.NoError(t, err)
		for table, p := range done {
			require.True(t, p.Verified, table)
		}
		require.WithinDuration(t, time.Now(), wrote.TakenAt, time.Minute)
		require.Greater(t, wrote.Rows, int64(filledRuns+historyJobs))
		require.Equal(t, []string{"k1"}, wrote.Keys)
		require.Contains(t, wrote.Nodes, "node-lost")
		read, err := storecopy.Verify(t.Context(), path, quiet)
		require.NoError(t, err)
		require.Equal(t, wrote, read)
		holds(t, want, restored(t, path, nothing(t)))
		if dbtest.HasMySQL(t) {
			holds(t, want, restored(t, path, dbtest.MySQL(t)))
		}
		_, err = storecopy.Backup(t.Context(), cfg.Config, path, quick, quiet)
		require.ErrorIs(t, err, fs.ErrExist)
	})
}

// A write that begins after the backup is in no table of it, however late the table is read.
func TestABackupIsOfOneMoment(t *testing.T) {
	eachStore(t, func(t *testing.T, cfg persistence.Config, s *persistence.Store, want map[string]any) {
		path, written := filepath.Join(t.TempDir(), "backup.db"), false
		_, err := storecopy.Backup(t.Context(), cfg.Config, path, quick, func(storecopy.Progress) {
			if written {
				return
			}
			written = true
			job := (history{}).job(7)
			job.ID, job.Name = "00000000-0000-7000-8000-000000000007", "new"
			require.NoError(t, s.Write(context.Background(), repository.LaneAPI, "new",
				func(ctx context.Context, tx repository.Tx) error { return tx.Jobs.Insert(ctx, job) }))
		})
		require.NoError(t, err)
		require.True(t, written)
		holds(t, want, restored(t, path, nothing(t)))
	})
}

func TestABackupLeavesOutWhatItIsTold(t *testing.T) {
	eachStore(t, func(t *testing.T, cfg persistence.Config, s *persistence.Store, _ map[string]any) {
		count := func(path, table string) (n int) {
			db := file(t, path)
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
			return n
		}
		o := quick
		o.WithoutLogs = true
		path, info := backedUp(t, cfg, o)
		require.Equal(t, []string{"logs"}, info.Without)
		require.Zero(t, count(path, "scheduler_job_log"))
		require.Greater(t, count(path, "scheduler_job_execution"), filledRuns)

		o = quick
		o.WithoutHistory = true
		path, info = backedUp(t, cfg, o)
		require.Equal(t, []string{"history"}, info.Without)
		require.Equal(t, claimed(t, s), count(path, "scheduler_job_execution"), "what waits and what runs")
		require.Equal(t, 2, count(path, "scheduler_job_log"), "theirs")
		require.Equal(t, 1, count(path, "scheduler_execution_usage"), "theirs")
		require.Equal(t, 1, count(path, "scheduler_execution_hold"), "theirs")
		require.Zero(t, count(path, "scheduler_workflow_todo"), "of runs that are over")
		require.Equal(t, 1, count(path, "scheduler_job_next"))
		require.Zero(t, count(path, "scheduler_audit_log"))
		require.Zero(t, count(path, "scheduler_session"))
		require.Positive(t, count(path, "scheduler_job_version"))
		require.Equal(t, claimed(t, s), claimed(t, restored(t, path, nothing(t))))
	})
}

// claimed is how many runs wait or run.
func claimed(t *testing.T, s *persistence.Store) int {
	t.Helper()
	all := entity.AllClaims()
	n, err := s.CountRange(t.Context(), repository.ClaimRange{Lo: all.Lo, Hi: all.Hi, Limit: 1000})
	require.NoError(t, err)
	require.Positive(t, n)
	return n
}

// A backup that is stopped leaves no file, and does not hinder the next one: at its first rows, among the rows, at the
// last of them, at the first table that is compared, among these, and at the last.
func TestABackupThatIsStoppedLeavesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, cfg persistence.Config, _ *persistence.Store, _ map[string]any) {
		copied, steps := 0, 0
		path := filepath.Join(t.TempDir(), "backup.db")
		_, err := storecopy.Backup(t.Context(), cfg.Config, path, quick, func(p storecopy.Progress) {
			if steps++; !p.Verified {
				copied = steps
			}
		})
		require.NoError(t, err)
		require.NoError(t, os.Remove(path))
		for _, stop := range []int{1, copied / 2, copied, copied + 1, (copied + steps) / 2, steps} {
			ctx, cancel := context.WithCancel(t.Context())
			at := 0
			_, err := storecopy.Backup(ctx, cfg.Config, path, quick, func(storecopy.Progress) {
				if at++; at == stop {
					cancel()
				}
			})
			cancel()
			require.ErrorIs(t, err, context.Canceled, "after step %d of %d", stop, steps)
			files, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Empty(t, files, "after step %d of %d", stop, steps)
		}
	})
}

// file opens the file of a backup.
func file(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := connect.SQLite(t.Context(), path, 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// change writes a changed copy of a backup.
func change(t *testing.T, path string, how func(t *testing.T, copied string)) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "changed.db")
	require.NoError(t, os.WriteFile(copied, data, 0o600))
	how(t, copied)
	return copied
}

func statement(sql string) func(t *testing.T, copied string) {
	return func(t *testing.T, copied string) {
		t.Helper()
		db := file(t, copied)
		_, err := db.ExecContext(t.Context(), sql)
		require.NoError(t, err)
		_, err = db.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		require.NoError(t, err)
	}
}

func TestABackupThatIsNotAsItWasWrittenIsRefused(t *testing.T) {
	cfg := dbtest.SQLite(t)
	fillEverything(t, dbtest.Open(t, cfg))
	path, _ := backedUp(t, cfg, quick)
	shorter := func(by func(n int64) int64) func(t *testing.T, copied string) {
		return func(t *testing.T, copied string) {
			t.Helper()
			stat, err := os.Stat(copied)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(copied, by(stat.Size())))
		}
	}
	for name, c := range map[string]struct {
		how  func(t *testing.T, copied string)
		want string
	}{
		"empty":     {shorter(func(int64) int64 { return 0 }), "no backup"},
		"half":      {shorter(func(n int64) int64 { return n / 2 }), ""},
		"a page":    {shorter(func(n int64) int64 { return n - 4096 }), ""},
		"a row":     {statement("DELETE FROM scheduler_audit_log"), "scheduler_audit_log has 0 rows"},
		"a value":   {statement("UPDATE scheduler_user SET role = 'viewer'"), "scheduler_user has 1 rows"},
		"active":    {statement("UPDATE scheduler_store_state SET mode = 'ACTIVE'"), "scheduler_store_state has 1 rows"},
		"its info":  {statement(`UPDATE backup_info SET info = replace(info, 'ann', 'bob')`), "not as it was written"},
		"its sums":  {statement("DELETE FROM backup_table WHERE name = 'scheduler_user'"), "not as it was written"},
		"no backup": {statement("DROP TABLE backup_info"), "no backup"},
		"open to programs that know no standby": {
			statement("UPDATE scheduler_schema_compat SET min_version = 31"), "scheduler_schema_compat has 1 rows",
		},
		"a trigger": {
			statement("CREATE TRIGGER wake AFTER INSERT ON scheduler_node_registry BEGIN " +
				"UPDATE scheduler_store_state SET mode = 'ACTIVE'; END"), "defined in another way",
		},
		"an index": {statement("DROP INDEX idx_job_due"), "defined in another way"},
		"longer": {func(t *testing.T, copied string) {
			t.Helper()
			f, err := os.OpenFile(copied, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteString(strings.Repeat("more", 1024))
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}, "bytes, and its pages"},
		"a text": {func(t *testing.T, copied string) {
			t.Helper()
			require.NoError(t, os.WriteFile(copied, []byte(strings.Repeat("no database ", 1000)), 0o600))
		}, "not a usable SQLite database"},
	} {
		t.Run(name, func(t *testing.T) {
			copied := change(t, path, c.how)
			_, err := storecopy.Verify(t.Context(), copied, quiet)
			require.ErrorContains(t, err, c.want)
		})
	}
	t.Run("every page", func(t *testing.T) {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		const page = 4096
		for at := page / 2; at < len(data); at += page * max(len(data)/page/30, 1) {
			copied := change(t, path, func(t *testing.T, copied string) {
				t.Helper()
				f, err := os.OpenFile(copied, os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.WriteAt([]byte{^data[at], ^data[at+1]}, int64(at))
				require.NoError(t, err)
				require.NoError(t, f.Close())
			})
			info, err := storecopy.Verify(t.Context(), copied, quiet)
			if err == nil { // the bytes belong to nothing that is stored
				same, err := storecopy.Verify(t.Context(), path, quiet)
				require.NoError(t, err)
				require.Equal(t, same, info)
			}
		}
	})
}

func TestARestoreTakesAnEmptyStoreAlone(t *testing.T) {
	cfg := dbtest.SQLite(t)
	s := dbtest.Open(t, cfg)
	fillEverything(t, s)
	path, info := backedUp(t, cfg, quick)
	require.ErrorContains(t, storecopy.Restore(t.Context(), path, info, cfg.Config, quiet), "name an empty data folder")
	for _, left := range []string{"-wal", "-shm", "-journal"} { // of a server that was killed, whose store was removed
		to := nothing(t)
		require.NoError(t, os.WriteFile(to.Path+left, []byte("old"), 0o600))
		require.ErrorContains(t, storecopy.Restore(t.Context(), path, info, to.Config, quiet), "what was left of one")
	}
	require.NotEmpty(t, everything(t, s))
	if !dbtest.HasMySQL(t) {
		return
	}
	to := dbtest.MySQL(t)
	fillEverything(t, dbtest.Open(t, to))
	require.ErrorContains(t, storecopy.Restore(t.Context(), path, info, to.Config, quiet), "holds data")
}

// No server opens the store of an interrupted restore, and the next restore throws it away.
func TestAnInterruptedRestoreIsStartedOverAndNotServed(t *testing.T) {
	cfg, to := dbtest.SQLite(t), nothing(t)
	s := dbtest.Open(t, cfg)
	fillEverything(t, s)
	want := everything(t, s)
	delete(want, "session")
	path, _ := backedUp(t, cfg, quick)
	require.NoError(t, os.WriteFile(to.Path+".restoring", []byte("half"), 0o600))
	_, err := persistence.Open(t.Context(), to)
	require.ErrorContains(t, err, "interrupted")
	require.NoFileExists(t, to.Path)
	holds(t, want, restored(t, path, to))
}

func everythingButSessions(t *testing.T, s *persistence.Store) map[string]any {
	t.Helper()
	// A store without the session answers with an error, which everything does not take.
	require.NoError(t, s.AddSession(t.Context(), entity.Session{
		TokenHash: "hash", UserID: "u-1", ExpiresAt: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		CreateTime: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}, 100))
	all := everything(t, s)
	delete(all, "session")
	return all
}
