//go:build linux

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// atTerminal puts a terminal on the standard input of what runs in this process,
// at which an answer has been typed.
func atTerminal(t *testing.T, answer string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	_, err = master.WriteString(answer)
	require.NoError(t, err)
	before := os.Stdin
	os.Stdin = terminal
	t.Cleanup(func() {
		os.Stdin = before
		_ = terminal.Close()
		_ = master.Close()
	})
}

// On a terminal, what cannot be taken back is asked for first.
func TestPeopleAreAskedBeforeWhatCannotBeTakenBack(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	file := s.file("jobs/a.yaml", twoJobs)
	s.must("job", "apply", "-f", file)
	s.must("secret", "set", "billing", "--value-file", s.file("value", "hunter2-hunter2"))
	s.must("user", "create", "ann", "--password-file", s.file("pw", "correct horse"), "--own-password-file",
		filepath.Join(b.dir, "initial-admin-password"))
	s.must("group", "create", "empty")
	for _, args := range [][]string{
		{"job", "delete", "first"},
		{"job", "pause", "--all"},
		{"secret", "delete", "billing"},
		{"user", "delete", "ann", "--own-password-file", filepath.Join(b.dir, "initial-admin-password")},
		{"group", "delete", "empty"},
		{
			"job", "apply", "--prune", "-f",
			s.file("few.yaml", "name: third\ngroup: reports\njobType: CUSTOM\njobClass: noop\n"),
		},
	} {
		for _, answer := range []string{"n\n", "\n"} {
			atTerminal(t, answer)
			code, out, errOut := s.run(args...)
			require.Equal(t, 1, code, "%v: %s", args, out)
			require.Contains(t, errOut, " [y/N] error: nothing was changed", args)
		}
	}
	require.Contains(t, s.must("job", "list", "--status", "ENABLED"), "first")
	require.Contains(t, s.must("job", "list"), "second")
	require.NotContains(t, s.must("job", "list"), "third")

	atTerminal(t, "y\n")
	require.Contains(t, s.must("job", "delete", "first"), "deleted default/first")
	atTerminal(t, "yes\n")
	require.Contains(t, s.must("job", "apply", "--prune", "-f", filepath.Join(s.home, "few.yaml")),
		"- delete reports/second")
	atTerminal(t, "") // nobody answers, and nobody is asked
	s.must("secret", "delete", "billing", "--yes")
	s.must("user", "delete", "ann", "-y", "--own-password-file", filepath.Join(b.dir, "initial-admin-password"))
}
