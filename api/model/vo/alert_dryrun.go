package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Valid is the answer to a definition that has no fault.
type Valid struct {
	Valid bool `json:"valid"`
}

// DryRun is what a rule would have raised in the past.
type DryRun struct {
	// From and To are the span that was looked at. From is later than asked for where a bound
	// was reached.
	From Time `json:"from" format:"date-time"`
	To   Time `json:"to" format:"date-time"`
	// Alerts are the first 200 that there would have been, the oldest first; Total is how
	// many there would have been, and Evidence how many pieces of evidence.
	Alerts   []DryAlert `json:"alerts"`
	Total    int        `json:"total"`
	Evidence int        `json:"evidence"`
	// Executions and Metrics are how many rows were looked at.
	Executions int `json:"executions"`
	Metrics    int `json:"metrics"`
	// Truncated: a bound was reached, so that there may be more.
	Truncated bool `json:"truncated"`
	// Notes say in which way the past tells less than the present.
	Notes []string `json:"notes"`
}

// DryAlert is an alert that there would have been.
type DryAlert struct {
	Status      alert.Status      `json:"status" enums:"PENDING,FIRING,ACKNOWLEDGED,RESOLVED"`
	AlertLevel  alert.Level       `json:"alertLevel"`
	Group       *string           `json:"group" extensions:"x-nullable"`
	JobID       *string           `json:"jobId" extensions:"x-nullable"`
	ExecutionID *string           `json:"executionId" extensions:"x-nullable"`
	NodeID      *string           `json:"nodeId" extensions:"x-nullable"`
	Content     string            `json:"content"`
	Details     map[string]string `json:"details"`
	Labels      map[string]string `json:"labels"`
	Count       int               `json:"count"`
	StartTime   Time              `json:"startTime" format:"date-time" extensions:"x-nullable"`
	LastTime    Time              `json:"lastTime" format:"date-time" extensions:"x-nullable"`
	EndTime     Time              `json:"endTime" format:"date-time" extensions:"x-nullable"`
}

// FromDryRun makes the view of a dry run.
func FromDryRun(r *dryrun.Report) DryRun {
	v := DryRun{
		From: Time(r.From), To: Time(r.To), Alerts: make([]DryAlert, len(r.Alerts)), Total: r.Total, Evidence: r.Evidence,
		Executions: r.Executions, Metrics: r.Metrics, Truncated: r.Truncated, Notes: whole(r.Notes),
	}
	for i, a := range r.Alerts {
		v.Alerts[i] = DryAlert{
			Status: a.Status, AlertLevel: a.Level, Group: optional(a.Group), JobID: optional(a.JobID),
			ExecutionID: optional(a.ExecutionID), NodeID: optional(a.NodeID), Content: a.Content, Details: texts(a.Details),
			Labels: texts(a.Labels), Count: a.Count, StartTime: Time(a.StartTime), LastTime: Time(a.LastTime),
			EndTime: Time(a.EndTime),
		}
	}
	return v
}
