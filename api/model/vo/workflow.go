package vo

import (
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// WorkflowCheck is what is wrong with a workflow of a text.
type WorkflowCheck struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	// Steps is how many it has.
	Steps int `json:"steps"`
	// Good: it can be saved.
	Good     bool      `json:"good"`
	Faults   []Finding `json:"faults"`
	Warnings []Finding `json:"warnings"`
}

// NewWorkflowCheck makes the view of what was found of a workflow.
func NewWorkflowCheck(job *entity.Job, steps int, faults, warnings []apperror.Field) WorkflowCheck {
	return WorkflowCheck{
		Group: job.Group, Name: job.Name, Steps: steps, Good: len(faults) == 0,
		Faults: findings(faults), Warnings: findings(warnings),
	}
}

// Finding is something in a field of a text.
type Finding struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func findings(fields []apperror.Field) []Finding {
	out := make([]Finding, len(fields))
	for i, f := range fields {
		out[i] = Finding{Field: f.Field, Code: f.Code, Message: f.Message}
	}
	return out
}

// WorkflowChecks are those of a text.
type WorkflowChecks struct {
	Items []WorkflowCheck `json:"items"`
}
