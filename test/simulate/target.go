package simulate

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// work is what the runs of a job do.
type work struct {
	name string
	// least and most bound how long an attempt takes; slow is the share of attempts, in parts of a thousand, that take
	// ten times as long.
	least, most time.Duration
	slow        int
	// fails is how many attempts of each run fail first; often is the share that fails by lot, in parts of a thousand.
	fails, often int
	// fence: older tokens are refused.
	fence bool
	// lines: an attempt puts out those of history.OutputLines.
	lines bool
}

// target is what the handlers of all nodes call: it sees each attempt from outside. Safe for concurrent use.
type target struct {
	seed uint64

	mu      sync.Mutex
	works   map[string]work
	calls   []history.Call
	highest map[string]int64
}

func newTarget(seed uint64) *target {
	return &target{seed: seed, works: map[string]work{}, highest: map[string]int64{}}
}

func (t *target) add(job string, w work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.works[job] = w
}

func (t *target) work(job string) work {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.works[job]
}

// all is what was seen, with the calls that go on as cut.
func (t *target) all() []history.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]history.Call(nil), t.calls...)
}

// lot is a number of an attempt that each run of the seed draws again: it depends on names and times alone.
func (t *target) lot(name, what string, e *entity.Execution, under int) int {
	h := fnv.New64a()
	fire := e.FireKey
	if e.Trigger != entity.TriggerSchedule && e.Trigger != entity.TriggerMisfire {
		fire = string(e.Trigger) // ids are new each time
	}
	_, _ = fmt.Fprintf(h, "%d %s %s %s %d %d", t.seed, name, what, fire, e.ShardIndex, e.Attempt)
	return int(h.Sum64() % uint64(under)) //nolint:gosec // it is smaller than an int
}

// begin notes a call; it is cut where nobody notes its end.
func (t *target) begin(e *entity.Execution, w work) (at int, refused bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := history.Call{
		Execution: e.ID, Job: e.JobID, Attempt: e.Attempt, Shard: e.ShardIndex, Token: e.FencingToken(), Start: time.Now(),
		Answer: history.AnswerCut,
	}
	c.End = c.Start
	if w.fence && c.Token < t.highest[e.JobID] {
		c.Answer = history.AnswerRefused
	}
	t.highest[e.JobID] = max(t.highest[e.JobID], c.Token)
	t.calls = append(t.calls, c)
	return len(t.calls) - 1, c.Answer == history.AnswerRefused
}

func (t *target) end(at int, a history.Answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[at].End, t.calls[at].Answer = time.Now(), a
}

// executor is the executor of one life of a node.
type executor struct {
	target *target
	node   string
	life   *life
}

// Check implements app.Executor.
func (*executor) Check(*entity.Job) []apperror.Field { return nil }

// Handlers implements app.Executor.
func (*executor) Handlers() []string { return []string{handler} }

// CommandSlots implements app.Executor.
func (*executor) CommandSlots() int { return 0 }

// handler is the class of all jobs.
const handler = "simulated"

// Run implements app.Executor: one call of the target.
func (x *executor) Run(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
	clock, gone := x.life.clock, x.life.gate.gone
	clock.awaitThaw()
	if x.life.gate.over() || !entity.MayAct(ctx) {
		return entity.Failed(entity.ReasonShutdown, "the node may not act")
	}
	e := run.Execution
	w := x.target.work(e.JobID)
	at, refused := x.target.begin(e, w)
	if refused {
		return entity.Failed(entity.ReasonError, "the token is old")
	}
	if w.lines {
		for _, line := range history.OutputLines(e.Attempt) {
			rep.Log(entity.LogStdout, line)
		}
	}
	timer := time.NewTimer(x.takes(w, e))
	defer timer.Stop()
	for {
		thawed, done := clock.thawed(), ctx.Done()
		if thawed != nil {
			done = nil // a frozen process does not hang up
		}
		select {
		case <-gone:
			x.target.end(at, history.AnswerCut)
			return entity.Failed(entity.ReasonShutdown, "the process has ended")
		case <-thawed:
		case <-timer.C:
			return x.answered(at, w, e)
		case <-done:
			if clock.thawed() == nil {
				x.target.end(at, history.AnswerCut)
				return stopped(ctx)
			}
		}
	}
}

// takes is how long an attempt takes.
func (x *executor) takes(w work, e *entity.Execution) time.Duration {
	d := w.least
	if span := int((w.most - w.least) / time.Millisecond); span > 0 {
		d += time.Duration(x.target.lot(w.name, "takes", e, span)) * time.Millisecond
	}
	if x.target.lot(w.name, "slow", e, 1000) < w.slow {
		d *= 10
	}
	return d
}

// answered is the end of a call; the node hears it when it can act.
func (x *executor) answered(at int, w work, e *entity.Execution) entity.Outcome {
	failed := e.Attempt-e.NodeLosses <= w.fails || x.target.lot(w.name, "fails", e, 1000) < w.often
	if failed {
		x.target.end(at, history.AnswerFailed)
	} else {
		x.target.end(at, history.AnswerOK)
	}
	x.life.clock.awaitThaw()
	if failed {
		return entity.Failed(entity.ReasonError, history.Mark(e.Attempt))
	}
	return entity.Succeeded("done")
}

// stopped is how an obedient executor reports that its run was told to stop.
func stopped(ctx context.Context) entity.Outcome {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, entity.ErrStopCancel):
		return entity.Outcome{Status: entity.StatusCancelled}
	case errors.Is(cause, entity.ErrStopTimeout):
		return entity.Outcome{Status: entity.StatusTimeout, Reason: entity.ReasonTimeout}
	default:
		return entity.Failed(entity.ReasonShutdown, "the node stops")
	}
}
