package node

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/measure"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// JobClass is the handler of the bench's jobs; the observer runs all of them.
	JobClass = "noop"
	// LongClass tells apart runs that last and those that do nothing.
	LongClass = "long"
	// FailClass marks runs that fail.
	FailClass = "fail"
	// JobPrefix stands before a job's number in its name.
	JobPrefix = "bench "
)

// Handler runs the jobs of one class.
type Handler func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome

// Observer is the executor of a bench: every run is seen here, outside the
// engine's tables, at the moment the handler is entered. Safe for concurrent
// use.
type Observer struct {
	clock clock.Clock
	// Now is the time of entries; see takes them.
	Now func() time.Time
	see func(some ...measure.StartEvent)
	// handlers run the classes that only one bench has.
	handlers map[string]Handler
	// Completed counts ends that the store has taken.
	Completed atomic.Int64
}

// NewObserver makes an executor that calls see for each entry; see must be safe for
// concurrent use.
func NewObserver(c clock.Clock, see func(some ...measure.StartEvent), handlers map[string]Handler) *Observer {
	return &Observer{clock: c, Now: c.Now, see: see, handlers: handlers}
}

// Run implements app.Executor: note the entry, and do nothing but talk or wait.
func (o *Observer) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	if run.Job.Type == entity.JobWorkflow {
		return entity.Opened()
	}
	if handle, ok := o.handlers[run.Job.Class]; ok {
		return handle(ctx, run, rep)
	}
	at, e := o.Now(), run.Execution
	job, err := numberOf(run.Job.Name)
	if err != nil {
		return entity.Failed(entity.ReasonInvalid, err.Error())
	}
	long := run.Job.Class == LongClass
	o.see(measure.StartEvent{
		ScheduledTime: e.ScheduledTime.UnixMilli(), At: at.UnixMicro(), Job: job,
		Recorded: clip(e.CreateTime.Sub(e.ScheduledTime).Milliseconds()),
		Taken:    clip(e.UpdateTime.Sub(e.ScheduledTime).Milliseconds()),
		Attempt:  uint8(min(e.Attempt, 255)), Long: long,
	})
	if run.Job.Class == FailClass {
		return entity.Failed(entity.ReasonError, "the bench lets it fail")
	}
	if long && clock.Sleep(ctx, o.clock, measure.LongSpan) != nil {
		return entity.Failed(entity.ReasonShutdown, "the node stops")
	}
	return entity.Succeeded("")
}

// Entered notes the entry of a handler of a worker, which does not know when its run was stored.
func (o *Observer) Entered(name string, scheduled time.Time, attempt int) error {
	at := o.Now()
	job, err := numberOf(name)
	if err == nil {
		o.see(measure.StartEvent{
			ScheduledTime: scheduled.UnixMilli(), At: at.UnixMicro(), Job: job, Attempt: uint8(min(attempt, 255)),
		})
	}
	return err
}

// numberOf is the number of a job of the bench.
func numberOf(name string) (uint32, error) {
	job, err := strconv.ParseUint(strings.TrimPrefix(name, JobPrefix), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is no job of the bench", name)
	}
	return uint32(job), nil
}

// Check implements app.Executor.
func (o *Observer) Check(*entity.Job) []apperror.Field { return nil }

// Handlers implements app.Executor; the names are sorted.
func (o *Observer) Handlers() []string {
	names := append(slices.Collect(maps.Keys(o.handlers)), LongClass, FailClass)
	slices.Sort(names)
	return names
}

// CommandSlots implements app.Executor.
func (o *Observer) CommandSlots() int { return 0 }

// Stored implements running.Observer.
func (o *Observer) Stored(*entity.Job, *entity.Execution) { o.Completed.Add(1) }

// clip fits a number of ms into its field.
func clip(ms int64) uint32 { return uint32(min(max(ms, 0), math.MaxUint32)) }
