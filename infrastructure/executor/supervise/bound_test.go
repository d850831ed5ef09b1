//go:build linux

package supervise_test

import (
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise"
)

// nobody is an account beside root. Only root may change to it, others stay who they are.
func nobody(t *testing.T) command.Account {
	t.Helper()
	if os.Geteuid() != 0 {
		return command.Account{}
	}
	found, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	require.NoError(t, err)
	return command.Account{Change: true, UID: uint32(uid), GID: uint32(uid), Name: "nobody"}
}

// boundNode has a bound of processes that a bomb reaches soon.
func boundNode(t *testing.T, account command.Account) *node {
	t.Helper()
	id := "bound-" + strconv.Itoa(os.Getpid())
	l, err := supervise.New(clock.NewSystem(), slog.New(slog.DiscardHandler), supervise.Config{
		Argv: []string{os.Args[0]}, Env: asHelperOf("1"), NodeID: id, Epoch: 1, Lease: lease, Alone: true,
		UserProcesses: 1,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return &node{Launcher: l, t: t, id: id, account: account}
}

// holdsBound asks a node without control groups for what its commands may do.
func holdsBound(t *testing.T, account command.Account) {
	n := boundNode(t, account)
	j := n.start("grep", "Max processes", "/proc/self/limits")
	limits := strings.Fields(j.says(t))[2:4]
	require.Equal(t, limits[0], limits[1], "a command cannot raise it")
	most, err := strconv.Atoi(limits[0])
	require.NoError(t, err)
	require.GreaterOrEqual(t, most, 1024)
	require.Less(t, most, 20_000)
	_, err = j.ends(t)
	require.NoError(t, err)

	// Each process leaves one, in sessions of their own, deaf to TERM.
	bomb := n.sh(`trap "" TERM; b() { setsid sh -c 'trap "" TERM; exec sleep 4712' & b; }; b; echo full; sleep 4712`)
	victim := n.sh("sleep 0.2; echo done")
	until := time.Now().Add(20 * time.Second)
	count := 0
	for time.Now().Before(until) && count < most*9/10 {
		count = processesOf(t, account)
		require.LessOrEqual(t, count, most+50)
		require.NoError(t, exec.CommandContext(t.Context(), "true").Run(), "the server starts what it needs")
		time.Sleep(50 * time.Millisecond)
	}
	require.GreaterOrEqual(t, count, most*3/4, "the bomb has met its bound")
	require.NoError(t, bomb.Stop(syscall.SIGKILL))
	_, err = bomb.ends(t)
	require.NoError(t, err)
	_, err = victim.ends(t)
	require.NoError(t, err)
	out, err := io.ReadAll(n.sh("echo again").out)
	require.NoError(t, err)
	require.Equal(t, "again\n", string(out), "the same helper goes on")
	_, err = n.try(command.Limits{}, "/no/such/program")
	require.ErrorIs(t, err, command.ErrProgram, "a missing program is told as it is without a bound")
}

// processesOf counts the processes of the user of an account.
func processesOf(t *testing.T, a command.Account) (n int) {
	t.Helper()
	uid := uint32(os.Geteuid())
	if a.Change {
		uid = a.UID
	}
	entries, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, e := range entries {
		if info, err := os.Stat(e); err == nil && info.Sys().(*syscall.Stat_t).Uid == uid {
			n++
		}
	}
	return n
}

// Without the controller pids, a command of another user than the server's has a bound, and a fork bomb stops itself.
func TestAForkBombOfAnotherUserStopsItselfAlone(t *testing.T) { holdsBound(t, nobody(t)) }

// The same holds where commands run as the server's own user.
func TestAForkBombOfTheServersUserStopsItselfAlone(t *testing.T) {
	if os.Geteuid() != 0 {
		holdsBound(t, command.Account{})
		return
	}
	account := nobody(t)
	folder, err := os.MkdirTemp("/tmp", "bound")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(folder)) }()
	require.NoError(t, os.Chmod(folder, 0o755))
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	path := filepath.Join(folder, "test")
	require.NoError(t, os.WriteFile(path, program, 0o755))
	again := exec.CommandContext(t.Context(), path, "-test.run", "^"+t.Name()+"$", "-test.v")
	again.Dir = "/"
	again.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account.UID, Gid: account.GID}}
	out, err := again.CombinedOutput()
	require.NoError(t, err, string(out))
}

// Root has no bound, and a limit of the job's own goes before the default.
func TestWhoseProcessesHaveNoDefaultBound(t *testing.T) {
	n := boundNode(t, nobody(t))
	own, err := n.try(command.Limits{Processes: 60}, "grep", "Max processes", "/proc/self/limits")
	require.NoError(t, err)
	require.Equal(t, []string{"60", "60"}, strings.Fields(own.says(t))[2:4])
	_, err = own.ends(t)
	require.NoError(t, err)
	_, _, processes := n.Holds(n.account)
	require.Equal(t, "rlimit", processes)
	_, _, processes = n.Holds(command.Account{Change: true})
	require.Equal(t, "none", processes)
}
