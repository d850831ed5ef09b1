package vo

import (
	"cmp"
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Execution is one run, or the record that a fire was not run.
type Execution struct {
	ID            string         `json:"id"`
	JobID         string         `json:"jobId"`
	JobName       string         `json:"jobName"`
	FireKey       string         `json:"fireKey"`
	ScheduledTime Time           `json:"scheduledTime" format:"date-time"`
	Trigger       entity.Trigger `json:"trigger"`
	// TriggeredBy is the user who asked for the run, or "schedule";
	// TriggeredByToken is the API token that spoke for the user.
	TriggeredBy      string        `json:"triggeredBy"`
	TriggeredByToken *string       `json:"triggeredByToken" extensions:"x-nullable"`
	ShardIndex       int           `json:"shardIndex"`
	ShardTotal       int           `json:"shardTotal"`
	Status           entity.Status `json:"status"`
	Reason           entity.Reason `json:"reason"`
	// WaitsFor is what a WAITING execution waits for, and empty for others. SLOT: a free
	// slot. NODE: a node that is up and carries its labels. COMMAND: a node that runs
	// commands. HANDLER: a node, or a worker, that has its handler. WORKER: a worker of
	// its group that is up and carries its labels. TIME: its time. JOB and GROUP:
	// the limit of its job or group.
	WaitsFor entity.Wait `json:"waitsFor"`
	// WaitsOn is the node in whose queue a WAITING run waits, and empty for others.
	WaitsOn string `json:"waitsOn"`
	// NodeID is the node that runs or ran it, or on which it waits.
	NodeID string `json:"nodeId"`
	// Detached: it runs without a node, until its target reports the end or the
	// deadline has come, which is null for all others.
	Detached   bool `json:"detached"`
	Deadline   Time `json:"deadline" format:"date-time" extensions:"x-nullable"`
	Attempt    int  `json:"attempt"`
	RetryCount int  `json:"retryCount"`
	// Epoch is the life of the node that holds or held the run; FencingToken is
	// what the attempt was given, and grows with each.
	Epoch        int64 `json:"epoch"`
	FencingToken int64 `json:"fencingToken"`
	Priority     int   `json:"priority"`
	StartTime    Time  `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime      Time  `json:"endTime" format:"date-time" extensions:"x-nullable"`
	// DurationMs is null until the run has ended, LatenessMs until it started.
	DurationMs   *int64  `json:"durationMs" extensions:"x-nullable"`
	LatenessMs   *int64  `json:"latenessMs" extensions:"x-nullable"`
	Progress     int     `json:"progress"`
	ErrorMessage string  `json:"errorMessage"`
	Result       string  `json:"result"`
	RetryOf      *string `json:"retryOf" extensions:"x-nullable"`
	// StartedBy is the execution whose end has started this one (docs/chains.md), and null for others.
	StartedBy  *string `json:"startedBy" extensions:"x-nullable"`
	JobVersion int     `json:"jobVersion"`
	// SkipFrom, SkipTo and SkipCount describe a range [from, to) of fires.
	SkipFrom   Time `json:"skipFrom" format:"date-time" extensions:"x-nullable"`
	SkipTo     Time `json:"skipTo" format:"date-time" extensions:"x-nullable"`
	SkipCount  int  `json:"skipCount"`
	CreateTime Time `json:"createTime" format:"date-time"`
	UpdateTime Time `json:"updateTime" format:"date-time"`
}

// FromExecution makes the view of a run; names maps job ids to names.
func FromExecution(e *entity.Execution, names map[string]string) Execution {
	v := Execution{
		ID: e.ID, JobID: e.JobID, JobName: names[e.JobID], FireKey: e.FireKey,
		ScheduledTime: Time(e.ScheduledTime), Trigger: e.Trigger,
		ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal, Status: e.Status, Reason: e.Reason,
		WaitsFor: e.Claim.WaitsFor(), WaitsOn: e.Claim.WaitsOn(), NodeID: cmp.Or(e.NodeID, e.Claim.WaitsOn()),
		Attempt: e.Attempt, RetryCount: e.RetryCount, Priority: e.Priority, StartTime: Time(e.StartTime),
		EndTime:  Time(e.EndTime),
		Progress: e.Progress, ErrorMessage: e.ErrorMessage, Result: e.Result, RetryOf: optional(e.RetryOf),
		JobVersion: e.JobVersion,
		SkipFrom:   Time(e.SkipFrom), SkipTo: Time(e.SkipTo), SkipCount: e.SkipCount,
		CreateTime: Time(e.CreateTime), UpdateTime: Time(e.UpdateTime),
		TriggeredBy: triggeredBy(e), TriggeredByToken: optional(e.TriggeredBy.Token), Detached: e.Detached(),
		Epoch: e.Epoch, FencingToken: e.FencingToken(),
	}
	_, startedBy, _ := identity.OfNextKey(e.FireKey)
	v.StartedBy = optional(startedBy)
	if until, ok := e.Claim.DetachedUntil(); ok {
		v.Deadline = Time(until)
	}
	if e.Unreadable != "" && v.ErrorMessage == "" {
		v.ErrorMessage = "what the store holds of the run cannot be read: " + e.Unreadable
	}
	if !e.StartTime.IsZero() {
		late := e.Lateness().Milliseconds()
		v.LatenessMs = &late
		if e.Status.Final() {
			took := e.Duration.Milliseconds()
			v.DurationMs = &took
		}
	}
	return v
}

// bySchedule is who triggered what the schedule fires.
const bySchedule = "schedule"

// triggeredBy is empty for runs of which it is not known any more.
func triggeredBy(e *entity.Execution) string {
	if e.TriggeredBy.User == "" && (e.Trigger == entity.TriggerSchedule || e.Trigger == entity.TriggerMisfire) {
		return bySchedule
	}
	return e.TriggeredBy.User
}

// ExecutionDetail is one run with the texts that lists leave out for their size.
type ExecutionDetail struct {
	Execution
	// Params are those given with the trigger, Checkpoint what the latest attempt
	// kept last.
	Params     json.RawMessage `json:"params" swaggertype:"object" extensions:"x-nullable"`
	Checkpoint string          `json:"checkpoint"`
	// Output is what the run returned, as JSON: the result where that is JSON,
	// else {"text": …}; of a command that reported none {"exitCode", "text"}.
	Output any `json:"output" extensions:"x-nullable"`
	// Usage is what the latest attempt of a command took, and null for others and until it has ended.
	Usage *Usage `json:"usage" extensions:"x-nullable"`
	// Started are the runs that the end of the fire has started, one for each job that follows.
	Started []StartedRun `json:"started"`
}

// StartedRun is a run that the end of another job's fire has started.
type StartedRun struct {
	ID      string        `json:"id"`
	JobID   string        `json:"jobId"`
	JobName string        `json:"jobName"`
	Status  entity.Status `json:"status" enums:"WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD"`
}

// Usage is what an attempt of a command took of its node.
type Usage struct {
	// CPUMs is the processor time of its process and of those that it waited for, in ms.
	CPUMs int64 `json:"cpuMs"`
	// PeakKb is the most memory in use at once, in KiB: of the run where its control group tells, else of its
	// largest process.
	PeakKb int64 `json:"peakKb"`
}

func fromUsage(u entity.Usage) *Usage {
	if u == (entity.Usage{}) {
		return nil
	}
	return &Usage{CPUMs: u.CPUMs, PeakKb: u.PeakKb}
}

// LastSuccess is the last successful execution before another one of its job.
type LastSuccess struct {
	Execution *Execution `json:"execution" extensions:"x-nullable"`
	// Complete is false where not all executions before it were looked at.
	Complete bool `json:"complete"`
}

// FromExecutionDetail makes the view of a run with all its texts.
func FromExecutionDetail(e *entity.Execution, names map[string]string, usage entity.Usage,
	started []*entity.Execution,
) ExecutionDetail {
	runs := make([]StartedRun, len(started))
	for i, s := range started {
		runs[i] = StartedRun{ID: s.ID, JobID: s.JobID, JobName: names[s.JobID], Status: s.Status}
	}
	return ExecutionDetail{
		Started:   runs,
		Execution: FromExecution(e, names), Params: rawOrNull(e.Params), Checkpoint: e.Checkpoint,
		Output: output(e.Result, e.ExitCode), Usage: fromUsage(usage),
	}
}

func rawOrNull(text string) json.RawMessage {
	if text == "" || !json.Valid([]byte(text)) {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// output makes JSON of what an attempt returned. A text always marshals.
func output(result string, exitCode *int) json.RawMessage {
	var out []byte
	switch {
	case exitCode != nil:
		out, _ = json.Marshal(struct {
			ExitCode int    `json:"exitCode"`
			Text     string `json:"text"`
		}{*exitCode, result})
	case result == "" || json.Valid([]byte(result)):
		return rawOrNull(result)
	default:
		out, _ = json.Marshal(struct {
			Text string `json:"text"`
		}{result})
	}
	return out
}

// Attempt is an attempt of a run.
type Attempt struct {
	Attempt      int           `json:"attempt"`
	Status       entity.Status `json:"status"`
	Reason       entity.Reason `json:"reason"`
	NodeID       string        `json:"nodeId"`
	StartTime    Time          `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime      Time          `json:"endTime" format:"date-time" extensions:"x-nullable"`
	ErrorMessage string        `json:"errorMessage"`
	Progress     int           `json:"progress"`
	Result       string        `json:"result"`
	// Output and usage are as those of the run.
	Output any    `json:"output" extensions:"x-nullable"`
	Usage  *Usage `json:"usage" extensions:"x-nullable"`
}

// FromAttempts makes the view of attempts.
func FromAttempts(attempts []entity.Attempt) []Attempt {
	out := make([]Attempt, len(attempts))
	for i, a := range attempts {
		out[i] = Attempt{
			Attempt: a.Attempt, Status: a.Status, Reason: a.Reason, NodeID: a.NodeID,
			StartTime: Time(a.StartTime), EndTime: Time(a.EndTime), ErrorMessage: a.ErrorMessage,
			Progress: a.Progress, Result: a.Result,
			Output: output(a.Result, a.ExitCode), Usage: fromUsage(a.Usage),
		}
	}
	return out
}

// DeadLetter is a run that waits for a person.
type DeadLetter struct {
	// ID is the execution's: it is what replay takes.
	ID          string        `json:"id"`
	ExecutionID string        `json:"executionId"`
	JobID       string        `json:"jobId"`
	JobName     string        `json:"jobName"`
	Reason      entity.Reason `json:"reason"`
	Message     string        `json:"message"`
	// ReplayedAs is the run that a replay made, null while untouched.
	ReplayedAs *string `json:"replayedAs" extensions:"x-nullable"`
	CreateTime Time    `json:"createTime" format:"date-time"`
}

// FromDeadLetter makes the view of a dead letter.
func FromDeadLetter(d entity.DeadLetter, names map[string]string) DeadLetter {
	return DeadLetter{
		ID: d.ExecutionID, ExecutionID: d.ExecutionID, JobID: d.JobID, JobName: names[d.JobID], Reason: d.Reason,
		Message: d.Message, ReplayedAs: optional(d.ReplayedAs), CreateTime: Time(d.CreateTime),
	}
}

// Fire is one line of the fire ledger.
type Fire struct {
	FireKey       string `json:"fireKey"`
	ScheduledTime Time   `json:"scheduledTime" format:"date-time"`
	Outcome       string `json:"outcome" enums:"PLANNED,WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD"`
	// WaitsFor is what a WAITING fire waits for, and empty for others.
	WaitsFor     entity.Wait   `json:"waitsFor"`
	Reason       entity.Reason `json:"reason"`
	Message      string        `json:"message"`
	LatenessMs   int64         `json:"latenessMs"`
	ExecutionIDs []string      `json:"executionIds"`
	Replays      []string      `json:"replays"`
	// RangeEnd and Count are null for a single fire; the range is
	// [scheduledTime, rangeEnd). CountAtLeast marks a count that hit its bound.
	RangeEnd     Time `json:"rangeEnd" format:"date-time" extensions:"x-nullable"`
	Count        *int `json:"count" extensions:"x-nullable"`
	CountAtLeast bool `json:"countAtLeast"`
	// StartedBy is the execution whose end has started the fire, and null for others.
	StartedBy *string `json:"startedBy" extensions:"x-nullable"`
}

// FromFires makes the view of ledger lines.
func FromFires(entries []entity.LedgerEntry) []Fire {
	out := make([]Fire, len(entries))
	for i, e := range entries {
		out[i] = Fire{
			FireKey: e.FireKey, ScheduledTime: Time(e.ScheduledTime), Outcome: e.Outcome, WaitsFor: e.WaitsFor, Reason: e.Reason,
			Message: e.Message, LatenessMs: e.LatenessMs,
			ExecutionIDs: whole(e.ExecutionIDs), Replays: whole(e.Replays), RangeEnd: Time(e.RangeEnd),
			CountAtLeast: e.CountAtLeast, StartedBy: optional(e.StartedBy),
		}
		if !e.RangeEnd.IsZero() {
			count := e.Count
			out[i].Count = &count
		}
	}
	return out
}
