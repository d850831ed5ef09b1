package vo

import "github.com/platform-scheduler/platform-scheduler/application/service/execution"

// MaxRetryJobs bounds the jobs that a plan names.
const MaxRetryJobs = 200

// BulkRetry is the answer to a wish to run executions again.
type BulkRetry struct {
	Bulk
	// PlanID starts the executions of the plan or, where there are more, the rest of them. It is empty where there are
	// none.
	PlanID string `json:"planId,omitempty"`
	// Plan is what a dry run has counted.
	Plan *RetryPlan `json:"plan,omitempty"`
}

// RetryPlan counts the executions that would run again, and those that would not.
type RetryPlan struct {
	Total int `json:"total"`
	// JobCount is how many jobs they belong to; Jobs are at most 200, most executions first.
	JobCount int          `json:"jobCount"`
	Jobs     []FailureJob `json:"jobs"`
	Causes   []RetryCause `json:"causes"`
	LeftOut  RetryLeftOut `json:"leftOut"`
	// Complete is false where there are older failures in the span that were not looked at.
	Complete bool `json:"complete"`
	// Until is when the plan expires.
	Until Time `json:"until" format:"date-time"`
}

// RetryCause is a cause of executions that would run again: their reasons and messages are alike.
type RetryCause struct {
	Cause  string  `json:"cause"`
	Reason *string `json:"reason" extensions:"x-nullable"`
	Count  int     `json:"count"`
	// LastExecutionID is the newest of them, with its message.
	LastExecutionID string  `json:"lastExecutionId"`
	Message         *string `json:"message" extensions:"x-nullable"`
}

// RetryLeftOut counts the executions that a plan leaves out.
type RetryLeftOut struct {
	// RunAgain were run again before.
	RunAgain int `json:"runAgain"`
	// SucceededSince are of jobs of which a later fire succeeded.
	SucceededSince int `json:"succeededSince"`
	// Deleted are of deleted jobs.
	Deleted int `json:"deleted"`
}

// FromRerun makes the view of a plan; names are those of jobs, by id.
func FromRerun(p execution.RerunPlan, names map[string]string) *RetryPlan {
	v := &RetryPlan{
		Total: len(p.IDs), JobCount: len(p.Jobs), Jobs: []FailureJob{}, Causes: []RetryCause{}, Complete: p.Complete,
		LeftOut: RetryLeftOut{RunAgain: p.Repeated, SucceededSince: p.Succeeded, Deleted: p.Deleted},
	}
	for _, j := range p.Jobs[:min(len(p.Jobs), MaxRetryJobs)] {
		v.Jobs = append(v.Jobs, FailureJob{j.ID, optional(names[j.ID]), j.Count})
	}
	for _, c := range p.Causes {
		v.Causes = append(v.Causes, RetryCause{
			Cause: c.Cause, Reason: optional(string(c.Reason)), Count: c.Count, LastExecutionID: c.Last.ID,
			Message: optional(c.Last.ErrorMessage),
		})
	}
	return v
}
