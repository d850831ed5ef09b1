package request

import (
	"net/http"
	"slices"

	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// WorkflowRetryBody is the body of POST /workflow-runs/{id}/retry, which may be empty.
type WorkflowRetryBody struct {
	// From are names of steps to repeat whatever they came to, with all that follow them.
	From []string `json:"from,omitempty" maxItems:"200"`
	// Reason is for people, and is kept in the audit log.
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

// ReadWorkflowRetry reads the body of POST /workflow-runs/{id}/retry.
func ReadWorkflowRetry(r *http.Request) (WorkflowRetryBody, error) {
	return readAnyBody(r, func(body *WorkflowRetryBody, f *faults) {
		body.From = slices.Compact(slices.Sorted(slices.Values(body.From)))
		if len(body.From) > wf.MaxSteps {
			f.add("from", "too_many", "must name at most %d steps", wf.MaxSteps)
		}
		f.comment("reason", body.Reason)
	})
}
