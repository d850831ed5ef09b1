package bench

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

const (
	// jobClass is the handler of the bench's jobs; the observer runs all of them.
	jobClass = "noop"
	// longClass tells runs that last from those that do nothing.
	longClass = "long"
	// longSpan is how long such a run lasts.
	longSpan = 2 * time.Second
	// jobPrefix stands before a job's number in its name.
	jobPrefix = "bench "
)

// observer is the executor of a bench: every run is seen here, outside the
// engine's tables, at the moment the handler is entered. Safe for concurrent
// use.
type observer struct {
	bench *bench
	// now is the time of entries; see takes them.
	now func() time.Time
	see func(some ...sighting)
	// gossip is shared by the runs that talk, where there are any.
	gossip *gossip
	// newsroom is shared by the runs whose logs are followed.
	newsroom *newsroom
	// completed counts ends that the store has taken.
	completed atomic.Int64
}

// Run implements app.Executor: note the entry, and do nothing but talk or wait.
func (o *observer) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	switch run.Job.Class {
	case talkClass:
		return o.gossip.run(ctx, o.bench, rep)
	case tailClass:
		return o.newsroom.run(ctx, run, rep)
	case callClass:
		for n := range 20 {
			rep.Log(entity.LogStdout, "row "+strconv.Itoa(n)+" of table orders was copied")
		}
		return entity.Succeeded("")
	}
	at, e := o.now(), run.Execution
	job, err := strconv.Atoi(strings.TrimPrefix(run.Job.Name, jobPrefix))
	if err != nil {
		return entity.Failed(entity.ReasonInvalid, "this is no job of the bench")
	}
	long := run.Job.Class == longClass
	o.see(sighting{
		nominal: e.ScheduledTime.UnixMilli(), at: at.UnixMicro(), job: uint32(job),
		recorded: clip(e.CreateTime.Sub(e.ScheduledTime).Milliseconds()), taken: clip(e.UpdateTime.Sub(e.ScheduledTime).Milliseconds()),
		attempt: uint8(min(e.Attempt, 255)), long: long,
	})
	if long && o.bench.sleep(ctx, longSpan) != nil {
		return entity.Failed(entity.ReasonShutdown, "the node stops")
	}
	return entity.Succeeded("")
}

// Check implements app.Executor.
func (o *observer) Check(*entity.Job) []apperror.Field { return nil }

// Handlers implements app.Executor.
func (o *observer) Handlers() []string { return []string{callClass, longClass, tailClass, talkClass} }

// CommandSlots implements app.Executor.
func (o *observer) CommandSlots() int { return 0 }

// stored implements running.Observer.
func (o *observer) stored(*entity.Job, *entity.Execution) { o.completed.Add(1) }
