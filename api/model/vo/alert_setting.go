package vo

import (
	"encoding/json"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// Rule says what is worth an alert, and where it goes.
type Rule struct {
	SettingHead
	Type            alert.RuleType `json:"type"`
	Level           alert.Level    `json:"level"`
	Scope           RuleScope      `json:"scope"`
	Threshold       float64        `json:"threshold"`
	WindowSec       int            `json:"windowSec"`
	ForSec          int            `json:"forSec"`
	KeepSec         int            `json:"keepSec"`
	ResolveAfterSec int            `json:"resolveAfterSec"`
	Notify          alert.Notify   `json:"notify"`
	Expression      string         `json:"expression"`
	ChannelIDs      []string       `json:"channelIds"`
	// Actions are what the rule does when an alert of it fires, with the rights of the editor.
	Actions []RuleAction      `json:"actions"`
	Labels  map[string]string `json:"labels"`
	// EditorID is the user who saved it last; "" for a rule of the first start.
	EditorID string `json:"editorId"`
	// Default names the rule of the first start that it is; such a rule cannot be deleted.
	Default string `json:"default"`
}

// RuleScope says which jobs a rule sees: those that all parts name. An empty part names all.
type RuleScope struct {
	JobIDs []string          `json:"jobIds"`
	Groups []string          `json:"groups"`
	Labels map[string]string `json:"labels"`
}

// RuleAction is what a rule does when one of its alerts fires.
type RuleAction struct {
	Kind alert.ActionKind `json:"kind"`
	// JobID is the job that RUN_JOB runs, and Params are those of its run.
	JobID  *string         `json:"jobId" extensions:"x-nullable"`
	Params json.RawMessage `json:"params" swaggertype:"object" extensions:"x-nullable"`
}

// FromRule makes the view of a rule.
func FromRule(r *alert.Rule) Rule {
	actions := make([]RuleAction, len(r.Actions))
	for i, a := range r.Actions {
		actions[i] = RuleAction{Kind: a.Kind, JobID: optional(a.JobID)}
		if len(a.Params) > 0 {
			actions[i].Params = a.Params
		}
	}
	return Rule{
		SettingHead: headOf(r.Head), Type: r.Type, Level: r.Level,
		Scope: RuleScope{
			JobIDs: whole(r.Scope.JobIDs), Groups: whole(r.Scope.Groups), Labels: texts(r.Scope.Labels),
		},
		Threshold: r.Threshold, WindowSec: r.WindowSec, ForSec: r.ForSec, KeepSec: r.KeepSec,
		ResolveAfterSec: r.ResolveAfterSec, Notify: r.Notify, Expression: r.Expression, ChannelIDs: whole(r.ChannelIDs),
		Actions: actions, Labels: texts(r.Labels), EditorID: r.EditorID, Default: r.Default,
	}
}

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

// Route says where alerts go.
type Route struct {
	SettingHead
	Position         int               `json:"position"`
	Match            map[string]string `json:"match"`
	ChannelIDs       []string          `json:"channelIds"`
	Continue         bool              `json:"continue"`
	GroupBy          []string          `json:"groupBy"`
	GroupWaitSec     int               `json:"groupWaitSec"`
	GroupIntervalSec int               `json:"groupIntervalSec"`
	RepeatSec        int               `json:"repeatSec"`
	EscalateAfterSec int               `json:"escalateAfterSec"`
	EscalateTo       []string          `json:"escalateTo"`
	OnCallID         string            `json:"onCallId"`
	TemplateID       string            `json:"templateId"`
}

// FromRoute makes the view of a route.
func FromRoute(r *alert.Route) Route {
	return Route{
		SettingHead: headOf(r.Head), Position: r.Position, Match: texts(r.Match), ChannelIDs: whole(r.ChannelIDs),
		Continue: r.Continue, GroupBy: whole(r.GroupBy), GroupWaitSec: r.GroupWaitSec, GroupIntervalSec: r.GroupIntervalSec,
		RepeatSec: r.RepeatSec, EscalateAfterSec: r.EscalateAfterSec, EscalateTo: whole(r.EscalateTo), OnCallID: r.OnCallID,
		TemplateID: r.TemplateID,
	}
}

// Team is people who take care together.
type Team struct {
	SettingHead
	Members    []string `json:"members"`
	ChannelIDs []string `json:"channelIds"`
}

// FromTeam makes the view of a team.
func FromTeam(t *alert.Team) Team {
	return Team{SettingHead: headOf(t.Head), Members: whole(t.Members), ChannelIDs: whole(t.ChannelIDs)}
}

// Contact is how one user is reached. Callers who may not edit it, and are not that user,
// see *** in the place of addresses.
type Contact struct {
	SettingHead
	UserID string `json:"userId"`
	Email  string `json:"email"`
	Phone  string `json:"phone"`
	ChatID string `json:"chatId"`
}

// FromContact makes the view of a contact for a caller.
func FromContact(v *alert.Contact, who entity.Principal) Contact {
	show := func(text string) string { return text }
	if v.UserID != who.User.ID && !permission.AllowsFor(who, permission.AlertWrite, v.Group) {
		show = func(text string) string {
			if text == "" {
				return ""
			}
			return "***"
		}
	}
	return Contact{
		SettingHead: headOf(v.Head), UserID: v.UserID, Email: show(v.Email), Phone: show(v.Phone), ChatID: show(v.ChatID),
	}
}

// OnCall says which team takes care, and when.
type OnCall struct {
	SettingHead
	TimeZone string  `json:"timeZone"`
	Shifts   []Shift `json:"shifts"`
}

// Shift is when a team is on call: on these days, from one time of the day until another.
type Shift struct {
	TeamID string `json:"teamId"`
	// Days are those on which the shift begins; none is every day.
	Days []string `json:"days" enums:"MON,TUE,WED,THU,FRI,SAT,SUN"`
	From string   `json:"from"`
	To   string   `json:"to"`
	// RotateDays: the members of the team take turns, each for so many days, beginning on
	// RotateFrom; with 0 all of them are on call.
	RotateDays int    `json:"rotateDays"`
	RotateFrom string `json:"rotateFrom"`
}

// FromOnCall makes the view of an on-call plan.
func FromOnCall(v *alert.OnCall) OnCall {
	out := OnCall{SettingHead: headOf(v.Head), TimeZone: v.TimeZone, Shifts: make([]Shift, len(v.Shifts))}
	for i, s := range v.Shifts {
		out.Shifts[i] = Shift{
			TeamID: s.TeamID, Days: []string{}, From: clockText(s.FromMin), To: clockText(s.ToMin), RotateDays: s.RotateDays,
			RotateFrom: s.RotateFrom,
		}
		for _, day := range s.Days {
			out.Shifts[i].Days = append(out.Shifts[i].Days,
				[]string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}[day%7])
		}
	}
	return out
}

// clockText is a minute of the day as people write it.
func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
