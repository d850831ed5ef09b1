package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/workflowrun"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// WorkflowRetryPlan is what a retry of a workflow run would do.
type WorkflowRetryPlan struct {
	// Repeated and Reused count the steps.
	Repeated int `json:"repeated"`
	Reused   int `json:"reused"`
	// Steps are those of the definition, in its order.
	Steps []WorkflowRetryStep `json:"steps"`
}

// WorkflowRetryStep is what a retry would do with a step.
type WorkflowRetryStep struct {
	Step string `json:"step"`
	Kind string `json:"kind" enums:"http,command,custom,job,approval,wait"`
	// State and reason are what the step came to in the run that is repeated.
	State  string        `json:"state" enums:"NOT_DECIDED,WAITING,RUNNING,SUCCESS,FAILED,TIMEOUT,CANCELLED,SKIPPED,DEAD"`
	Reason entity.Reason `json:"reason"`
	// Action is REPEAT, or REUSE for a step whose end the new run takes over.
	Action string `json:"action" enums:"REPEAT,REUSE"`
	// Cause says why: the last four are those of REUSE.
	Cause string `json:"cause" enums:"FINALLY,NAMED,NOT_DECIDED,FAILED,NOT_RUN,FOLLOWS,SKIPPED,APPROVED,ITEMS,SUCCEEDED"`
	// Follows is the repeated step that it follows, for that cause, and null for others.
	Follows *string `json:"follows" extensions:"x-nullable"`
	// Why says in words why.
	Why string `json:"why"`
}

// FromWorkflowRetryPlan makes the view of a plan.
func FromWorkflowRetryPlan(p *workflowrun.RetryPlan) WorkflowRetryPlan {
	return WorkflowRetryPlan{
		Repeated: p.Repeated, Reused: p.Reused,
		Steps: convert.All(p.Steps, func(s workflowrun.PlannedStep) WorkflowRetryStep {
			return WorkflowRetryStep{
				Step: s.Name, Kind: string(s.Kind), State: s.State, Reason: s.Reason, Action: string(s.Action()),
				Cause: string(s.Cause), Follows: optional(s.Follows), Why: s.Why,
			}
		}),
	}
}
