package ticker_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/ticker"
)

func TestTasksTickOneCallAtATimeUntilStop(t *testing.T) {
	defer goleak.VerifyNone(t)
	tick, err := ticker.New()
	require.NoError(t, err)
	calls := make(chan struct{})
	busy := make(chan struct{}, 1)
	require.NoError(t, tick.Every("count", 5*time.Millisecond, nil, func(ctx context.Context) {
		select {
		case busy <- struct{}{}:
		default:
			t.Error("two calls at once")
		}
		select {
		case calls <- struct{}{}:
		case <-ctx.Done():
		}
		<-busy
	}))
	tick.Start()
	for range 5 {
		select {
		case <-calls:
		case <-time.After(10 * time.Second):
			t.Fatal("the task does not tick")
		}
	}
	require.NoError(t, tick.Stop())
}

func TestATickerThatHasNotStartedLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	tick, err := ticker.New()
	require.NoError(t, err)
	require.NoError(t, tick.Every("never", time.Hour, nil, func(context.Context) {}))
	require.NoError(t, tick.Stop())
	require.NoError(t, tick.Stop())
}
