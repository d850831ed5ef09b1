package sdk

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sharding"
)

// RunInfo is what a handler is told about the attempt that it runs.
type RunInfo struct {
	// ExecutionID is the run; it stays the same over automatic retries.
	ExecutionID string
	JobID       string
	JobName     string
	// ScheduledTime is the time that the schedule names, in UTC, however late
	// the run started. It is what "the day to be settled" derives from.
	ScheduledTime time.Time
	// Attempt counts starts of the run, from 1.
	Attempt int
	// ShardIndex is this run's share of the work, 0 to ShardTotal-1.
	ShardIndex int
	ShardTotal int
	// FencingToken grows with every claim of the run, and for jobs with one run at a time also
	// from fire to fire. A target that remembers the greatest number seen can refuse an attempt
	// that was replaced.
	FencingToken int64
	// IdempotencyKey is the same over all attempts and replays of one piece of
	// work.
	IdempotencyKey string
	// Params is the JSON object given with a trigger; nil when there is none.
	Params json.RawMessage
	// JobData is the JSON object of the job's definition; nil when it is empty.
	JobData json.RawMessage
	// Checkpoint is what the attempt before this one kept last.
	Checkpoint string
	// Deadline is when the attempt runs out of time, in UTC; zero where its job
	// sets no limit.
	Deadline time.Time
	// TraceParent is the value of a traceparent header (W3C Trace Context). The
	// trace is the run, the span the attempt.
	TraceParent string
}

// Sink takes what a handler says while it runs. It is safe for concurrent use.
type Sink interface {
	// Log records one line in the run's log.
	Log(line string)
	// Progress records how far the work is, 0–100.
	Progress(percent int)
	// Checkpoint keeps a string that the next attempt, perhaps on another node, reads with
	// LastCheckpoint. Each call replaces the former string. It is stored within half a second, not
	// before the call returns. So a node that dies may lose the last one. Over 64 KiB it is cut.
	Checkpoint(state string)
}

// Run is one attempt, as its handler sees it. Its methods are safe for
// concurrent use, and do nothing of note once the handler has returned.
type Run struct {
	info RunInfo
	sink Sink

	mu         sync.Mutex
	logger     *slog.Logger
	result     string
	checkpoint string
}

// NewRun makes a Run for an adapter or for the test of a handler. A nil sink
// discards what the handler says.
func NewRun(info RunInfo, sink Sink) *Run {
	if sink == nil {
		sink = discard{}
	}
	return &Run{info: info, sink: sink, checkpoint: info.Checkpoint}
}

type discard struct{}

func (discard) Log(string)        {}
func (discard) Progress(int)      {}
func (discard) Checkpoint(string) {}

// ExecutionID is the id of the run, the same over automatic retries.
func (r *Run) ExecutionID() string { return r.info.ExecutionID }

// JobID is the id of the job.
func (r *Run) JobID() string { return r.info.JobID }

// JobName is the name of the job, for people.
func (r *Run) JobName() string { return r.info.JobName }

// ScheduledTime is the time that the schedule names, in UTC.
func (r *Run) ScheduledTime() time.Time { return r.info.ScheduledTime }

// Attempt counts starts of the run, from 1.
func (r *Run) Attempt() int { return r.info.Attempt }

// ShardIndex is the share of the work that is this run's, 0 to ShardTotal-1.
func (r *Run) ShardIndex() int { return r.info.ShardIndex }

// ShardTotal is the number of shares of the fire; 1 for plain jobs.
func (r *Run) ShardTotal() int { return r.info.ShardTotal }

// Range is the half-open range of item numbers that this run has to do, when count items are
// spread over the shares of the fire. It begins with item from and ends before item to. Each item
// is in exactly one share, neighbours stay together, and the sizes differ by at most one; a share
// may be empty. All runs of the fire must call it with the same count. List the items in a stable
// order, such as by key.
func (r *Run) Range(count int) (from, to int) {
	return sharding.Shard{Index: r.info.ShardIndex, Total: max(r.info.ShardTotal, 1)}.Range(count)
}

// FencingToken lets a target refuse attempts that were replaced; see RunInfo.
func (r *Run) FencingToken() int64 { return r.info.FencingToken }

// IdempotencyKey is the same over all attempts and replays of the work.
func (r *Run) IdempotencyKey() string { return r.info.IdempotencyKey }

// Deadline is when the attempt runs out of time, in UTC; ok is false where its
// job sets no limit. The context of the handler ends then.
func (r *Run) Deadline() (at time.Time, ok bool) { return r.info.Deadline, !r.info.Deadline.IsZero() }

// TraceParent goes into the header traceparent of calls that the handler makes,
// so that what they cause belongs to the run's trace (W3C Trace Context).
func (r *Run) TraceParent() string { return r.info.TraceParent }

// Params is the JSON object given with a trigger, or nil. Do not change it.
func (r *Run) Params() json.RawMessage { return r.info.Params }

// JobData is the JSON object of the job's definition, or nil. Do not change it.
func (r *Run) JobData() json.RawMessage { return r.info.JobData }

// Decode fills v, a pointer, from the job's data and then lays the trigger's
// params over it: what a trigger gives wins, field by field. Fields that v
// does not know are ignored. The error is Fatal, since data that does not fit
// now will not fit at the next attempt either.
func (r *Run) Decode(v any) error { return r.decode(v, false) }

// Progress records how far the work is; what is outside 0–100 is moved to the
// nearer end.
func (r *Run) Progress(percent int) { r.sink.Progress(min(max(percent, 0), 100)) }

// Checkpoint keeps a string that the next attempt, perhaps on another node, reads
// with LastCheckpoint. Each call replaces the former string. It is stored within
// half a second, not before the call returns. So a node that dies may lose the
// last one. Over 64 KiB it is cut.
func (r *Run) Checkpoint(state string) {
	r.mu.Lock()
	r.checkpoint = state
	r.mu.Unlock()
	r.sink.Checkpoint(state)
}

// LastCheckpoint is the latest checkpoint: this attempt's, or before its first
// the one that the former attempt left. Empty: there is none.
func (r *Run) LastCheckpoint() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checkpoint
}

// SetResult keeps what the run returns, for people and programs that ask the API. The last call
// counts, and the result is shown whether the run succeeds or fails. Over 64 KiB it is cut.
func (r *Run) SetResult(result string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = result
}

// Result is what SetResult was given last.
func (r *Run) Result() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result
}
