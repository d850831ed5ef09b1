package entity

import (
	"cmp"
	"time"
)

// Trigger says why a run exists.
type Trigger string

// The triggers.
const (
	TriggerSchedule Trigger = "SCHEDULE"
	TriggerManual   Trigger = "MANUAL"
	TriggerAPI      Trigger = "API"
	TriggerRetry    Trigger = "RETRY"
	TriggerMisfire  Trigger = "MISFIRE"
	// TriggerDependency is the end of another job's fire.
	TriggerDependency Trigger = "DEPENDENCY"
)

// Triggers lists every trigger.
func Triggers() []Trigger {
	return []Trigger{TriggerSchedule, TriggerManual, TriggerAPI, TriggerRetry, TriggerMisfire, TriggerDependency}
}

// Reason explains a state other than success.
type Reason string

// The reasons of the contract.
const (
	ReasonNone         Reason = ""
	ReasonOverlap      Reason = "OVERLAP"
	ReasonQueueFull    Reason = "QUEUE_FULL"
	ReasonReplaced     Reason = "REPLACED"
	ReasonMisfire      Reason = "MISFIRE"
	ReasonPaused       Reason = "PAUSED"
	ReasonNoNode       Reason = "NO_NODE"
	ReasonDeadline     Reason = "DEADLINE"
	ReasonNodeLost     Reason = "NODE_LOST"
	ReasonShutdown     Reason = "SHUTDOWN"
	ReasonExitCode     Reason = "EXIT_CODE"
	ReasonHTTPStatus   Reason = "HTTP_STATUS"
	ReasonBodyMismatch Reason = "BODY_MISMATCH"
	// ReasonRedirected: the target redirected a call that is not sent on, as it may have had its effect. It is not
	// retried.
	ReasonRedirected Reason = "REDIRECTED"
	ReasonPanic      Reason = "PANIC"
	ReasonInvalid    Reason = "INVALID"
	ReasonDeleted    Reason = "DELETED"
	// ReasonSecretMissing: the definition names a secret that does not exist, or
	// that is not for the jobs of its group. It is not retried.
	ReasonSecretMissing Reason = "SECRET_MISSING"
	// ReasonTimeout is the cause of an attempt that ran out of time; the
	// status TIMEOUT says the same of a run.
	ReasonTimeout Reason = "TIMEOUT"
	// ReasonError is a failure that the executor reported without a more
	// precise reason, such as a handler's error or a refused connection.
	ReasonError Reason = "ERROR"
)

// The reasons of steps of workflows and of their roots (docs/workflows.md).
const (
	ReasonCondition       Reason = "CONDITION"
	ReasonUpstreamFailed  Reason = "UPSTREAM_FAILED"
	ReasonUpstreamSkipped Reason = "UPSTREAM_SKIPPED"
	ReasonRunCancelled    Reason = "RUN_CANCELLED"
	ReasonRunStopped      Reason = "RUN_STOPPED"
	ReasonStepFailed      Reason = "STEP_FAILED"
	ReasonFinallyFailed   Reason = "FINALLY_FAILED"
	ReasonRejected        Reason = "REJECTED"
	ReasonOutputTooLarge  Reason = "OUTPUT_TOO_LARGE"
	ReasonOperator        Reason = "OPERATOR"
	ReasonReused          Reason = "REUSED"
)

// Execution is one run of one shard of one fire, or the record that a fire (or
// a range of fires) was not run. Retries by the engine stay in the row.
type Execution struct {
	// ID is computed from the fire for planned fires and random otherwise
	// (engine rules 1 and 2).
	ID            string
	JobID         string
	FireKey       string
	ScheduledTime time.Time
	// DueTime is the scheduled time plus the job's jitter; lateness counts
	// from it. For other triggers it is the moment the run may first start.
	DueTime    time.Time
	Trigger    Trigger
	ShardIndex int
	ShardTotal int
	JobVersion int
	Priority   int
	// Params is the JSON object given with a trigger, or empty.
	Params string
	// TriggeredBy is who asked for the run; nobody for what the schedule fires.
	// Only readers of executions know it, the engine does not.
	TriggeredBy Actor
	// Parent is the span that asked for the run (W3C Trace Context); empty for all runs that
	// are a trace of their own. The node that claims the run knows it, and the code that shows it.
	Parent TraceContext
	// Holds are those of its attempts. The node that claims the run knows them, and nobody else.
	Holds []Hold

	Status Status
	Reason Reason
	// NodeID, Epoch and Token name the holder of the row; every write after
	// the claim is conditional on them (engine rule 19).
	NodeID string
	Epoch  int64
	Token  int64
	// JobFence is the job-wide fencing number of the fire; 0 for plain jobs.
	JobFence int64
	// Attempt counts starts, from 1; RetryCount those that followed a failure;
	// NodeLosses those that followed the loss of a node.
	Attempt    int
	RetryCount int
	NodeLosses int
	// Claim is the row's position in the claim index; empty when final.
	Claim ClaimKey
	// StartDeadline is the moment after which the run must not start; zero: none.
	StartDeadline time.Time
	// CancelRequested asks the holder to stop the run.
	CancelRequested bool

	StartTime    time.Time
	EndTime      time.Time
	Duration     time.Duration
	Progress     int
	Checkpoint   string
	ErrorMessage string
	Result       string
	// ExitCode is that of a command that reported no result of its own, so that
	// Result is its output; nil for all others. Only readers of executions know it.
	ExitCode *int

	// RetryOf is the run that this one repeats by hand; RootID the first of
	// that chain, which is the idempotency key handed to targets.
	RetryOf string
	RootID  string

	// SkipFrom, SkipTo and SkipCount describe a range row: the scheduled times
	// in [SkipFrom, SkipTo) that were not run. SkipAtLeast marks a count that
	// reached its bound.
	SkipFrom    time.Time
	SkipTo      time.Time
	SkipCount   int
	SkipAtLeast bool

	CreateTime time.Time
	UpdateTime time.Time
	// SuccessAsked: somebody is to be told if it succeeds. It is known while an end is
	// stored, and not stored itself.
	SuccessAsked bool
	// Decided: the decision of its workflow run ends it, and owes nothing for that. It is not stored either.
	Decided bool
	// OwesNothing: no other job follows this end, by the definition that it ran by. It is not stored either; where it is
	// not set, nobody has looked yet.
	OwesNothing bool

	// Waited: it is the root of a workflow run that was paused, or stood still for a person. It is known while the end is
	// stored, and not stored here.
	Waited bool

	// Unreadable says what of the stored row cannot be read; empty is nothing.
	Unreadable string
}

// IsRange reports whether the row stands for all scheduled times of a span. Their
// number may be unknown: then SkipCount is 0 and SkipAtLeast set.
func (e *Execution) IsRange() bool { return !e.SkipTo.IsZero() }

// Detached reports whether the run goes on without a node.
func (e *Execution) Detached() bool { return e.Status == StatusRunning && e.Claim.Detached() }

// Open reports whether it is an open workflow run.
func (e *Execution) Open() bool { return e.Status == StatusRunning && OpenSpan().Of(e.Claim) }

// IdempotencyKey is the same over attempts and replays of one piece of work.
func (e *Execution) IdempotencyKey() string {
	if e.RootID != "" {
		return e.RootID
	}
	return e.ID
}

// FencingToken is the number for the handler. It grows with every claim. For jobs with one
// run at a time it also grows from fire to fire. A target that remembers the greatest
// number refuses every zombie. The low 16 bits hold the row's own token.
func (e *Execution) FencingToken() int64 {
	if e.JobFence == 0 {
		return e.Token
	}
	return e.JobFence<<16 | min(e.Token, 0xffff)
}

// Lateness is start minus due; zero while the run has not started.
func (e *Execution) Lateness() time.Duration {
	if e.StartTime.IsZero() {
		return 0
	}
	return e.StartTime.Sub(e.DueTime)
}

// HeldAs reports whether the execution runs as mine says: under its node, epoch and
// token. A reader of that state may still write it (engine rule 19).
func (e *Execution) HeldAs(mine *Execution) bool {
	return e.Status == StatusRunning && e.NodeID == mine.NodeID && e.Epoch == mine.Epoch && e.Token == mine.Token
}

// IDsOf returns the ids of executions, in their order.
func IDsOf(execs []*Execution) []string {
	ids := make([]string, len(execs))
	for i, e := range execs {
		ids[i] = e.ID
	}
	return ids
}

// JobIDsOf returns the ids of the jobs of executions, in the order of these; an id
// comes as often as its job has executions.
func JobIDsOf(execs []*Execution) []string {
	ids := make([]string, len(execs))
	for i, e := range execs {
		ids[i] = e.JobID
	}
	return ids
}

// Definitions are what executions go by: steps of workflow runs by the id of the execution, all others by that of the
// job.
type Definitions map[string]*Job

// Of is the definition of an execution: the current one of its job, and for a step that of the version of its workflow
// run. It is nil where that does not exist any more.
func (d Definitions) Of(e *Execution) *Job {
	if e.Inline() {
		return d[e.ID]
	}
	return d[e.JobID]
}

// JobOf is the definition of an execution. Of a deleted job no more than its id is left.
func JobOf(e *Execution, d Definitions) *Job {
	if job := d.Of(e); job != nil {
		return job
	}
	return &Job{ID: e.JobID}
}

// ByPosition orders waiting executions of several queues: as they are to be claimed.
func ByPosition(a, b *Execution) int {
	return cmp.Or(cmp.Compare(a.Claim.SortKey(), b.Claim.SortKey()), cmp.Compare(a.ID, b.ID))
}

// ByID returns executions by their ids.
func ByID(execs []*Execution) map[string]*Execution {
	byID := make(map[string]*Execution, len(execs))
	for _, e := range execs {
		byID[e.ID] = e
	}
	return byID
}
