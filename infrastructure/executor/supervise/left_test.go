//go:build linux

package supervise_test

import (
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
)

// A process that may act until a moment only has its commands ended then by their helper, though it goes on to beat.
// Nothing of that holds once it may act again.
func TestCommandsEndWhenTheirProcessMayNotActAnyMore(t *testing.T) {
	var until atomic.Int64
	c := clock.NewSystem()
	until.Store(int64(c.Monotonic() + time.Hour))
	id := "node-" + t.Name()
	l, err := supervise.New(c, slog.New(slog.DiscardHandler), supervise.Config{
		Argv: []string{os.Args[0]}, Env: asHelperOf("1"), NodeID: id, Epoch: 1, Lease: lease, Alone: true,
		Left: func() time.Duration { return time.Duration(until.Load()) - c.Monotonic() },
	})
	require.NoError(t, err)
	n := &node{Launcher: l, t: t, id: id}
	t.Cleanup(func() { require.NoError(t, l.Close()) })

	j := n.sh("echo begun; exec sleep 1000")
	require.Equal(t, "begun", j.says(t))
	until.Store(0)
	_, err = j.ends(t)
	require.ErrorIs(t, err, command.ErrHelperLost)
	until.Store(int64(c.Monotonic() + time.Hour))
	exit, err := n.sh("exit 4").ends(t)
	require.NoError(t, err)
	require.Equal(t, 4, exit.Code)
}
