package vo

import (
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
)

// WorkflowRun is one passage through a workflow.
type WorkflowRun struct {
	// ID is that of its root execution.
	ID         string `json:"id"`
	WorkflowID string `json:"workflowId"`
	Workflow   string `json:"workflow"`
	Group      string `json:"group"`
	// Version is that of the workflow to which the run keeps.
	Version int `json:"version"`
	// Phase is where the run itself stands, whatever its steps do.
	Phase string `json:"phase" enums:"OPEN,PAUSED,CANCELLING,CLOSED"`
	// Status, reason, message and times are those of the root.
	Status       entity.Status `json:"status"`
	Reason       entity.Reason `json:"reason"`
	ErrorMessage string        `json:"errorMessage"`
	// Problem says why a run is paused that nobody paused, and is empty for others.
	Problem       string         `json:"problem"`
	Trigger       entity.Trigger `json:"trigger"`
	ScheduledTime Time           `json:"scheduledTime" format:"date-time"`
	StartTime     Time           `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime       Time           `json:"endTime" format:"date-time" extensions:"x-nullable"`
	// WakeTime is the next moment at which something follows from the time alone.
	WakeTime Time              `json:"wakeTime" format:"date-time" extensions:"x-nullable"`
	Counts   WorkflowRunCounts `json:"counts"`
}

// WorkflowRunCounts says where the steps of a run stand. Each step is in one of them, beside total.
type WorkflowRunCounts struct {
	Total   int `json:"total"`
	Success int `json:"success"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	// Live steps have an execution that has not ended; waiting ones are not decided yet.
	Live    int `json:"live"`
	Waiting int `json:"waiting"`
	// Held steps failed, and wait for a person.
	Held int `json:"held"`
}

// FromWorkflowRun makes the view of a run.
func FromWorkflowRun(r workflowrun.Run) WorkflowRun {
	return WorkflowRun{
		ID: r.ID, WorkflowID: r.WorkflowID, Workflow: r.Workflow.Name, Group: r.Workflow.Group, Version: r.Version,
		Phase: r.Phase.String(), Status: r.Root.Status, Reason: r.Root.Reason, ErrorMessage: r.Root.ErrorMessage,
		Problem: r.Problem, Trigger: r.Root.Trigger, ScheduledTime: Time(r.Root.ScheduledTime),
		StartTime: Time(r.Root.StartTime), EndTime: Time(r.Root.EndTime), WakeTime: Time(r.Wake),
		Counts: WorkflowRunCounts(r.Counts),
	}
}

// WorkflowRunDetail is a run with its parameters and steps.
type WorkflowRunDetail struct {
	WorkflowRun
	// RetryOf is the run that this one repeats, and null for others.
	RetryOf *string         `json:"retryOf" extensions:"x-nullable"`
	Params  json.RawMessage `json:"params" swaggertype:"object" extensions:"x-nullable"`
	// Steps are those of the definition, in its order.
	Steps []WorkflowStep `json:"steps"`
}

// WorkflowStep is where a step of a run stands.
type WorkflowStep struct {
	Step string `json:"step"`
	Kind string `json:"kind" enums:"http,command,custom,job,approval,wait"`
	// State is the status of its execution, or NOT_DECIDED while it has none.
	State  string        `json:"state" enums:"NOT_DECIDED,WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD"`
	Reason entity.Reason `json:"reason"`
	// Held: it failed, and waits for a person until heldUntil.
	Held      bool `json:"held"`
	HeldUntil Time `json:"heldUntil" format:"date-time" extensions:"x-nullable"`
	// ExecutionID is that of the latest generation, the first shard of a job with shards; empty where there is none.
	ExecutionID string `json:"executionId"`
	StartTime   Time   `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime     Time   `json:"endTime" format:"date-time" extensions:"x-nullable"`
	// Generation counts from 1; each repetition by hand begins another one.
	Generation int `json:"generation"`
	// Items are those of a map that was started, and null for others.
	Items *WorkflowItems `json:"items" extensions:"x-nullable"`
}

// WorkflowItems says what became of the items of a map.
type WorkflowItems struct {
	Total   int `json:"total"`
	Success int `json:"success"`
	Failed  int `json:"failed"`
	// NotRun never began.
	NotRun int `json:"notRun"`
	Live   int `json:"live"`
}

func itemsOf(c *workflow.Counts) *WorkflowItems {
	if c == nil {
		return nil
	}
	return &WorkflowItems{Total: c.Total, Success: c.Succeeded, Failed: c.Failed, NotRun: c.NotRun, Live: c.Live}
}

// FromWorkflowRunDetail makes the view of a run with its steps.
func FromWorkflowRunDetail(d *workflowrun.Detail) WorkflowRunDetail {
	return WorkflowRunDetail{
		WorkflowRun: FromWorkflowRun(d.Run), RetryOf: optional(d.Root.RetryOf), Params: rawOrNull(d.Root.Params),
		Steps: convert.All(d.Steps, func(s workflowrun.Step) WorkflowStep {
			return WorkflowStep{
				Step: s.Name, Kind: string(s.Kind), State: s.State, Reason: s.Reason, Held: !s.HeldUntil.IsZero(),
				HeldUntil: Time(s.HeldUntil), ExecutionID: s.ExecutionID, StartTime: Time(s.Start), EndTime: Time(s.End),
				Generation: s.Generation, Items: itemsOf(s.Items),
			}
		}),
	}
}

// StepExecution is an execution of a step.
type StepExecution struct {
	// Step is its key: NAME, NAME[17] for an item, NAME~2 for the second generation.
	Step        string        `json:"step"`
	ExecutionID string        `json:"executionId"`
	JobID       string        `json:"jobId"`
	ShardIndex  int           `json:"shardIndex"`
	ShardTotal  int           `json:"shardTotal"`
	Status      entity.Status `json:"status"`
	Reason      entity.Reason `json:"reason"`
	// WaitsFor is what a WAITING one waits for, and empty for others.
	WaitsFor     entity.Wait `json:"waitsFor"`
	ErrorMessage string      `json:"errorMessage"`
	NodeID       string      `json:"nodeId"`
	Attempt      int         `json:"attempt"`
	Progress     int         `json:"progress"`
	StartTime    Time        `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime      Time        `json:"endTime" format:"date-time" extensions:"x-nullable"`
}

// FromStepExecution makes the view of an execution of a step.
func FromStepExecution(e workflowrun.StepExecution) StepExecution {
	return StepExecution{
		Step: e.Key.String(), ExecutionID: e.ID, JobID: e.JobID, ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal,
		Status: e.Status, Reason: e.Reason, WaitsFor: e.Claim.WaitsFor(), ErrorMessage: e.ErrorMessage, NodeID: e.NodeID,
		Attempt: e.Attempt, Progress: e.Progress, StartTime: Time(e.StartTime), EndTime: Time(e.EndTime),
	}
}
