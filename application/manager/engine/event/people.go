package event

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// The types of events that tell of a workflow run that stands for people. Their key is the workflow.
const (
	TypeStepHeld        = "step.held"
	TypeApprovalWaiting = "approval.waiting"
)

// PeopleData is the data of both.
type PeopleData struct {
	WorkflowID string `json:"workflowId"`
	JobName    string `json:"jobName"`
	Group      string `json:"group"`
	Owner      string `json:"owner,omitempty"`
	RunID      string `json:"runId"`
	StepKey    string `json:"stepKey"`
	// ExecutionID is that of the step.
	ExecutionID string `json:"executionId"`
	// Until is when the run goes on without anybody.
	Until time.Time `json:"until"`
	// Text is what voters are asked, and Need how many have to approve; a step that is held has neither.
	Text string `json:"text,omitempty"`
	Need int    `json:"need,omitempty"`
}

// ForPeople is the event that a run stands for people now. Its id is computed from the execution, which is held, or
// asks, once.
func ForPeople(kind string, d PeopleData, readers entity.EventReaders, now time.Time) entity.Event {
	payload, err := json.Marshal(d)
	if err != nil { // a time outside years 0–9999
		payload = []byte(fmt.Sprintf(`{"workflowId":%q,"executionId":%q}`, d.WorkflowID, d.ExecutionID))
	}
	return entity.Event{
		ID: kind + ":" + d.ExecutionID, Topic: entity.TopicJobs, Key: d.WorkflowID, Type: kind, Payload: string(payload),
		CreateTime: now, Readers: readers,
	}
}
