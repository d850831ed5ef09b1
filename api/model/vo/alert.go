package vo

import (
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Alert is one episode of something that a rule found.
type Alert struct {
	ID          string         `json:"id"`
	Fingerprint string         `json:"fingerprint"`
	AlertType   alert.RuleType `json:"alertType"`
	AlertLevel  alert.Level    `json:"alertLevel"`
	Status      alert.Status   `json:"status" enums:"PENDING,FIRING,ACKNOWLEDGED,RESOLVED"`
	RuleID      string         `json:"ruleId"`
	// RuleVersion is the version of the rule that raised it.
	RuleVersion int `json:"ruleVersion"`
	// Group is that of the job; null: the alert is about the cluster.
	Group   *string `json:"group" extensions:"x-nullable"`
	JobID   *string `json:"jobId" extensions:"x-nullable"`
	JobName *string `json:"jobName" extensions:"x-nullable"`
	// ExecutionID is that of the first evidence, LastExecutionID that of the latest.
	ExecutionID     *string `json:"executionId" extensions:"x-nullable"`
	LastExecutionID *string `json:"lastExecutionId" extensions:"x-nullable"`
	NodeID          *string `json:"nodeId" extensions:"x-nullable"`
	// Content is one sentence; Details are its numbers.
	Content string            `json:"content"`
	Details map[string]string `json:"details"`
	Labels  map[string]string `json:"labels"`
	// RunbookURL leads to the page that says what to do at an alert of the type.
	RunbookURL string `json:"runbookUrl"`
	// Count is how many pieces of evidence the episode has.
	Count int `json:"count"`
	// PendingSince is when the condition was seen first, StartTime when it had held for long
	// enough, LastTime when it was seen latest, EndTime when the episode ended.
	PendingSince Time `json:"pendingSince" format:"date-time" extensions:"x-nullable"`
	StartTime    Time `json:"startTime" format:"date-time" extensions:"x-nullable"`
	LastTime     Time `json:"lastTime" format:"date-time" extensions:"x-nullable"`
	EndTime      Time `json:"endTime" format:"date-time" extensions:"x-nullable"`
	// Resolution says why the episode ended, ResolvedBy by whom if a person did it.
	Resolution *string `json:"resolution" extensions:"x-nullable"`
	ResolvedBy *string `json:"resolvedBy" extensions:"x-nullable"`
	AckedBy    *string `json:"ackedBy" extensions:"x-nullable"`
	AckTime    Time    `json:"ackTime" format:"date-time" extensions:"x-nullable"`
	// Comment is what the person said who acknowledged or resolved it last.
	Comment    *string         `json:"comment" extensions:"x-nullable"`
	CreateTime Time            `json:"createTime" format:"date-time"`
	UpdateTime Time            `json:"updateTime" format:"date-time"`
	Deliveries []AlertDelivery `json:"deliveries"`
	// Actions are what the rule did when the alert fired.
	Actions []AlertAction `json:"actions"`
}

// AlertAction is one action of a rule for an alert.
type AlertAction struct {
	Kind alert.ActionKind `json:"kind"`
	// Target is the id of the job, the execution or the node.
	Target *string           `json:"target" extensions:"x-nullable"`
	State  alert.ActionState `json:"state" enums:"OPEN,DONE,REFUSED,FAILED"`
	// Code says why it is not done.
	Code *string `json:"code" extensions:"x-nullable"`
	// Result is the id of the execution that it started, or says why it is not done.
	Result *string `json:"result" extensions:"x-nullable"`
	// EditorID is the user whose rights it had.
	EditorID   *string `json:"editorId" extensions:"x-nullable"`
	CreateTime Time    `json:"createTime" format:"date-time"`
	EndTime    Time    `json:"endTime" format:"date-time" extensions:"x-nullable"`
}

// AlertDelivery is a message about an alert, with an attempt to send it.
type AlertDelivery struct {
	// MessageID is the same for all attempts to send the message.
	MessageID string `json:"messageId"`
	ChannelID string `json:"channelId"`
	// ChannelName is null where the channel was deleted.
	ChannelName *string `json:"channelName" extensions:"x-nullable"`
	// State is that of the message; SUPPRESSED: it was held back, and Why says by what.
	State string  `json:"state" enums:"OPEN,SENT,DEAD,SUPPRESSED"`
	Why   *string `json:"why" extensions:"x-nullable"`
	// Naming says of a SENT message whether it named the alert, or had no room for it and told of a number of
	// others. It is null where nobody knows: a former release has sent it.
	Naming *string `json:"naming" enums:"NAMED,COUNTED" extensions:"x-nullable"`
	// Attempts is how many there were; Attempt counts from 1, and is 0 before the first.
	Attempts int `json:"attempts"`
	Attempt  int `json:"attempt"`
	// Result is null while the attempt goes on.
	Result *string `json:"result" enums:"SENT,REFUSED,FAILED,UNKNOWN" extensions:"x-nullable"`
	// Code and Message say why an attempt failed.
	Code      *string `json:"code" extensions:"x-nullable"`
	Message   *string `json:"message" extensions:"x-nullable"`
	NodeID    *string `json:"nodeId" extensions:"x-nullable"`
	StartTime Time    `json:"startTime" format:"date-time" extensions:"x-nullable"`
	EndTime   Time    `json:"endTime" format:"date-time" extensions:"x-nullable"`
	// NextTry is when an open message is tried next.
	NextTry    Time `json:"nextTry" format:"date-time" extensions:"x-nullable"`
	CreateTime Time `json:"createTime" format:"date-time"`
}

// FromAlert makes the view of an alert.
func FromAlert(s alerting.Shown) Alert {
	a := s.Alert
	v := Alert{
		ID: a.ID, Fingerprint: a.Fingerprint, AlertType: a.Type, AlertLevel: a.Level, Status: a.Status, RuleID: a.RuleID,
		RuleVersion: a.RuleVersion, Group: optional(a.Group), JobID: optional(a.JobID), JobName: optional(s.JobName),
		ExecutionID: optional(a.ExecutionID), LastExecutionID: optional(a.LastExecutionID), NodeID: optional(a.NodeID),
		Content: a.Content, Details: texts(a.Details), Labels: texts(a.Labels),
		RunbookURL: a.Type.RunbookURL(), Count: a.Count,
		PendingSince: Time(a.PendingSince), StartTime: Time(a.StartTime), LastTime: Time(a.LastTime),
		EndTime:    Time(a.EndTime),
		Resolution: optional(string(a.Resolution)), ResolvedBy: optional(a.ResolvedBy), AckedBy: optional(a.AckedBy),
		AckTime: Time(a.AckTime), Comment: optional(a.Comment), CreateTime: Time(a.CreateTime),
		UpdateTime: Time(a.UpdateTime), Deliveries: make([]AlertDelivery, len(s.Deliveries)),
	}
	for i, d := range s.Deliveries {
		v.Deliveries[i] = fromDelivery(d)
	}
	v.Actions = make([]AlertAction, len(s.Actions))
	for i, d := range s.Actions {
		v.Actions[i] = AlertAction{
			Kind: d.Kind, Target: optional(d.Target), State: d.State, Code: optional(d.Code), Result: optional(d.Result),
			EditorID: optional(d.Editor), CreateTime: Time(d.CreateTime), EndTime: Time(d.EndTime),
		}
	}
	return v
}

func fromDelivery(d repository.AlertDelivery) AlertDelivery {
	v := AlertDelivery{
		MessageID: d.ID, ChannelID: d.ChannelID, ChannelName: optional(d.ChannelName), State: string(d.State),
		Why: optional(d.Why), Attempts: d.Attempts, Attempt: d.Attempt, Result: optional(string(d.Result)),
		Code: optional(d.Code), Message: optional(d.Message), NodeID: optional(d.NodeID), StartTime: Time(d.StartTime),
		EndTime: Time(d.EndTime), CreateTime: Time(d.CreateTime), Naming: optional(string(d.Naming)),
	}
	if d.State == alert.NotificationOpen {
		v.NextTry = Time(d.NextTry)
	}
	return v
}

// texts is a map that is never null.
func texts(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
