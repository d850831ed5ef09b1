//go:build linux

package initproc_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/initproc"
)

// asInit makes this test binary play both parts: the first process, and the
// server below it, which the mark of its parent tells apart.
const asInit = "INITPROC_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asInit) == "" {
		os.Exit(m.Run())
	}
	if !initproc.Needed(1, os.Environ()) {
		os.Exit(serve(os.Args[1:]))
	}
	// Where a test may not make a namespace, being the reaper of what is below
	// is the same to this package.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	code, err := initproc.Run(os.Args[1:], os.Environ())
	if err != nil {
		panic(err)
	}
	os.Exit(code)
}

// serve plays the server.
func serve(args []string) int {
	switch args[0] {
	case "exit":
		code, _ := strconv.Atoi(args[1])
		return code
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "orphan":
		// The orphan's parent ends before it does.
		out, err := exec.Command("sh", "-c", "sleep 0.05 >/dev/null & echo $!").Output()
		fmt.Print(string(out))
		if err != nil {
			return 1
		}
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	fmt.Println("up")
	for s := range signals {
		fmt.Println(s)
		if s == syscall.SIGTERM {
			return 7
		}
	}
	return 0
}

type started struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, namespace bool, args ...string) *started {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asInit+"=1", "GORACE=atexit_sleep_ms=0") // it waits for no report of a data race
	if namespace {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &started{cmd, bufio.NewScanner(out)}
}

func (s *started) line(t *testing.T) string {
	t.Helper()
	require.True(t, s.lines.Scan())
	return s.lines.Text()
}

func (s *started) code() int {
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func TestTheExitCodeIsTheServers(t *testing.T) {
	require.Equal(t, 0, start(t, false, "exit", "0").code())
	require.Equal(t, 3, start(t, false, "exit", "3").code())
	require.Equal(t, 128+9, start(t, false, "die").code())
}

func TestSignalsReachTheServer(t *testing.T) {
	s := start(t, false, "wait")
	require.Equal(t, "up", s.line(t))
	for _, signal := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGINT, syscall.SIGINT, syscall.SIGTERM} {
		require.NoError(t, s.cmd.Process.Signal(signal))
		require.Equal(t, signal.String(), s.line(t))
	}
	require.Equal(t, 7, s.code())
}

func TestOrphansAreReaped(t *testing.T) {
	for name, namespace := range map[string]bool{"reaper": false, "first process": os.Geteuid() == 0} {
		t.Run(name, func(t *testing.T) {
			s := start(t, namespace, "orphan")
			orphan := s.line(t)
			require.Equal(t, "up", s.line(t))
			if !namespace { // else its number means nothing here
				require.Eventually(t, func() bool {
					_, err := os.Stat("/proc/" + orphan)
					return os.IsNotExist(err)
				}, 10*time.Second, 5*time.Millisecond, "the orphan is no zombie")
			}
			require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
			require.Equal(t, 7, s.code())
		})
	}
}

func TestOnlyTheFirstProcessNeedsIt(t *testing.T) {
	require.True(t, initproc.Needed(1, []string{"PATH=/bin"}))
	require.False(t, initproc.Needed(2, nil))
	require.False(t, initproc.Needed(1, []string{"PS_INIT_CHILD=1"}))
	require.Equal(t, []string{"A=1"}, initproc.Environ([]string{"PS_INIT_CHILD=1", "A=1"}))
}

func TestTheServiceManagerIsTold(t *testing.T) {
	require.NoError(t, initproc.Notify(t.Context(), "", initproc.Ready))
	for _, name := range []string{filepath.Join(t.TempDir(), "n"), "@ps-test-" + strconv.Itoa(os.Getpid())} {
		listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{
			Name: strings.Replace(name, "@", "\x00", 1),
			Net:  "unixgram",
		})
		require.NoError(t, err)
		require.NoError(t, initproc.Notify(t.Context(), name, initproc.Ready))
		buf := make([]byte, 64)
		require.NoError(t, listener.SetReadDeadline(time.Now().Add(5*time.Second)))
		n, err := listener.Read(buf)
		require.NoError(t, err)
		require.Equal(t, "READY=1", string(buf[:n]))
		require.NoError(t, listener.Close())
	}
	require.Error(t, initproc.Notify(t.Context(), "/nonexistent/socket", initproc.Ready))
}
