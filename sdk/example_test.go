package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// console prints what a run says, as a stand-in for the run's log.
type console struct{}

func (console) Log(line string)         { fmt.Println("log:", line) }
func (console) Progress(percent int)    { fmt.Println("progress:", percent) }
func (console) Checkpoint(state string) { fmt.Println("checkpoint:", state) }

// A handler reads its input, reports and returns a result.
func ExampleHandlerFunc() {
	greet := sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		var input struct{ Name string }
		if err := run.Decode(&input); err != nil {
			return err
		}
		run.Log("attempt %d of %s", run.Attempt(), run.JobName())
		run.SetResult("hello " + input.Name)
		return nil
	})

	run := sdk.NewRun(sdk.RunInfo{
		JobName: "greet", Attempt: 1,
		JobData: json.RawMessage(`{"name": "nobody"}`),
		Params:  json.RawMessage(`{"name": "world"}`),
	}, console{})
	fmt.Println(greet.Handle(context.Background(), run), run.Result())
	// Output:
	// log: attempt 1 of greet
	// <nil> hello world
}

// A checkpoint lets the next attempt go on where the former one stopped.
func ExampleRun_Checkpoint() {
	load := sdk.HandlerFunc(func(ctx context.Context, run *sdk.Run) error {
		done, _ := strconv.Atoi(run.LastCheckpoint())
		for ; done < 4; done++ {
			if sdk.WhyStopped(ctx) != sdk.StopNone {
				return context.Cause(ctx)
			}
			run.Progress((done + 1) * 25)
			run.Checkpoint(strconv.Itoa(done + 1))
		}
		return nil
	})

	run := sdk.NewRun(sdk.RunInfo{Attempt: 2, Checkpoint: "2"}, console{})
	fmt.Println(load.Handle(context.Background(), run))
	// Output:
	// progress: 75
	// checkpoint: 3
	// progress: 100
	// checkpoint: 4
	// <nil>
}

// Shards divide the work among runs that go on side by side.
func ExampleRun_ShardIndex() {
	users := []string{"ann", "bob", "cid", "dan", "eve"}
	handle := sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		for i, user := range users {
			if i%run.ShardTotal() == run.ShardIndex() {
				run.Log("bill %s", user)
			}
		}
		return nil
	})

	run := sdk.NewRun(sdk.RunInfo{ShardIndex: 1, ShardTotal: 2}, console{})
	fmt.Println(handle.Handle(context.Background(), run))
	// Output:
	// log: bill bob
	// log: bill dan
	// <nil>
}

// A run that cannot succeed later is not tried again.
func ExampleFatal() {
	err := sdk.Fatal(errors.New("the account is closed"))
	fmt.Println(err, sdk.IsFatal(err))
	// Output: the account is closed true
}

// A target that asks for patience is called again after the wait it names.
func ExampleRetryAfter() {
	err := sdk.RetryAfter(30*time.Second, errors.New("too many requests"))
	wait, _ := sdk.RetryDelay(err)
	fmt.Println(err, wait)
	// Output: too many requests 30s
}

// A handler learns why it should stop.
func ExampleWhyStopped() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	fmt.Println(sdk.WhyStopped(ctx))
	// Output: timeout
}

// Each run of a sharded fire does its share of the work.
func ExampleRun_Range() {
	accounts := []string{"A1", "A2", "B1", "B2", "B3", "C1", "C2"} // in the same order in every run
	settle := sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
		from, to := run.Range(len(accounts))
		run.Log("share %d of %d: %v", run.ShardIndex(), run.ShardTotal(), accounts[from:to])
		return nil
	})

	for shard := range 3 {
		_ = settle.Handle(context.Background(), sdk.NewRun(sdk.RunInfo{ShardIndex: shard, ShardTotal: 3}, console{}))
	}
	// Output:
	// log: share 0 of 3: [A1 A2 B1]
	// log: share 1 of 3: [B2 B3]
	// log: share 2 of 3: [C1 C2]
}
