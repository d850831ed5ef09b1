package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/approval"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// Approval is a step of a workflow run that waits for people, or waited.
type Approval struct {
	// ExecutionID is that of the step; votes name it.
	ExecutionID string `json:"executionId"`
	RunID       string `json:"runId"`
	WorkflowID  string `json:"workflowId"`
	Workflow    string `json:"workflow"`
	Group       string `json:"group"`
	// Step is its key in the run.
	Step string `json:"step"`
	Text string `json:"text"`
	// Status is that of the execution: WAITING while the approval is open, SUCCESS where it was approved, FAILED where it
	// was rejected (reason REJECTED) or not decided in time, and CANCELLED or SKIPPED where its run was stopped.
	Status entity.Status `json:"status"`
	Reason entity.Reason `json:"reason"`
	// Need is how many must approve, Approved how many have.
	Need     int    `json:"need"`
	Approved int    `json:"approved"`
	Votes    []Vote `json:"votes"`
	// OnTimeout is what it comes to at TimeoutTime, if nobody decides.
	OnTimeout   wf.OnTimeout `json:"onTimeout"`
	OpenedTime  Time         `json:"openedTime" format:"date-time"`
	TimeoutTime Time         `json:"timeoutTime" format:"date-time"`
	DecidedTime Time         `json:"decidedTime" format:"date-time" extensions:"x-nullable"`
	// MayVote: the caller has a vote and has not cast it.
	MayVote bool `json:"mayVote"`
}

// Vote is the word of one person.
type Vote struct {
	User     string      `json:"user"`
	Decision wf.Decision `json:"decision"`
	Comment  string      `json:"comment"`
	Time     Time        `json:"time" format:"date-time"`
}

// FromApproval shows one.
func FromApproval(a approval.Approval) Approval {
	return Approval{
		ExecutionID: a.ExecutionID, RunID: a.RunID, WorkflowID: a.WorkflowID, Workflow: a.Workflow, Group: a.Group,
		Step: a.StepKey, Text: a.Text, Status: a.Execution.Status, Reason: a.Execution.Reason, Need: a.Need,
		Approved: wf.Approvals(a.Votes), OnTimeout: a.OnTimeout,
		Votes: convert.All(a.Votes, func(v wf.Vote) Vote {
			return Vote{User: v.User, Decision: v.Decision, Comment: v.Comment, Time: Time(v.Time)}
		}),
		OpenedTime: Time(a.OpenedTime), TimeoutTime: Time(a.Until), DecidedTime: Time(a.Execution.EndTime),
		MayVote: a.MayVote,
	}
}
