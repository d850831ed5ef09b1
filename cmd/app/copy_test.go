package app_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/offline"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/storecopy"
)

func noProgress(storecopy.Progress) {}

// The ledger goes on where the standalone stopped: every nominal time is there
// once, over both stores.
func TestAServerGoesOnWhereTheCopiedStandaloneStopped(t *testing.T) {
	dbtest.NeedMySQL(t)
	const interval = 200 * time.Millisecond
	cfg, target := newConfig(t), dbtest.MySQL(t)
	n := startNode(t, cfg, &script{})
	j := n.create(newJob("grid", func(j *entity.Job) {
		every(interval)(j)
		j.Misfire.Policy = entity.MisfireFireAll
	}))
	n.await("three runs", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") >= 3 })
	_, err := offline.CopyStore(t.Context(), cfg, target.DSN, noProgress)
	require.ErrorContains(t, err, "in use by another server")
	n.stop()

	r, err := offline.CopyStore(t.Context(), cfg, target.DSN, noProgress)
	require.NoError(t, err)
	require.Empty(t, r.Nodes, "it stopped in order")
	moved := cfg
	moved.DataDir, moved.Store.Driver, moved.Store.DSN = t.TempDir(), config.DriverMySQL, target.DSN
	before := len(rowsOf(t, moved, j.ID))
	require.GreaterOrEqual(t, before, 3)
	n = startNode(t, moved, &script{})
	defer n.stop()
	n.await("five more runs", func() bool { return count(n.rows(j.ID), entity.StatusSuccess, "") >= before+5 })
	rows := n.rows(j.ID)
	for i, row := range rows[1:] {
		require.Equal(t, interval, row.ScheduledTime.Sub(rows[i].ScheduledTime), "run %d of %d, %d of them copied", i+1,
			len(rows), before)
	}
	for _, run := range n.script.runs() {
		for _, row := range rows[:before] {
			require.NotEqual(t, row.ID, run.Execution.ID, "what has run does not run again")
		}
	}
}

func rowsOf(t *testing.T, cfg config.Config, jobID string) []*entity.Execution {
	t.Helper()
	s, err := persistence.Open(t.Context(),
		persistence.Config{Config: sqldb.Config{Driver: cfg.Store.Driver, DSN: cfg.Store.DSN}})
	require.NoError(t, err)
	rows, _, err := s.Executions.List(t.Context(), repository.ExecutionFilter{JobID: jobID}, repository.Page{Limit: 200})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	return rows
}

func TestNothingIsCopiedFromNowhere(t *testing.T) {
	cfg := newConfig(t)
	cfg.DataDir = t.TempDir()
	_, err := offline.CopyStore(t.Context(), cfg, "u:p@tcp(127.0.0.1:1)/d", noProgress)
	require.ErrorContains(t, err, "no store to copy")
	cfg.DataDir = filepath.Join(cfg.DataDir, "none")
	_, err = offline.CopyStore(t.Context(), cfg, "u:p@tcp(127.0.0.1:1)/d", noProgress)
	require.ErrorContains(t, err, "no store to copy")
	require.NoDirExists(t, cfg.DataDir)
	cfg.Store.Driver = config.DriverMySQL
	_, err = offline.CopyStore(t.Context(), cfg, "u:p@tcp(127.0.0.1:1)/d", noProgress)
	require.ErrorContains(t, err, "only the SQLite store")
}
