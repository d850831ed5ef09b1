//go:build linux

package supervise_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
)

// newGroupNode is a node that uses control groups where this machine lets it;
// what the tests see must be the same elsewhere.
func newGroupNode(t *testing.T, epoch int64) *node {
	t.Helper()
	// Groups belong to the machine: the same test of another process has others.
	id := fmt.Sprintf("group-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	l, err := supervise.New(clock.NewSystem(), slog.New(slog.DiscardHandler), supervise.Config{
		Argv: []string{os.Args[0]}, Env: asHelperOf("1"), NodeID: id, Epoch: epoch, Lease: lease, Alone: true,
		Groups: true,
	})
	require.NoError(t, err)
	n := &node{Launcher: l, t: t, id: id}
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		require.Empty(t, groupsOf(id, epoch), "no group is left")
	})
	ending, memory, processes := l.Holds(command.Account{})
	t.Logf("ended by %s, memory by %s, processes by %s", ending, memory, processes)
	return n
}

// groupsOf lists the groups of a life of a node on this machine.
func groupsOf(id string, epoch int64) []string {
	var out []string
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		_ = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && filepath.Base(path) == fmt.Sprintf("platform-scheduler-%s-%d", id, epoch) {
				out = append(out, path)
			}
			return nil
		})
	}
	return out
}

func TestWhatHidesInAGroupIsEndedWithItsRun(t *testing.T) {
	n := newGroupNode(t, 1)
	// Session, parent and environment are given up at once.
	j := n.sh("env -i setsid sh -c '(setsid sleep 4711 &) ; echo hidden' ; exit 7")
	require.Equal(t, "hidden", j.says(t))
	exit, err := j.ends(t)
	require.NoError(t, err)
	require.Equal(t, 7, exit.Code)
	require.Zero(t, sleeping(4711))
}

// bomb is a script that forks up to its limit. A shell ends when it cannot fork, and a bomb of
// such shells may die out within milliseconds; so one that ends becomes a sleep, which takes no fork.
const bomb = `trap 'exec sleep %d' EXIT; while :; do sh -c "$0" "$0" & done`

func TestAForkBombIsEnded(t *testing.T) {
	n := newGroupNode(t, 1)
	own := 1<<20 + os.Getpid()
	script := fmt.Sprintf(bomb, own) // it can be told from that of another process, too
	if os.Geteuid() == 0 {           // no limit of processes binds root
		// The limit counts all processes of a user, also those of other tests: this one is nobody else.
		id := uint32(own) //nolint:gosec // at most 2^23
		n.account = command.Account{Name: "bomb", Change: true, UID: id, GID: id}
	}
	const begin = `echo began; exec 2>/dev/null; exec sh -c "$0" "$0"`
	j, err := n.try(command.Limits{Processes: 300}, "sh", "-c", begin, script)
	require.NoError(t, err)
	require.Equal(t, "began", j.says(t))
	alive := func() int { return running(script) + sleeping(own) }
	require.Eventually(t, func() bool { return alive() > 50 }, 20*time.Second, 10*time.Millisecond, "it forks")
	require.NoError(t, j.Stop(syscall.SIGKILL))
	_, err = j.ends(t)
	require.NoError(t, err, "the helper lives")
	require.Zero(t, alive())
	again := n.sh("echo well")
	require.Equal(t, "well", again.says(t))
	_, err = again.ends(t)
	require.NoError(t, err)
}

func TestGroupsOfALostHelperAndOfAFormerLifeAreCleared(t *testing.T) {
	n := newGroupNode(t, 1)
	j := n.sh("(env -i setsid sleep 4713 &); echo $PPID; sleep 4713")
	helper := j.says(t)
	var pid int
	_, err := fmt.Sscan(helper, &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	_, err = j.ends(t)
	require.ErrorIs(t, err, command.ErrHelperLost)
	require.Zero(t, sleeping(4713))
	j = n.sh("echo again")
	require.Equal(t, "again", j.says(t))
	_, err = j.ends(t)
	require.NoError(t, err)
}

// sleeping counts the processes that sleep so long.
func sleeping(seconds int) int { return running(fmt.Sprintf("sleep\x00%d\x00", seconds)) }

// running counts the processes whose command line holds that.
func running(command string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), command) {
			n++
		}
	}
	return n
}
