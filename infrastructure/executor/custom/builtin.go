package custom

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/jobdata"
	"github.com/platform-scheduler/platform-scheduler/sdk"
)

// The bounds of the data of built-in handlers. Strings are bounded in bytes.
const (
	maxSleepMs  = 7 * 24 * 3600 * 1000
	maxText     = 64 << 10
	maxMessage  = 4 << 10
	maxFails    = 1000
	maxLines    = 1_000_000
	maxListings = 10_000
	// stride counts the lines between two checks of the context.
	stride = 256
)

// builtIns returns the handlers that every server has. They stand for real work, so that users
// can try schedules, retries, limits and alerts.
func builtIns(c clock.Clock) map[string]entry {
	return map[string]entry{
		"noop":  {check: func(*jobdata.Reader) {}},
		"sleep": {sleeper{c}, func(r *jobdata.Reader) { r.Integer("ms", 0, maxSleepMs) }},
		"echo":  {sdk.HandlerFunc(echo), func(r *jobdata.Reader) { r.Text("text", maxText) }},
		"fail": {sdk.HandlerFunc(fail), func(r *jobdata.Reader) {
			r.Text("message", maxMessage)
			r.Integer("times", 0, maxFails)
		}},
		"log": {sdk.HandlerFunc(writeLines), func(r *jobdata.Reader) {
			if r.IsList("lines") {
				r.List("lines", maxListings)
			} else {
				r.Integer("lines", 0, maxLines)
			}
		}},
	}
}

// read fills v from the job's data, which Check has accepted.
func read(run *sdk.Run, v any) error {
	if len(run.JobData()) == 0 {
		return nil
	}
	return sdk.Fatal(json.Unmarshal(run.JobData(), v))
}

// sleeper waits for the given milliseconds.
type sleeper struct{ clock clock.Clock }

func (s sleeper) Handle(ctx context.Context, run *sdk.Run) error {
	var in struct{ Ms int64 }
	if err := read(run, &in); err != nil {
		return err
	}
	timer := s.clock.NewTimer(time.Duration(in.Ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// echo returns its text as the result and logs it.
func echo(_ context.Context, run *sdk.Run) error {
	var in struct{ Text string }
	if err := read(run, &in); err != nil {
		return err
	}
	run.Log("%s", in.Text)
	run.SetResult(in.Text)
	return nil
}

// fail fails the given number of attempts; without a number, all attempts.
func fail(_ context.Context, run *sdk.Run) error {
	var in struct {
		Message string
		Times   int
	}
	if err := read(run, &in); err != nil {
		return err
	}
	if in.Times > 0 && run.Attempt() > in.Times {
		return nil
	}
	if in.Message == "" {
		in.Message = "failed as asked"
	}
	return errors.New(in.Message)
}

// writeLines writes a number of numbered lines, or the given lines.
func writeLines(ctx context.Context, run *sdk.Run) error {
	var in struct{ Lines json.RawMessage }
	if err := read(run, &in); err != nil {
		return err
	}
	var list []string
	if json.Unmarshal(in.Lines, &list) == nil {
		for _, line := range list {
			run.Log("%s", line)
		}
		return nil
	}
	var count int
	if len(in.Lines) > 0 {
		if err := json.Unmarshal(in.Lines, &count); err != nil {
			return sdk.Fatal(err)
		}
	}
	for i := range count {
		if i%stride == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		run.Log("line %d", i+1)
	}
	return nil
}
