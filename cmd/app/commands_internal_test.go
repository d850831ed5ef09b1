package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Two installations on one machine may call their nodes alike; neither may end
// the commands of the other as leftovers of its own.
func TestNodesOfOneIDAreToldApartOnTheirMachine(t *testing.T) {
	name := func(id, data string) string {
		got, err := nameOnMachine(config.Config{Node: config.Node{ID: id}, DataDir: data})
		require.NoError(t, err)
		return got
	}
	require.Equal(t, name("a", "/one"), name("a", "/one/"), "a later life is the same node")
	require.NotEqual(t, name("a", "/one"), name("a", "/two"))
	require.NotEqual(t, name("a", "/one"), name("b", "/one"))
	require.NotContains(t, name("a-b", "/one"), name("a", "/one")+"-", "no name begins as the folders of another")
}

// A node that has no safe place for the folders of runs does everything else,
// and says what it lacks.
func TestWithoutAPlaceForFoldersANodeRunsNoCommandsAndSaysSo(t *testing.T) {
	cfg := config.Defaults(config.ProfileStandalone)
	cfg.Node.ID, cfg.DataDir, cfg.Executor.Command.Enabled = "n", t.TempDir(), true
	if os.Geteuid() == 0 {
		cfg.Executor.Command.User = "nobody"
		shared := t.TempDir()
		require.NoError(t, os.Chmod(shared, 0o777))
		t.Setenv("TMPDIR", shared)
	} else {
		require.NoError(t, os.WriteFile(filepath.Join(cfg.DataDir, "work"), nil, 0o600))
	}
	var log bytes.Buffer
	e, err := NewExecutor(cfg, ExecutorOptions{Clock: clock.NewSystem(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Commands: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.Contains(t, e.Off(), "commands are off on this node")
	require.Contains(t, log.String(), "level=ERROR")
	_, on := e.Isolation()
	require.False(t, on)
	require.Zero(t, e.CommandSlots())
	require.Empty(t, e.Check(&entity.Job{Type: entity.JobCommand, Data: `{"command":["true"]}`}), "another node may run it")
	engine := &Engine{processes: e}
	reason, blocks := engine.commandTrouble()
	require.Equal(t, e.Off(), reason)
	require.False(t, blocks, "the node does its other work")
}

// A start that fails leaves no folder, and takes none away from the server that
// has the data folder in use.
func TestAServerThatDoesNotStartLeavesTheFoldersOfAnotherAlone(t *testing.T) {
	cfg := config.Defaults(config.ProfileStandalone)
	cfg.Node.ID, cfg.DataDir, cfg.Executor.Command.Enabled = "n", t.TempDir(), true
	if os.Geteuid() == 0 {
		cfg.Executor.Command.User = "root"
	}
	options := ExecutorOptions{Clock: clock.NewSystem(), Logger: slog.New(slog.DiscardHandler), Commands: true}
	folder, err := openDataFolder(cfg.DataDir)
	require.NoError(t, err)
	defer folder.Close()
	first, err := NewExecutor(cfg, options)
	require.NoError(t, err)
	first.Prepare()
	run, err := first.commands.folders.Make("run", "")
	require.NoError(t, err)
	second, err := NewExecutor(cfg, options)
	require.NoError(t, err)
	cfg.Server.Addr = "127.0.0.1:0"
	_, err = NewServer(t.Context(), cfg, Options{Executor: second, Processes: second, Logger: options.Logger})
	require.ErrorContains(t, err, "in use")
	require.DirExists(t, run.Home())
	entries, err := os.ReadDir(filepath.Join(cfg.DataDir, "work"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "the second one's is gone")
	require.NoError(t, run.Remove())
	require.NoError(t, first.Close())
}
