package boottime_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/boottime"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// TestMain lets the tests start their binary as a process that tells how much
// more time has passed than its monotonic clock knows.
func TestMain(m *testing.M) {
	if os.Getenv("TELL_SLEEP") != "" {
		var mono unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono); err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strconv.FormatInt(int64(boottime.Of(clock.NewSystem())())-mono.Nano(), 10))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// It is the machine's time, whatever clock the program goes by.
func TestTheTimeIsTheMachines(t *testing.T) {
	elapsed := boottime.Of(clocktest.NewManual(time.Unix(0, 0)))
	machine := func() time.Duration {
		var now unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_BOOTTIME, &now))
		return time.Duration(now.Nano())
	}
	before, got, after := machine(), elapsed(), machine()
	require.GreaterOrEqual(t, got, before)
	require.LessOrEqual(t, got, after)
}

// A machine that slept has a monotonic clock that stood still meanwhile. In a
// namespace of time with an offset the two clocks are as after such a sleep.
func TestTheTimeOfASleepCounts(t *testing.T) {
	const slept = 24 * time.Hour
	unshare := []string{"--time", "--fork", "--boottime", strconv.Itoa(int(slept.Seconds()))}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--map-root-user")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(unshare, "true")...).CombinedOutput(); err != nil {
		prooftest.Missing(t, "no namespace of time: "+strings.TrimSpace(string(out)+err.Error()))
		return
	}
	ahead := func(name string, args ...string) time.Duration {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Env = append(os.Environ(), "TELL_SLEEP=1")
		out, err := c.Output()
		require.NoError(t, err)
		n, err := strconv.ParseInt(string(out), 10, 64)
		require.NoError(t, err)
		return time.Duration(n)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	require.InDelta(t, slept.Seconds(), (ahead("unshare", append(unshare, self)...) - ahead(self)).Seconds(), 60)
}
