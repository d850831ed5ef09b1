package vo

import (
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Group is a group of jobs. The one that stands for all jobs has no name.
type Group struct {
	Name           string `json:"name"`
	MaxConcurrency int    `json:"maxConcurrency"`
	Paused         bool   `json:"paused"`
	// Settled: every job follows Paused. Until then some are being changed.
	Settled    bool `json:"settled"`
	Version    int  `json:"version"`
	CreateTime Time `json:"createTime" format:"date-time"`
	// UpdateTime is null until the group was changed.
	UpdateTime Time `json:"updateTime" format:"date-time" extensions:"x-nullable"`
	Pause
}

// FromGroup makes the view of a group.
func FromGroup(g entity.Group) Group {
	v := Group{
		Name: g.Name, MaxConcurrency: g.MaxConcurrency, Paused: g.Paused, Settled: g.Converged,
		Version: g.Version, CreateTime: Time(g.CreateTime), UpdateTime: Time(g.UpdateTime),
	}
	if g.Paused {
		v.Pause = fromPause(g.PausedAt, g.Pause)
	}
	return v
}

// DeadLetterCause is dead letters of one job that ended for one reason and
// wait for a person.
type DeadLetterCause struct {
	JobID   string        `json:"jobId"`
	JobName string        `json:"jobName"`
	Reason  entity.Reason `json:"reason"`
	Count   int           `json:"count"`
	// FirstTime is when the oldest of them died; LatestTime, LatestExecutionID
	// and Message are of the newest.
	FirstTime         Time   `json:"firstTime" format:"date-time"`
	LatestTime        Time   `json:"latestTime" format:"date-time"`
	LatestExecutionID string `json:"latestExecutionId"`
	Message           string `json:"message"`
}

// FromCause makes the view of a cause; names are those of the jobs.
func FromCause(c repository.DeadLetterCause, names map[string]string) DeadLetterCause {
	return DeadLetterCause{
		JobID: c.JobID, JobName: names[c.JobID], Reason: c.Reason, Count: c.Count, FirstTime: Time(c.First),
		LatestTime: Time(c.Latest.CreateTime), LatestExecutionID: c.Latest.ExecutionID, Message: c.Latest.Message,
	}
}

// BulkItem is what became of one object of a bulk action.
type BulkItem struct {
	ID string `json:"id"`
	OK bool   `json:"ok"`
	// Code and Message say why not.
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	// ExecutionIDs are the runs that the action made.
	ExecutionIDs []string `json:"executionIds,omitempty"`
}

// Bulk is the answer to a bulk action.
type Bulk struct {
	Items     []BulkItem `json:"items"`
	Succeeded int        `json:"succeeded"`
	Failed    int        `json:"failed"`
	// More: a filter met more objects than one call treats; call again.
	More bool `json:"more"`
}
