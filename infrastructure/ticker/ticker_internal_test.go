package ticker

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Ticks that are left out must leave nothing behind: a node may follow for
// months.
func TestTicksThatMayNotRunAreLeftOutAndForgotten(t *testing.T) {
	defer goleak.VerifyNone(t)
	tick, err := New()
	require.NoError(t, err)
	var asked, ran atomic.Int32
	var leads atomic.Bool
	may := func(context.Context) error {
		if asked.Add(1); leads.Load() {
			return nil
		}
		return errors.New("another one leads")
	}
	require.NoError(t, tick.Every("led", time.Millisecond, may, func(context.Context) { ran.Add(1) }))
	tick.Start()
	require.Eventually(t, func() bool { return asked.Load() > 100 }, 10*time.Second, time.Millisecond)
	require.Zero(t, ran.Load())
	planned := func() time.Time {
		at, err := tick.scheduler.Jobs()[0].NextRun()
		require.NoError(t, err)
		return at
	}
	before := planned()
	require.Eventually(t, func() bool {
		return planned().After(before)
	}, 10*time.Second, time.Millisecond, "the first of the ticks to come moves on")
	leads.Store(true)
	require.Eventually(t, func() bool { return ran.Load() > 3 }, 10*time.Second, time.Millisecond)
	leads.Store(false)
	require.NoError(t, tick.Stop())
}
