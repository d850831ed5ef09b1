//go:build linux

package supervise_test

import (
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
)

// large is a helper that once has much memory in use.
const large = "large"

func swell(helper string) {
	if helper != large {
		return
	}
	const flags = syscall.MAP_ANON | syscall.MAP_PRIVATE | syscall.MAP_POPULATE
	memory, err := syscall.Mmap(-1, 0, 200<<20, syscall.PROT_WRITE, flags)
	if err == nil {
		err = syscall.Munmap(memory)
	}
	if err != nil {
		panic(err)
	}
}

// A small command is not said to take what its helper took when it began.
func TestACommandDoesNotTakeWhatItsHelperTook(t *testing.T) {
	l, err := supervise.New(clock.NewSystem(), slog.New(slog.DiscardHandler), supervise.Config{
		Argv: []string{os.Args[0]}, Env: asHelperOf(large), NodeID: "node-usage", Epoch: 1, Lease: lease,
		Alone: true,
	})
	require.NoError(t, err)
	n := &node{Launcher: l, t: t, id: "node-usage"}
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	small, err := n.sh("exit 0").ends(t)
	require.NoError(t, err)
	require.Positive(t, small.Memory)
	require.Less(t, small.Memory, int64(100<<20))
	large, err := n.sh("head -c 160000000 /dev/zero | tail -c 150000000 >/dev/null").ends(t)
	require.NoError(t, err)
	require.Greater(t, large.Memory, int64(150_000_000))
	require.Positive(t, large.CPU)
	require.Less(t, large.CPU, time.Minute)
}
