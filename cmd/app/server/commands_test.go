package server_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/cmd/app/server"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// A start that fails leaves no folder, and takes none away from the server that
// has the data folder in use.
func TestAServerThatDoesNotStartLeavesTheFoldersOfAnotherAlone(t *testing.T) {
	cfg := config.Defaults(config.ProfileStandalone)
	cfg.Node.ID, cfg.DataDir, cfg.Executor.Command.Enabled = "n", t.TempDir(), true
	if os.Geteuid() == 0 {
		cfg.Executor.Command.User = "root"
	}
	options := executors.Options{Clock: clock.NewSystem(), Logger: slog.New(slog.DiscardHandler), Commands: true}
	folder, err := datafolder.Open(cfg.DataDir)
	require.NoError(t, err)
	defer folder.Close()
	first, err := executors.New(cfg, options)
	require.NoError(t, err)
	first.Prepare()
	work := filepath.Join(cfg.DataDir, "work")
	area, err := os.ReadDir(work)
	require.NoError(t, err)
	run := filepath.Join(work, area[0].Name(), "run")
	require.NoError(t, os.Mkdir(run, 0o700))
	second, err := executors.New(cfg, options)
	require.NoError(t, err)
	cfg.Server.Addr = "127.0.0.1:0"
	_, err = server.New(t.Context(), cfg, app.Options{Executor: second, Processes: second, Logger: options.Logger})
	require.ErrorContains(t, err, "in use")
	require.DirExists(t, run)
	entries, err := os.ReadDir(work)
	require.NoError(t, err)
	require.Len(t, entries, 1, "the second one's is gone")
	require.NoError(t, os.Remove(run))
	require.NoError(t, first.Close())
}
