package sdktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/sdktest"
)

// load copies rows from its checkpoint to the end, and stops when it is asked to.
var load = sdk.Typed(func(ctx context.Context, run *sdk.Run, in struct{ Rows int }) error {
	done, _ := strconv.Atoi(run.LastCheckpoint())
	for ; done < in.Rows; done++ {
		if why := sdk.WhyStopped(ctx); why != sdk.StopNone {
			return fmt.Errorf("stopped at row %d: %s", done, why)
		}
		run.Log("row %d", done)
		run.Checkpoint(strconv.Itoa(done + 1))
		run.Progress((done + 1) * 100 / in.Rows)
	}
	run.SetResult(strconv.Itoa(done))
	return nil
})

func TestRunTellsAllThatAHandlerSaid(t *testing.T) {
	r := sdktest.Run(t, load, sdktest.Attempt{JobData: map[string]int{"rows": 9}, Params: json.RawMessage(`{"rows": 2}`)})
	require.True(t, r.Succeeded())
	require.Equal(t, []string{"row 0", "row 1"}, r.Lines)
	require.Equal(t, []string{"1", "2"}, r.Checkpoints)
	require.Equal(t, []int{50, 100}, r.Progress)
	require.Equal(t, "2", r.Returned)
	require.Equal(t, "2", r.Checkpoint)
}

func TestAnAttemptStopsWhereTheTestWants(t *testing.T) {
	for name, c := range map[string]struct {
		stop  *sdktest.Stop
		err   string
		lines int
	}{
		"at once":       {sdktest.AtOnce(sdk.StopShutdown), "stopped at row 0: shutdown", 0},
		"at a line":     {sdktest.AtLine(sdk.StopCancel, "row 2"), "stopped at row 3: cancel", 3},
		"at checkpoint": {sdktest.AtCheckpoint(sdk.StopTimeout, "4"), "stopped at row 4: timeout", 4},
		"at progress":   {sdktest.AtProgress(sdk.StopLost, 20), "stopped at row 2: lost", 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := sdktest.Run(t, load, sdktest.Attempt{JobData: map[string]int{"rows": 10}, Stop: c.stop})
			require.EqualError(t, r.Err, c.err)
			require.Len(t, r.Lines, c.lines)
		})
	}
}

func TestRetriesGoOnFromTheCheckpoint(t *testing.T) {
	all := sdktest.Retries(t, load, sdktest.Attempt{
		JobData: map[string]int{"rows": 5}, Stop: sdktest.AtCheckpoint(sdk.StopShutdown, "3"),
	}, 2)
	require.Len(t, all, 2)
	require.Error(t, all[0].Err)
	require.True(t, all[1].Succeeded())
	require.Equal(t, []string{"row 3", "row 4"}, all[1].Lines)
}

func TestRetriesEndAsThePlatformEndsThem(t *testing.T) {
	var attempts []int
	var tokens []int64
	fail := func(err error) sdk.Handler {
		return sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
			attempts, tokens = append(attempts, run.Attempt()), append(tokens, run.FencingToken())
			return err
		})
	}
	all := sdktest.Retries(t, fail(sdk.RetryAfter(time.Minute, errors.New("busy"))), sdktest.Attempt{}, 2)
	require.Equal(t, []int{1, 2, 3}, attempts)
	require.Equal(t, []int64{1, 2, 3}, tokens)
	require.Equal(t, time.Minute, all[2].RetryAfter)

	all = sdktest.Retries(t, fail(sdk.Fatal(errors.New("closed"))), sdktest.Attempt{}, 2)
	require.Len(t, all, 1)
	require.True(t, all[0].Fatal)
}

func TestARunHasWhatRealRunsHave(t *testing.T) {
	r := sdktest.Run(t, sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		require.NotEmpty(t, run.ExecutionID())
		require.Equal(t, run.ExecutionID(), run.IdempotencyKey())
		require.NotEmpty(t, run.JobID())
		require.NotEmpty(t, run.JobName())
		require.Equal(t, []any{1, 0, 1, int64(1)}, []any{
			run.Attempt(), run.ShardIndex(), run.ShardTotal(),
			run.FencingToken(),
		})
		require.Equal(t, 2026, run.ScheduledTime().Year())
		require.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`, run.TraceParent())
		return nil
	}), sdktest.Attempt{})
	require.True(t, r.Succeeded())
}

func TestAPanicIsAnEndOfTheAttempt(t *testing.T) {
	all := sdktest.Retries(t, sdk.HandlerFunc(func(context.Context, *sdk.Run) error {
		panic("lost")
	}), sdktest.Attempt{}, 1)
	require.Len(t, all, 2, "the platform tries again")
	require.Equal(t, "lost", all[0].Panicked)
	require.False(t, all[0].Succeeded())
}

// failing is a testing.TB that notes complaints.
type failing struct {
	testing.TB
	complaints int
}

func (f *failing) Errorf(string, ...any) { f.complaints++ }

func TestAStopThatNeverCameIsTold(t *testing.T) {
	f := &failing{TB: t}
	sdktest.Run(f, load, sdktest.Attempt{
		JobData: map[string]int{"rows": 1},
		Stop:    sdktest.AtLine(sdk.StopCancel, "row 7"),
	})
	require.Equal(t, 1, f.complaints)
}

func ExampleRetries() {
	t := new(testing.T) // in a test: its own
	settle := sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		if run.Attempt() == 1 {
			return sdk.RetryAfter(time.Second, errors.New("the bank is closed"))
		}
		run.SetResult("settled " + run.ScheduledTime().Format(time.DateOnly))
		return nil
	})
	for _, attempt := range sdktest.Retries(t, settle, sdktest.Attempt{}, 3) {
		fmt.Printf("%v, returned %q\n", attempt.Err, attempt.Returned)
	}
	// Output:
	// the bank is closed, returned ""
	// <nil>, returned "settled 2026-01-01"
}
