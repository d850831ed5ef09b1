// Package event makes the outbox rows that accompany changes of state (engine
// rule 24, see docs/rules.md).
package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// TypeExecutionFinal is the type of an execution's last event.
const TypeExecutionFinal = "execution.final"

// ExecutionData is the data of an execution's event, in the names of the API.
type ExecutionData struct {
	ExecutionID string `json:"executionId"`
	JobID       string `json:"jobId"`
	// JobName, Group and Owner describe the job when the run ended. They are absent where the node that ended it does not
	// hold the definition.
	JobName       string         `json:"jobName,omitempty"`
	Group         string         `json:"group,omitempty"`
	Owner         string         `json:"owner,omitempty"`
	FireKey       string         `json:"fireKey"`
	ScheduledTime time.Time      `json:"scheduledTime"`
	Trigger       entity.Trigger `json:"trigger"`
	ShardIndex    int            `json:"shardIndex"`
	ShardTotal    int            `json:"shardTotal"`
	Status        entity.Status  `json:"status"`
	Reason        entity.Reason  `json:"reason,omitempty"`
	Attempt       int            `json:"attempt"`
	ErrorMessage  string         `json:"errorMessage,omitempty"`
	SkipCount     int            `json:"skipCount,omitempty"`
	// NodeID is the node of the last attempt. StartTime and DurationMs are those of that attempt; a fire that
	// was not run has none.
	NodeID     string     `json:"nodeId,omitempty"`
	StartTime  *time.Time `json:"startTime,omitempty"`
	DurationMs *int64     `json:"durationMs,omitempty"`
	// WorkflowID, RunID and StepKey say of a step where it belongs; all others have none. The workflow is absent where the
	// node that ended the step does not know it, and where a job has run for a step.
	WorkflowID string `json:"workflowId,omitempty"`
	RunID      string `json:"runId,omitempty"`
	StepKey    string `json:"stepKey,omitempty"`
}

// Final is the event of an execution that has reached its final state. Its id is computed from execution, attempt and
// status, so that a consumer recognises a repetition (engine rule 24). job is nil where this node does not hold it.
func Final(e *entity.Execution, job *entity.Job, now time.Time) entity.Event {
	return final(e, job, workflow.StepRow{}, now)
}

// final is Final; step says which step of which workflow it is, and job is then the workflow.
func final(e *entity.Execution, job *entity.Job, step workflow.StepRow, now time.Time) entity.Event {
	data := ExecutionData{
		ExecutionID: e.ID, JobID: e.JobID, FireKey: e.FireKey, ScheduledTime: e.ScheduledTime.UTC(),
		Trigger: e.Trigger, ShardIndex: e.ShardIndex, ShardTotal: e.ShardTotal, Status: e.Status,
		Reason: e.Reason, Attempt: e.Attempt, ErrorMessage: e.ErrorMessage, SkipCount: e.SkipCount,
		NodeID: e.NodeID,
	}
	if job != nil {
		data.JobName, data.Group, data.Owner = job.Name, job.Group, job.Owner
		if step.ID != "" {
			data.JobName += "/" + step.Name
		}
	}
	data.WorkflowID = step.WorkflowID
	data.RunID, data.StepKey, _ = e.StepOf()
	if !e.StartTime.IsZero() {
		start, took := e.StartTime.UTC(), e.Duration.Milliseconds()
		data.StartTime, data.DurationMs = &start, &took
	}
	payload, err := json.Marshal(data)
	if err != nil {
		// Every field is a string, a number or a time of this era: only a
		// time outside years 0–9999 can fail, and validation refuses those.
		payload = []byte(fmt.Sprintf(`{"executionId":%q}`, e.ID))
	}
	return entity.Event{
		ID:         fmt.Sprintf("%s:%d:%s", e.ID, e.Attempt, e.Status),
		Topic:      entity.TopicExecutions,
		Key:        e.JobID,
		Type:       TypeExecutionFinal,
		Payload:    string(payload),
		CreateTime: now,
	}
}
