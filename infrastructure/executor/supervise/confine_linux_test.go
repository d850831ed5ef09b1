package supervise_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// output is all that a command says.
func (j *job) output(t *testing.T) string {
	t.Helper()
	_, err := j.ends(t)
	require.NoError(t, err)
	out, err := io.ReadAll(j.out)
	require.NoError(t, err)
	return string(out)
}

// as is a node whose commands run as nobody where the test may have that.
func newNodeAsNobody(t *testing.T) *node {
	t.Helper()
	n := newNode(t, 1)
	if os.Geteuid() == 0 {
		account, err := command.FindAccount("nobody", "server")
		require.NoError(t, err)
		n.account = account
	}
	return n
}

// Whoever starts the server may have left files open for it. A command that has
// them reads what its user may not.
func TestACommandInheritsNothingOfTheServer(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("root's secret"), 0o600))
	file, err := os.Open(secret)
	require.NoError(t, err)
	defer file.Close()
	const inherited = 77
	require.NoError(t, unix.Dup3(int(file.Fd()), inherited, 0))
	defer unix.Close(inherited)
	n := newNodeAsNobody(t)
	out := n.sh(fmt.Sprintf("cat /proc/self/fd/%d 2>&1; ls /proc/self/fd | tr '\\n' ' '", inherited)).output(t)
	require.NotContains(t, out, "root's secret")
	require.Equal(t, "0 1 2 3", strings.TrimSpace(out[strings.LastIndex(out, "0 1"):]), "3 is the folder that ls reads")
	require.NotContains(t, strings.Fields(out), "77")
}

// No setuid program and no file capability widens what a command may.
func TestACommandGainsNoRights(t *testing.T) {
	n := newNodeAsNobody(t)
	status := map[string]string{}
	for line := range strings.Lines(n.sh("cat /proc/self/status").output(t)) {
		name, value, _ := strings.Cut(line, ":")
		status[name] = strings.TrimSpace(value)
	}
	require.Equal(t, "1", status["NoNewPrivs"])
	none := strings.Repeat("0", 16)
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		require.Equal(t, none, status[set], set)
	}
	if !prooftest.Root(t) {
		return
	}
	require.Equal(t, none, status["CapBnd"])
	require.Empty(t, status["Groups"])
	setuid := filepath.Join(executortest.Folder(t), "id")
	data, err := os.ReadFile("/usr/bin/id")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(setuid, data, 0o755))
	require.NoError(t, os.Chmod(setuid, 0o755|os.ModeSetuid))
	require.Equal(t, "65534\n", n.sh(setuid+" -u").output(t))
}

// Commands that an administrator lets run as root are root.
func TestCommandsOfRootKeepTheirRights(t *testing.T) {
	if !prooftest.Root(t) {
		return
	}
	out := newNode(t, 1).sh("grep NoNewPrivs /proc/self/status; grep CapEff /proc/self/status").output(t)
	require.Contains(t, out, "NoNewPrivs:\t0")
	require.NotContains(t, out, "CapEff:\t"+strings.Repeat("0", 16))
}

// What a command may not see, its start does not see for it: as root one could
// tell which folders of root's exist.
func TestTheFolderAndTheProgramAreLookedAtAsTheUserOfTheCommand(t *testing.T) {
	n := newNodeAsNobody(t)
	hidden := t.TempDir()
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(hidden, 0o700))
	} else {
		require.NoError(t, os.Chmod(hidden, 0))
		defer func() { _ = os.Chmod(hidden, 0o700) }()
	}
	for name, c := range map[string]struct {
		dir, program string
		limits       command.Limits
		kind         error
	}{
		"no folder":                {"/no/such/folder", "/bin/true", command.Limits{}, command.ErrFolder},
		"a folder that is hidden":  {hidden, "/bin/true", command.Limits{}, command.ErrFolder},
		"one that is not there":    {hidden + "/none", "/bin/true", command.Limits{}, command.ErrFolder},
		"a file":                   {"/etc/passwd", "/bin/true", command.Limits{}, command.ErrFolder},
		"no folder, with limits":   {"/no/such/folder", "/bin/true", command.Limits{OpenFiles: 32}, command.ErrFolder},
		"no program":               {"/", "/no/such/program", command.Limits{}, command.ErrProgram},
		"a program that is hidden": {"/", hidden + "/program", command.Limits{}, command.ErrProgram},
		"not executable":           {"/", "/etc/passwd", command.Limits{}, command.ErrProgram},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			require.NoError(t, err)
			errs, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = n.Start(t.Context(), command.Order{
				ID: "run", Path: c.program, Argv: []string{c.program}, Dir: c.dir, Account: n.account, Limits: c.limits,
				Stdout: out, Stderr: errs,
			})
			require.ErrorIs(t, err, c.kind)
		})
	}
	exit, err := n.sh("exit 5").ends(t)
	require.NoError(t, err)
	require.Equal(t, 5, exit.Code)
	require.Eventually(t, func() bool {
		return len(n.living()) == 1
	}, 30*time.Second, 20*time.Millisecond, "nothing of the attempts is left")
}

// A program that is not there says so, also where a shell sets the limits first.
func TestAMissingProgramWithLimitsSaysSo(t *testing.T) {
	n := newNode(t, 1)
	for _, program := range []string{"/no/such/program", "/etc/passwd", "/usr"} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		require.NoError(t, err)
		p, err := n.Start(t.Context(), command.Order{
			ID: "run", Path: program, Argv: []string{program}, Dir: "/", Limits: command.Limits{OpenFiles: 32}, Stdout: out,
			Stderr: w,
		})
		require.NoError(t, err)
		exit, err := p.Wait()
		require.NoError(t, err)
		said, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, 127, exit.Code)
		require.Equal(t, "the program "+program+" is not installed on this node, or is not executable\n", string(said))
	}
}

// Others of the same user read neither the environment nor the memory of a
// helper, which holds the variables of all runs.
func TestAHelperIsConcealed(t *testing.T) {
	n := newNode(t, 1)
	n.sh("echo up").output(t)
	info, err := os.Stat(fmt.Sprintf("/proc/%d/environ", n.helper()))
	require.NoError(t, err)
	require.Zero(t, info.Sys().(*syscall.Stat_t).Uid)
	if os.Geteuid() != 0 {
		_, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", n.helper()))
		require.ErrorIs(t, err, os.ErrPermission)
	}
}
