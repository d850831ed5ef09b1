//go:build linux

package supervise_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
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

// asHelper makes this test binary a helper.
const asHelper = "SUPERVISE_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(asHelper) != "" {
		swell(os.Getenv(asHelper))
		if err := supervise.Main(os.Args[1:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// asHelperOf is the environment of a helper of a size. At its end it waits for no report of a data race.
func asHelperOf(size string) []string {
	return []string{asHelper + "=" + size, "GORACE=atexit_sleep_ms=0"}
}

// lease is longer than a busy machine, or a fork bomb, holds a helper up.
const lease = 10 * time.Second

// node is a launcher whose processes can be told from those of other tests.
type node struct {
	*supervise.Launcher
	t       *testing.T
	id      string
	account command.Account
}

func newNode(t *testing.T, epoch int64) *node {
	t.Helper()
	id := "node-" + strings.ReplaceAll(t.Name(), "/", "-")
	l, err := supervise.New(clock.NewSystem(), slog.New(slog.DiscardHandler), supervise.Config{
		Argv: []string{os.Args[0]}, Env: asHelperOf("1"), NodeID: id, Epoch: epoch, Lease: lease, Alone: true,
	})
	require.NoError(t, err)
	n := &node{Launcher: l, t: t, id: id}
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return n
}

// job is a started command with its output.
type job struct {
	command.Process
	out *os.File
}

func (n *node) start(program string, args ...string) *job {
	n.t.Helper()
	j, err := n.try(command.Limits{}, program, args...)
	require.NoError(n.t, err)
	return j
}

func (n *node) try(limits command.Limits, program string, args ...string) (*job, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		path = program
	}
	r, w, err := os.Pipe()
	require.NoError(n.t, err)
	errs, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(n.t, err)
	p, err := n.Start(n.t.Context(), command.Order{
		ID: fmt.Sprintf("run-%p", r), Path: path, Argv: append([]string{program}, args...),
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Limits: limits, Account: n.account, Stdout: w, Stderr: errs,
	})
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	n.t.Cleanup(func() { _ = r.Close() })
	return &job{p, r}, nil
}

func (n *node) sh(script string) *job { n.t.Helper(); return n.start("sh", "-c", script) }

// says waits for the first output of a command.
func (j *job) says(t *testing.T) string {
	t.Helper()
	require.NoError(t, j.out.SetReadDeadline(time.Now().Add(30*time.Second)))
	buf := make([]byte, 4096)
	n, err := j.out.Read(buf)
	require.NoError(t, err)
	return strings.TrimSpace(string(buf[:n]))
}

// ends waits for the end of a command and of everything it left.
func (j *job) ends(t *testing.T) (command.Exit, error) {
	t.Helper()
	type end struct {
		exit command.Exit
		err  error
	}
	done := make(chan end, 1)
	go func() {
		exit, err := j.Wait()
		done <- end{exit, err}
	}()
	select {
	case e := <-done:
		return e.exit, e.err
	case <-time.After(30 * time.Second):
		require.Fail(t, "the command does not end")
		return command.Exit{}, nil
	}
}

// living are the processes that carry the node's mark, helpers included.
func (n *node) living() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if strings.Contains(string(env), "SCHEDULER_HELPER="+n.id+"/") || isHelper(pid, n.id) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isHelper goes by the arguments: who is not root may not read the environment
// of a helper.
func isHelper(pid int, id string) bool {
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Contains(string(args), "\x00SCHEDULER_HELPER="+id+"/")
}

// helper is the pid of the node's helper.
func (n *node) helper() int {
	n.t.Helper()
	for _, pid := range n.living() {
		if isHelper(pid, n.id) {
			return pid
		}
	}
	require.Fail(n.t, "there is no helper")
	return 0
}

// gone requires that a process ends soon.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 30*time.Second, 5*time.Millisecond, "process %d ends", pid)
}

func pidOf(t *testing.T, text string) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.Fields(text)[0])
	require.NoError(t, err)
	return pid
}

func TestACommandRunsInAGroupOfItsOwnAndTellsItsEnd(t *testing.T) {
	n := newNode(t, 1)
	exit, err := n.sh("exit 7").ends(t)
	require.NoError(t, err)
	require.Equal(t, 7, exit.Code)
	exit, err = n.sh("kill -9 $$").ends(t)
	require.NoError(t, err)
	require.Equal(t, syscall.SIGKILL, exit.Signal)
	j := n.sh(`ps -o pgid= -p $$ | tr -d ' '; echo $$; umask`)
	_, err = j.ends(t)
	require.NoError(t, err)
	out, err := io.ReadAll(j.out)
	require.NoError(t, err)
	fields := strings.Fields(string(out))
	require.Equal(t, fields[0], fields[1], "it leads its group")
	require.Equal(t, "0077", fields[2])
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	n := newNode(t, 1)
	_, err := n.try(command.Limits{}, "/no/such/program")
	require.ErrorContains(t, err, "/no/such/program: no such file or directory")
	_, err = n.try(command.Limits{}, "/etc/passwd")
	require.ErrorContains(t, err, "permission denied")
	exit, err := n.sh("exit 0").ends(t)
	require.NoError(t, err)
	require.Zero(t, exit.Code, "the helper goes on")
}

// Nothing of a run outlives its end, however it tries.
func TestNothingOutlivesItsRun(t *testing.T) {
	for name, script := range map[string]string{
		"a child in the background":  "sleep 300 & echo $!",
		"a child of another session": "setsid sleep 300 & sleep 0.2; echo $!",
		"a daemon":                   "(setsid sh -c 'echo $$; exec sleep 300' &) ; sleep 0.2",
		"one that ignores TERM": "(trap '' TERM; echo $$ >/dev/null; exec sh -c 'trap \"\" TERM; echo $$; while :; " +
			"do sleep 1; done') & sleep 0.2",
		"one without a mark":           "env -i setsid sh -c 'echo $$; exec sleep 300' & sleep 0.2",
		"a child of a child that died": "sh -c 'sh -c \"echo \\$\\$; exec sleep 300\" & exit 0'; sleep 0.2",
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, 1)
			j := n.sh(script)
			pid := pidOf(t, j.says(t))
			exit, err := j.ends(t)
			require.NoError(t, err)
			require.Zero(t, exit.Code)
			gone(t, pid)
			require.Len(t, n.living(), 1, "the helper is left")
		})
	}
}

// A stop reaches every descendant, and the run is over when all are gone.
func TestAStopReachesEveryDescendant(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		signal syscall.Signal
	}{
		"an obedient one":         {"echo $$; sleep 300", syscall.SIGTERM},
		"a tree":                  {"sh -c 'sh -c \"echo \\$\\$; sleep 300\"; sleep 300'; sleep 300", syscall.SIGTERM},
		"one that ignores TERM":   {"trap '' TERM; echo $$; while :; do sleep 1; done", syscall.SIGKILL},
		"another session":         {"setsid sh -c 'echo $$; sleep 300' & wait", syscall.SIGKILL},
		"another group and alone": {"(setsid sh -c 'echo $$; sleep 300' &); sleep 300", syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, 1)
			j := n.sh(c.script)
			pid := pidOf(t, j.says(t))
			require.NoError(t, j.Stop(c.signal))
			exit, err := j.ends(t)
			require.NoError(t, err)
			require.NotEqual(t, command.Exit{}, exit)
			gone(t, pid)
			require.Len(t, n.living(), 1)
		})
	}
}

// A stop of one run leaves the others alone.
func TestRunsDoNotShareTheirStops(t *testing.T) {
	n := newNode(t, 1)
	one, two := n.sh("echo up; sleep 300"), n.sh("echo up; sleep 0.5; exit 4")
	one.says(t)
	two.says(t)
	require.NoError(t, one.Stop(syscall.SIGKILL))
	exit, err := one.ends(t)
	require.NoError(t, err)
	require.Equal(t, syscall.SIGKILL, exit.Signal)
	exit, err = two.ends(t)
	require.NoError(t, err)
	require.Equal(t, 4, exit.Code)
}

// Whatever becomes of the helper, what it ran is gone before its runs end, and
// the next command finds a new one.
func TestALostHelperTakesItsRunsAlong(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "frozen": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, 1)
			plain, escaped := n.sh("echo $$; sleep 300"), n.sh("(env -i setsid sh -c 'echo $$; sleep 300' &); sleep 300")
			pids := []int{pidOf(t, plain.says(t)), pidOf(t, escaped.says(t))}
			require.NoError(t, syscall.Kill(n.helper(), signal))
			for _, j := range []*job{plain, escaped} {
				_, err := j.ends(t)
				require.ErrorIs(t, err, command.ErrHelperLost)
			}
			gone(t, pids[0])
			require.Empty(t, n.living())
			exit, err := n.sh("exit 3").ends(t)
			require.NoError(t, err)
			require.Equal(t, 3, exit.Code)
			gone(t, pids[1])
		})
	}
}

// The death or silence of the node ends everything within a lease.
func TestAHelperWithoutItsNodeEndsEverything(t *testing.T) {
	n := newNode(t, 1)
	j := n.sh("trap '' TERM; (setsid sh -c 'echo $$; sleep 300' &); sleep 300")
	pid := pidOf(t, j.says(t))
	helper := n.helper()
	require.NoError(t, n.Close())
	gone(t, pid)
	gone(t, helper)
	require.Empty(t, n.living())
	_, err := n.try(command.Limits{}, "true")
	require.ErrorContains(t, err, "stopping")
}

// What a former life of the node left, because its helper was killed with it,
// ends before this life begins.
func TestLeftoversOfAFormerLifeAreSwept(t *testing.T) {
	n := newNode(t, 2)
	leftover := exec.Command("sleep", "300")
	leftover.Env = []string{"SCHEDULER_HELPER=" + n.id + "/1/1"}
	leftover.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	require.NoError(t, leftover.Start())
	var foreign []*exec.Cmd
	for _, id := range []string{"another-" + n.id, n.id + "0"} {
		c := exec.Command("sleep", "300")
		c.Env = []string{"SCHEDULER_HELPER=" + id + "/1/1"}
		require.NoError(t, c.Start())
		foreign = append(foreign, c)
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
	own := n.sh("echo up; sleep 0.3")
	own.says(t)
	require.Equal(t, 1, n.Sweep())
	_ = leftover.Wait()
	gone(t, leftover.Process.Pid)
	for _, c := range foreign {
		require.NoError(t, c.Process.Signal(syscall.Signal(0)), "another node's is left alone: %s", c.Env)
	}
	_, err := own.ends(t)
	require.NoError(t, err)
	require.Zero(t, n.Sweep())
}

func TestLimitsHold(t *testing.T) {
	n := newNode(t, 1)
	j, err := n.try(command.Limits{OpenFiles: 17, CPUSec: 1, MemoryMb: 64}, "sh", "-c",
		"ulimit -n; ulimit -v; ulimit -c; while :; do :; done")
	require.NoError(t, err)
	exit, err := j.ends(t)
	require.NoError(t, err)
	require.Contains(t, []syscall.Signal{syscall.SIGXCPU, syscall.SIGKILL}, exit.Signal)
	out, err := io.ReadAll(j.out)
	require.NoError(t, err)
	require.Equal(t, []string{"17", "65536", "0"}, strings.Fields(string(out)))
	require.GreaterOrEqual(t, exit.CPU, 500*time.Millisecond, "a second, which the kernel counts for a limit in ticks")
	j, err = n.try(command.Limits{Processes: 50}, "sh", "-c", `printf '%s|' "$@"`, "x", "a b", "$(id)", "'")
	require.NoError(t, err)
	_, err = j.ends(t)
	require.NoError(t, err)
	out, err = io.ReadAll(j.out)
	require.NoError(t, err)
	require.Equal(t, "a b|$(id)|'|", string(out), "the arguments stay what they are")
}

// A caller that gives up while its command is being started leaves nothing.
func TestAStartThatNobodyWaitsForIsUndone(t *testing.T) {
	n := newNode(t, 1)
	n.sh("exit 0").ends(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	errs, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	p, err := n.Start(ctx, command.Order{
		ID: "x", Path: "/bin/sleep", Argv: []string{"sleep", "300"}, Dir: "/", Stdout: w,
		Stderr: errs,
	})
	if err == nil { // the answer was faster
		require.NoError(t, p.Stop(syscall.SIGKILL))
		_, _ = p.Wait()
	}
	require.Eventually(t, func() bool { return len(n.living()) == 1 }, 10*time.Second, 5*time.Millisecond)
}

func TestManyCommandsAtOnce(t *testing.T) {
	n := newNode(t, 1)
	ends := make(chan error, 100)
	for i := range 100 {
		go func() {
			j, err := n.try(command.Limits{}, "sh", "-c", fmt.Sprintf("exit %d", i))
			if err == nil {
				var exit command.Exit
				if exit, err = j.Wait(); err == nil && exit.Code != i {
					err = fmt.Errorf("command %d ended with %d", i, exit.Code)
				}
			}
			ends <- err
		}()
	}
	for range 100 {
		require.NoError(t, <-ends)
	}
	require.Len(t, n.living(), 1)
}

// BenchmarkStart is a trivial command from the order to its end, beside a bare
// fork and exec.
//
//	go test -run '^$' -bench Start ./infrastructure/executor/supervise
//
// BenchmarkStart shows what start and end of a trivial command cost through a
// helper, with and without control groups, beside a bare fork and exec.
func BenchmarkStart(b *testing.B) {
	for name, groups := range map[string]bool{"helper": false, "helper and group": true} {
		b.Run(name, func(b *testing.B) {
			l, err := supervise.New(clock.NewSystem(), slog.New(slog.DiscardHandler), supervise.Config{
				Argv: []string{os.Args[0]}, Env: asHelperOf("1"), NodeID: "bench", Epoch: 1, Lease: lease, Groups: groups,
			})
			require.NoError(b, err)
			defer func() { require.NoError(b, l.Close()) }()
			one := func() {
				null := func() *os.File {
					f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
					require.NoError(b, err)
					return f
				}
				p, err := l.Start(b.Context(), command.Order{
					ID: "bench", Path: "/bin/true", Argv: []string{"true"}, Dir: "/",
					Stdout: null(), Stderr: null(),
				})
				require.NoError(b, err)
				_, err = p.Wait()
				require.NoError(b, err)
			}
			one()
			for b.Loop() {
				one()
			}
		})
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, exec.Command("/bin/true").Run())
		}
	})
}
