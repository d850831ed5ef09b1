package hostmetrics_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/hostmetrics"
)

// system is what a kernel shows.
type system struct {
	t    *testing.T
	root string
}

func (s system) write(file, format string, args ...any) {
	s.t.Helper()
	path := filepath.Join(s.root, file)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(s.t, os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600))
}

func (s system) machine(user, system, idle int) {
	s.write("proc/stat", "cpu  %d 10 %d %d 5 1 2 3 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nintr 7\n", user, system, idle)
	s.write("proc/meminfo", "MemTotal:       8000 kB\nMemFree:  100 kB\nMemAvailable:   5000 kB\n")
}

func (s system) measured(before, after func()) (cpu float64, memory int64) {
	manual := clocktest.NewManual(time.Unix(1e9, 0))
	before()
	load := hostmetrics.NewLoad(manual, s.root)
	after()
	cpu, _ = load.Load()
	require.Zero(s.t, cpu, "two readings within a second say nothing")
	manual.Advance(2 * time.Second)
	cpu, memory = load.Load()
	again, _ := load.Load()
	require.Equal(s.t, cpu, again)
	return cpu, memory
}

func TestLoadIsThatOfTheMachine(t *testing.T) {
	s := system{t, t.TempDir()}
	cpu, memory := s.measured(func() { s.machine(1000, 500, 9000) }, func() { s.machine(1200, 600, 9100) })
	require.InDelta(t, 300.0/400, cpu, 1e-9)
	require.EqualValues(t, 3000<<10, memory)
}

// A service or a pod without a bound of its own may be in one that has, and its
// commands are in groups beside it.
func TestLoadIsThatOfTheGroupWhichBoundsTheProcess(t *testing.T) {
	s := system{t, t.TempDir()}
	s.machine(1, 1, 1)
	s.write("proc/self/cgroup", "1:name=systemd:/\n0::/pods/one/server\n")
	s.write("sys/fs/cgroup/pods/one/server/cpu.max", "max 100000\n")
	s.write("sys/fs/cgroup/pods/one/server/memory.max", "max\n")
	s.write("sys/fs/cgroup/pods/one/cpu.max", "50000 100000\n")
	s.write("sys/fs/cgroup/pods/one/memory.max", "1073741824\n")
	s.write("sys/fs/cgroup/pods/one/memory.current", "900000\n")
	s.write("sys/fs/cgroup/pods/one/memory.stat", "anon 1\ninactive_file 200000\n")
	use := func(usec int) func() {
		return func() { s.write("sys/fs/cgroup/pods/one/cpu.stat", "usage_usec %d\nuser_usec 1\n", usec) }
	}
	cpu, memory := s.measured(use(5_000_000), use(5_800_000))
	require.InDelta(t, 0.8, cpu, 1e-9, "0.8 s of half a core in 2 s")
	require.EqualValues(t, 700000, memory)
	cpu, _ = s.measured(use(0), use(90_000_000))
	require.EqualValues(t, 1, cpu)
}

func TestLoadOfASystemThatTellsNothingIsZero(t *testing.T) {
	s := system{t, t.TempDir()}
	cpu, memory := s.measured(func() {}, func() { s.write("proc/stat", "cpu x\n") })
	require.Zero(t, cpu)
	require.Zero(t, memory)
}

// Of the real one: the work of other processes counts.
func TestLoadCountsOtherProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux tells")
		return
	}
	load := hostmetrics.NewLoad(clock.NewSystem(), "/")
	busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	require.NoError(t, busy.Start())
	defer func() {
		require.NoError(t, busy.Process.Kill())
		_ = busy.Wait() // it was killed
	}()
	require.Eventually(t, func() bool {
		cpu, memory := load.Load()
		return cpu > 0.5/float64(runtime.NumCPU()) && cpu <= 1 && memory > 16<<20
	}, 30*time.Second, 50*time.Millisecond)
}

func TestTheLimitsAreThoseOfTheGroupOrTheMachine(t *testing.T) {
	s := system{t, t.TempDir()}
	s.machine(1, 1, 1)
	cores, memory := hostmetrics.NewLoad(clocktest.NewManual(time.Unix(1e9, 0)), s.root).Limits()
	require.InDelta(t, runtime.NumCPU(), cores, 0)
	require.EqualValues(t, 8000<<10, memory)
	s.write("proc/self/cgroup", "0::/pod/server\n")
	s.write("sys/fs/cgroup/pod/cpu.max", "50000 100000\n")
	s.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 1\n")
	s.write("sys/fs/cgroup/pod/server/memory.max", "max\n")
	s.write("sys/fs/cgroup/pod/memory.max", "4096000\n")
	cores, memory = hostmetrics.NewLoad(clocktest.NewManual(time.Unix(1e9, 0)), s.root).Limits()
	require.InDelta(t, 0.5, cores, 0)
	require.EqualValues(t, 4096000, memory)
}

// Of the real one.
func TestTheHostTellsOfItsDisk(t *testing.T) {
	u := hostmetrics.NewHost(clock.NewSystem(), "/", t.TempDir()).Usage()
	require.Positive(t, u.DiskSize)
	require.LessOrEqual(t, u.DiskUsed, u.DiskSize)
	require.Positive(t, u.MemoryLimit)
	require.Positive(t, u.Cores)
	require.GreaterOrEqual(t, u.Load15, 0.0)
	gone := hostmetrics.NewHost(clock.NewSystem(), "/", "/no/such/folder").Usage()
	require.Zero(t, gone.DiskSize)
}
