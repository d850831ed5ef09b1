// Package sdktest runs handlers in tests, without a server. It gives them a run, records what they
// report, stops them when the test wants, and repeats them as the platform would. It uses nothing
// but the standard library and package sdk.
package sdktest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// Attempt is what the handler gets. The zero value is the first attempt of
// a plain run without data, planned for 2026-01-01 00:00 UTC.
type Attempt struct {
	// JobData and Params are marshalled to JSON unless they are a
	// json.RawMessage; nil is absent.
	JobData, Params any
	// Info is the rest; fields that are empty get a value that real runs have.
	Info sdk.RunInfo
	// Stop lets the run be stopped while it goes on; nil lets it end by itself.
	Stop *Stop
}

// Result is what an attempt came to, and all that the handler said.
type Result struct {
	// Err is what the handler returned. Panicked holds the value of a panic,
	// which on the platform fails the attempt.
	Err      error
	Panicked any
	// Fatal and RetryAfter are what Err asks of the platform.
	Fatal      bool
	RetryAfter time.Duration

	Returned    string
	Lines       []string
	Progress    []int
	Checkpoints []string
	// Checkpoint is what the next attempt would read.
	Checkpoint string
}

// Succeeded reports whether the attempt succeeded.
func (r Result) Succeeded() bool { return r.Err == nil && r.Panicked == nil }

// Run runs one attempt of a handler on the caller's goroutine and returns when
// the handler has.
func Run(t testing.TB, handler sdk.Handler, a Attempt) Result {
	t.Helper()
	info := a.Info
	info.JobData, info.Params = encode(t, "JobData", a.JobData), encode(t, "Params", a.Params)
	fill(&info)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	book := &notebook{stop: a.Stop, cancel: cancel}
	run := sdk.NewRun(info, book)
	if a.Stop != nil && a.Stop.when == nil {
		cancel(a.Stop.cause)
	}
	var r Result
	r.Panicked, r.Err = call(ctx, handler, run)
	r.Fatal = sdk.IsFatal(r.Err)
	r.RetryAfter, _ = sdk.RetryDelay(r.Err)
	r.Returned, r.Checkpoint = run.Result(), run.LastCheckpoint()
	book.copyTo(&r)
	if a.Stop != nil && !book.stopped() && a.Stop.when != nil {
		t.Errorf("the handler ended before the moment at which it was to be stopped; it said %q", r.Lines)
	}
	return r
}

// call keeps a panic from ending the test, as the platform keeps it from
// ending the node.
func call(ctx context.Context, handler sdk.Handler, run *sdk.Run) (panicked any, err error) {
	defer func() { panicked = recover() }()
	return nil, handler.Handle(ctx, run)
}

// Retries runs a handler as the platform would. After a failure it runs again, at most maxRetries
// times, with the checkpoint of the attempt before. A Fatal error ends it. It does not wait
// between attempts. It returns every attempt.
func Retries(t testing.TB, handler sdk.Handler, a Attempt, maxRetries int) []Result {
	t.Helper()
	var all []Result
	fill(&a.Info)
	for {
		r := Run(t, handler, a)
		all = append(all, r)
		if r.Succeeded() || r.Fatal || len(all) > maxRetries {
			return all
		}
		a.Info.Attempt++
		a.Info.FencingToken++
		a.Info.Checkpoint = r.Checkpoint
		a.Stop = nil // a stop is meant for the first attempt
	}
}

// fill gives what is empty the values that real runs have.
func fill(info *sdk.RunInfo) {
	set := func(text *string, value string) {
		if *text == "" {
			*text = value
		}
	}
	set(&info.ExecutionID, "test-execution")
	set(&info.JobID, "test-job")
	set(&info.JobName, "test job")
	set(&info.IdempotencyKey, info.ExecutionID)
	info.Attempt, info.ShardTotal = max(info.Attempt, 1), max(info.ShardTotal, 1)
	info.FencingToken = max(info.FencingToken, 1)
	set(&info.TraceParent, "00-00000000000000000000000000000001-0000000000000001-01")
	if info.ScheduledTime.IsZero() {
		info.ScheduledTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
}

func encode(t testing.TB, name string, v any) json.RawMessage {
	t.Helper()
	switch v := v.(type) {
	case nil:
		return nil
	case json.RawMessage:
		return v
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data
}
