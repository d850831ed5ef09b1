package embedded_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/embedded"
)

// A program with a job of its own that fires every second, and can be run by
// hand as well.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "embedded")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()

	reported := make(chan string, 10)
	scheduler, err := embedded.New(ctx, embedded.Options{
		DataDir: dir,
		Handlers: map[string]sdk.Handler{
			"report": sdk.HandlerFunc(func(_ context.Context, run *sdk.Run) error {
				reported <- fmt.Sprintf("attempt %d of %s", run.Attempt(), run.JobName())
				return nil
			}),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := scheduler.Start(); err != nil {
		log.Fatal(err)
	}
	_, err = scheduler.EnsureJob(ctx, `{
		"name": "write the report", "jobType": "CUSTOM", "jobClass": "report",
		"schedule": {"kind": "FIXED_RATE", "intervalMs": 1000}
	}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-reported)
	if err := scheduler.Stop(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: attempt 1 of write the report
}
