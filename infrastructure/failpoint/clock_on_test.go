//go:build failpoints

package failpoint

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
)

func TestAStepMovesTheWallClockAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clock")
	t.Setenv("PS_FAILPOINT_CLOCK", file)
	machine := clocktest.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := Clock(machine)
	require.Equal(t, machine.Now(), c.Now(), "no file is no step")
	require.NoError(t, os.WriteFile(file, []byte("-60000\n"), 0o600))
	machine.Advance(lookEvery)
	require.Equal(t, machine.Now().Add(-time.Minute), c.Now())
	require.Equal(t, machine.Monotonic(), c.Monotonic())
	require.NoError(t, os.WriteFile(file, []byte("0"), 0o600))
	machine.Advance(lookEvery)
	require.Equal(t, machine.Now(), c.Now())
}

func TestAStepMovesTheClockOfTheStore(t *testing.T) {
	require.Equal(t, "NOW()", StoreNow("NOW()"), "no file is no step")
	file := filepath.Join(t.TempDir(), "clock")
	t.Setenv("PS_FAILPOINT_STORE_CLOCK", file)
	require.Equal(t, "NOW()", StoreNow("NOW()"))
	for text, want := range map[string]string{
		"-90": "(NOW() + INTERVAL -90 SECOND)", "7\n": "(NOW() + INTERVAL 7 SECOND)", "0": "NOW()", "x": "NOW()",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.Equal(t, want, StoreNow("NOW()"))
	}
}
