package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// recorder is a Sink that remembers what it was told.
type recorder struct {
	mu          sync.Mutex
	lines       []string
	percents    []int
	checkpoints []string
}

func (r *recorder) Log(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

func (r *recorder) Progress(percent int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.percents = append(r.percents, percent)
}

func (r *recorder) Checkpoint(state string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checkpoints = append(r.checkpoints, state)
}

func TestRunTellsWhatItRuns(t *testing.T) {
	at := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	run := sdk.NewRun(sdk.RunInfo{
		ExecutionID: "e1", JobID: "j1", JobName: "settle", ScheduledTime: at, Attempt: 2,
		ShardIndex: 3, ShardTotal: 8, FencingToken: 77, IdempotencyKey: "root",
		Params: json.RawMessage(`{"a":1}`), JobData: json.RawMessage(`{"b":2}`), Checkpoint: "row 5",
		Deadline: at.Add(time.Minute), TraceParent: "00-1-2-01",
	}, nil)
	require.Equal(t, "e1", run.ExecutionID())
	require.Equal(t, "j1", run.JobID())
	require.Equal(t, "settle", run.JobName())
	require.Equal(t, at, run.ScheduledTime())
	require.Equal(t, 2, run.Attempt())
	require.Equal(t, 3, run.ShardIndex())
	require.Equal(t, 8, run.ShardTotal())
	require.Equal(t, int64(77), run.FencingToken())
	require.Equal(t, "root", run.IdempotencyKey())
	require.JSONEq(t, `{"a":1}`, string(run.Params()))
	require.JSONEq(t, `{"b":2}`, string(run.JobData()))
	require.Equal(t, "row 5", run.LastCheckpoint())
	deadline, ok := run.Deadline()
	require.True(t, ok)
	require.Equal(t, at.Add(time.Minute), deadline)
	require.Equal(t, "00-1-2-01", run.TraceParent())
	_, ok = sdk.NewRun(sdk.RunInfo{}, nil).Deadline()
	require.False(t, ok, "most jobs have no limit")
}

func TestRunWithoutASinkDiscards(t *testing.T) {
	run := sdk.NewRun(sdk.RunInfo{}, nil)
	run.Log("x")
	run.Progress(1)
	run.Checkpoint("c")
	run.Logger().Info("y")
	require.Equal(t, "c", run.LastCheckpoint())
}

func TestDecodeLaysParamsOverJobData(t *testing.T) {
	type input struct {
		Table string
		Limit int
	}
	cases := []struct {
		name, data, params string
		want               input
	}{
		{"nothing", ``, ``, input{}},
		{"data alone", `{"table":"a","limit":3}`, ``, input{"a", 3}},
		{"params alone", ``, `{"limit":4}`, input{"", 4}},
		{"both", `{"table":"a","limit":3}`, `{"limit":9}`, input{"a", 9}},
		{"unknown fields", `{"table":"a","other":true}`, `{}`, input{"a", 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got input
			run := sdk.NewRun(sdk.RunInfo{JobData: json.RawMessage(c.data), Params: json.RawMessage(c.params)}, nil)
			require.NoError(t, run.Decode(&got))
			require.Equal(t, c.want, got)
		})
	}
	run := sdk.NewRun(sdk.RunInfo{JobID: "j1", Params: json.RawMessage(`{"limit":"many"}`)}, nil)
	err := run.Decode(&input{})
	require.ErrorContains(t, err, "decode the params of job j1")
	require.True(t, sdk.IsFatal(err), "data that does not fit must not be tried again")
}

func TestRunReportsToItsSink(t *testing.T) {
	var sink recorder
	run := sdk.NewRun(sdk.RunInfo{Checkpoint: "old"}, &sink)
	run.Log("100% of %s", []any{}...)
	run.Log("%d rows\n", 5)
	run.Logger().With("table", "t").WithGroup("g").Debug("half way", "n", 2, slog.Time("time", time.UnixMilli(0).UTC()))
	run.Progress(-5)
	run.Progress(50)
	run.Progress(150)
	run.Checkpoint("new")
	run.SetResult("first")
	run.SetResult("last")
	require.Equal(t, []string{
		"100% of %s", "5 rows",
		`level=DEBUG msg="half way" table=t g.n=2 g.time=1970-01-01T00:00:00.000Z`,
	}, sink.lines)
	require.Equal(t, []int{0, 50, 100}, sink.percents)
	require.Equal(t, []string{"new"}, sink.checkpoints)
	require.Equal(t, "new", run.LastCheckpoint())
	require.Equal(t, "last", run.Result())
	require.Same(t, run.Logger(), run.Logger())
}

func TestRunIsSafeForConcurrentUse(t *testing.T) {
	var sink recorder
	run := sdk.NewRun(sdk.RunInfo{}, &sink)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			run.Logger().Info("line", "i", i)
			run.Checkpoint("c")
			run.SetResult(run.LastCheckpoint())
			_ = run.Result()
		})
	}
	wg.Wait()
	require.Len(t, sink.lines, 8)
}

func TestTypedOutcomes(t *testing.T) {
	require.NoError(t, sdk.Fatal(nil))
	require.NoError(t, sdk.RetryAfter(time.Second, nil))
	require.False(t, sdk.IsFatal(nil))

	fatal := fmt.Errorf("load: %w", sdk.Fatal(io.ErrUnexpectedEOF))
	require.True(t, sdk.IsFatal(fatal))
	require.ErrorIs(t, fatal, io.ErrUnexpectedEOF)
	require.EqualError(t, fatal, "load: unexpected EOF")
	require.False(t, sdk.IsFatal(io.EOF))

	later := fmt.Errorf("call: %w", sdk.RetryAfter(time.Minute, io.EOF))
	wait, ok := sdk.RetryDelay(later)
	require.True(t, ok)
	require.Equal(t, time.Minute, wait)
	require.ErrorIs(t, later, io.EOF)
	require.EqualError(t, later, "call: EOF")
	for _, err := range []error{nil, io.EOF, sdk.RetryAfter(0, io.EOF), sdk.RetryAfter(-time.Second, io.EOF)} {
		_, ok = sdk.RetryDelay(err)
		require.False(t, ok)
	}
}

// reasoned is a cause as the platform makes them.
type reasoned string

func (r reasoned) Error() string      { return "stopped" }
func (r reasoned) StopReason() string { return string(r) }

func TestWhyStopped(t *testing.T) {
	require.Equal(t, sdk.StopNone, sdk.WhyStopped(t.Context()))
	cases := []struct {
		cause error
		want  sdk.Stop
	}{
		{reasoned("timeout"), sdk.StopTimeout},
		{reasoned("cancel"), sdk.StopCancel},
		{fmt.Errorf("wrapped: %w", reasoned("shutdown")), sdk.StopShutdown},
		{reasoned("lost"), sdk.StopLost},
		{context.DeadlineExceeded, sdk.StopTimeout},
		{errors.New("else"), sdk.StopOther},
		{nil, sdk.StopOther},
	}
	for _, c := range cases {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(c.cause)
		child, stop := context.WithCancel(ctx)
		require.Equal(t, c.want, sdk.WhyStopped(child), "%v", c.cause)
		stop()
	}
}

func TestTypedHandlersRefuseWhatTheyDoNotKnow(t *testing.T) {
	type input struct {
		Table string
		Limit int
	}
	var got input
	handler := sdk.Typed(func(_ context.Context, _ *sdk.Run, in input) error {
		got = in
		return nil
	})
	handle := func(data, params string) error {
		got = input{}
		return handler.Handle(t.Context(),
			sdk.NewRun(sdk.RunInfo{JobID: "j", JobData: json.RawMessage(data), Params: json.RawMessage(params)}, nil))
	}
	require.NoError(t, handle(`{"table":"a","limit":3}`, `{"limit":9}`))
	require.Equal(t, input{"a", 9}, got)
	require.NoError(t, handle(``, ``))
	for _, c := range [][2]string{{`{"tabel":"a"}`, ``}, {``, `{"limit":"many"}`}, {`{"limit":1.5}`, ``}, {`{} {}`, ``}} {
		err := handle(c[0], c[1])
		require.True(t, sdk.IsFatal(err), "%v", c)
		require.ErrorContains(t, err, "of job j")
	}
	require.ErrorContains(t, handle(`{"tabel":"a"}`, ``), "tabel")
}
