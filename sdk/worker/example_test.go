package worker_test

import (
	"context"
	"log"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker"
)

type settlement struct{ Rows int }

// A worker goes on where the attempt before it stopped, and drains on SIGTERM.
func Example() {
	settle := func(ctx context.Context, run *sdk.Run, in settlement) error {
		done, _ := strconv.Atoi(run.LastCheckpoint()) // there is none before the first attempt
		for ; done < in.Rows; done++ {
			if sdk.WhyStopped(ctx) != sdk.StopNone {
				return context.Cause(ctx)
			}
			run.Checkpoint(strconv.Itoa(done + 1))
		}
		return nil
	}
	w, err := worker.New(worker.Options{
		Servers: []string{"https://a:8080", "https://b:8080"}, TokenFile: "/run/ps-token", Group: "shop",
		Handlers: map[string]sdk.Handler{"settle": sdk.Typed(settle)},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := w.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
