package worker

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/ending"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/sdk"
	"github.com/platform-scheduler/platform-scheduler/sdk/worker/internal/attempts"
)

// The bounds of the texts of an end, in bytes.
const (
	maxResult  = 64 << 10
	maxMessage = 4 << 10
)

// attempt is a run that this worker holds, until the receipt of its end. It is the sink of its handler.
type attempt struct {
	attempts.Run
	data   runData
	cancel context.CancelCauseFunc
	// tell says that there is something to report; at once says that it should not wait for more.
	tell  func(atOnce bool)
	began time.Duration

	mu         sync.Mutex
	lines      lines
	progress   *int
	checkpoint *string
	// said counts changes of progress and checkpoint, heard is up to which of them a server has.
	said, heard int
	end         *end
	ended       time.Duration
	// bare: a server refused what this attempt reports, so its end goes without anything else.
	bare bool
}

// Log implements sdk.Sink.
func (a *attempt) Log(text string) {
	a.mu.Lock()
	if a.end != nil {
		a.mu.Unlock()
		return
	}
	a.lines.add(text)
	full := a.lines.bytes >= sentLines
	a.mu.Unlock()
	a.tell(full)
}

// Progress implements sdk.Sink.
func (a *attempt) Progress(percent int) { a.say(func() { a.progress = &percent }) }

// Checkpoint implements sdk.Sink.
func (a *attempt) Checkpoint(state string) {
	state = validation.Text(state, entity.MaxCheckpoint)
	a.say(func() { a.checkpoint = &state })
}

func (a *attempt) say(change func()) {
	a.mu.Lock()
	if a.end != nil {
		a.mu.Unlock()
		return
	}
	change()
	a.said++
	a.mu.Unlock()
	a.tell(false)
}

// run calls the handler and returns what the attempt came to.
func (a *attempt) run(ctx context.Context, handler sdk.Handler, now time.Time) (o entity.Outcome, code *int) {
	// A handler that ends its goroutine must not take the run's end with it; the caller sends the outcome all the same.
	o = entity.Failed(entity.ReasonPanic, "the handler ended its goroutine instead of returning")
	defer func() {
		if value := recover(); value != nil {
			var lines string
			o, lines = ending.Panicked(value, debug.Stack())
			a.Log(lines)
		}
	}()
	run := sdk.NewRun(a.info(now), a)
	err := handler.Handle(ctx, run)
	if err == nil {
		return entity.Succeeded(run.Result()), nil
	}
	o = entity.Failed(entity.ReasonError, err.Error())
	o.Result = run.Result()
	o.NoRetry = sdk.IsFatal(err)
	o.RetryAfter, _ = sdk.RetryDelay(err)
	var exit interface{ ExitCode() int }
	if a.Kind == attempts.Command && errors.As(err, &exit) && ctx.Err() == nil {
		n := exit.ExitCode()
		o.Reason, code = entity.ReasonExitCode, &n
	}
	return ending.Of(o, context.Cause(ctx)), code
}

func (a *attempt) info(now time.Time) sdk.RunInfo {
	d := a.data
	info := sdk.RunInfo{
		ExecutionID: d.ExecutionID, JobID: d.JobID, JobName: d.JobName, ScheduledTime: d.ScheduledTime.UTC(),
		Attempt: d.Attempt, ShardIndex: d.ShardIndex, ShardTotal: d.ShardTotal, FencingToken: d.FencingToken,
		IdempotencyKey: d.IdempotencyKey, Params: object(d.Params), JobData: object(d.Data), Checkpoint: d.Checkpoint,
		TraceParent: d.TraceParent,
	}
	if d.TimeoutMs > 0 {
		info.Deadline = now.Add(millis(d.TimeoutMs)).UTC()
	}
	return info
}

// finish notes the end of the attempt.
func (a *attempt) finish(o entity.Outcome, code *int, now time.Duration) {
	status := string(o.Status)
	switch {
	case o.Reason == entity.ReasonShutdown:
		status = "RELEASED"
	case o.Status == entity.StatusWaiting:
		status = attempts.Returned
	}
	e := &end{
		Status: status, Result: validation.Text(o.Result, maxResult), Message: validation.Text(o.Message, maxMessage),
		Reason: reasonOf(o), ExitCode: code, NoRetry: o.NoRetry, RetryAfterMs: o.RetryAfter.Milliseconds(),
		AskedMs: o.Asked.Milliseconds(), CPUMs: o.Usage.CPUMs, PeakKb: o.Usage.PeakKb,
	}
	a.close(e, now)
}

func (a *attempt) close(e *end, now time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e.DurationMs = (now - a.began).Milliseconds()
	a.end, a.ended = e, now
}

// item is what a report says of the attempt now, and whether that is all; some is false where there is nothing to say.
func (a *attempt) item(now time.Duration) (item reportItem, said int, all, some bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	item = reportItem{ExecutionID: a.Execution, Token: a.Token, Attempt: a.data.Attempt}
	all = true
	if !a.bare {
		if from, out, whole := a.lines.next(); len(out) > 0 {
			item.LineFrom, item.Lines, all, some = from, out, whole, true
		}
		if a.said > a.heard || a.end != nil && a.end.Status == "RELEASED" {
			item.Progress, item.Checkpoint = a.progress, a.checkpoint
			some = true
		}
	}
	if a.end != nil && all { // what the handler said goes before its end
		e := *a.end
		e.AgoMs = (now - a.ended).Milliseconds()
		if a.bare {
			e.Result, e.Message = "", "the server refused the report of this run with its texts"
		}
		item.End, some = &e, true
	}
	return item, a.said, all, some
}

// heardOf takes what the answer to a report says of the attempt. It reports whether lines are left to be sent.
func (a *attempt) heardOf(said int, line int64) (left bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = max(a.heard, said)
	a.lines.confirm(line)
	return len(a.lines.kept) > 0
}

// object is nil for an object that is not there.
func object(text json.RawMessage) json.RawMessage {
	if string(text) == "null" {
		return nil
	}
	return text
}
