package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
)

// FailureJob is a job that failed for a cause.
type FailureJob struct {
	JobID string `json:"jobId"`
	// JobName is null where the job is gone.
	JobName *string `json:"jobName" extensions:"x-nullable"`
	Count   int     `json:"count"`
}

// FailureCause is failures that share a reason.
type FailureCause struct {
	// Reason is why they ended; null where nothing says it.
	Reason *string `json:"reason" extensions:"x-nullable"`
	Count  int     `json:"count"`
	// JobCount is how many jobs failed so; Jobs are at most five, most failures first.
	JobCount int          `json:"jobCount"`
	Jobs     []FailureJob `json:"jobs"`
	// LastExecutionID is the newest of them, with its end and its message.
	LastExecutionID string  `json:"lastExecutionId"`
	LastTime        Time    `json:"lastTime" format:"date-time" extensions:"x-nullable"`
	Message         *string `json:"message" extensions:"x-nullable"`
}

// Failures are the newest failures by cause, most first.
type Failures struct {
	From Time `json:"from" format:"date-time"`
	To   Time `json:"to" format:"date-time"`
	// Complete is false where there are more failures in the span than were looked at.
	Complete bool           `json:"complete"`
	Items    []FailureCause `json:"items"`
}

// FromFailures makes the view of failures; names are those of jobs, by id.
func FromFailures(f execution.Failures, names map[string]string) Failures {
	v := Failures{From: Time(f.From), To: Time(f.To), Complete: f.Complete, Items: make([]FailureCause, len(f.Causes))}
	for i, c := range f.Causes {
		item := FailureCause{
			Reason: optional(string(c.Reason)), Count: c.Count, JobCount: c.JobCount, Jobs: make([]FailureJob, len(c.Jobs)),
			LastExecutionID: c.Last.ID, LastTime: Time(c.Last.EndTime), Message: optional(c.Last.ErrorMessage),
		}
		for k, j := range c.Jobs {
			item.Jobs[k] = FailureJob{j.ID, optional(names[j.ID]), j.Count}
		}
		v.Items[i] = item
	}
	return v
}
