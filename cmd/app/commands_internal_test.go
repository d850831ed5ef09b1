package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/executors"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/metrics"
)

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
	e, err := executors.New(cfg,
		executors.Options{Clock: clock.NewSystem(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Commands: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.Contains(t, e.Off(), "commands are off on this node")
	require.Contains(t, log.String(), "level=ERROR")
	_, on := e.Isolation()
	require.False(t, on)
	require.Zero(t, e.CommandSlots())
	require.Empty(t, e.Check(&entity.Job{Type: entity.JobCommand, Data: `{"command":["true"]}`}),
		"another node may run it")
	p := &parts{base: base{options: Options{Processes: e}}}
	reason, blocks := p.commandTrouble()
	require.Equal(t, e.Off(), reason)
	require.False(t, blocks, "the node does its other work")
}

// bare are processes that nothing bounds in number.
type bare struct{ *executors.Executors }

func (bare) Isolation() (metrics.Isolation, bool) {
	return metrics.Isolation{User: "root", Ending: "process tree", Memory: "rlimit", Processes: metrics.Unbounded}, true
}

// Where nothing bounds the processes of commands, the log of the start and the health of the node say so, with the
// remedy.
func TestWhereNothingBoundsProcessesTheNodeSaysSo(t *testing.T) {
	var log bytes.Buffer
	reason, _ := self{}.exposureTrouble()
	require.Empty(t, reason)
	b := base{logger: slog.New(slog.NewTextHandler(&log, nil)), Metrics: metrics.New(clock.NewSystem(), 0)}
	require.False(t, b.showIsolation(), "a node without processes")
	b.options.Processes = bare{}
	unbound := b.showIsolation()
	require.Contains(t, log.String(), "level=WARN")
	reason, blocks := self{unbounded: unbound}.exposureTrouble()
	require.Contains(t, reason, "executor.command.user")
	require.False(t, blocks)
}
