package vo

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// SettingHead is what all definitions of alerting have.
//
// A definition is a head and the entity, whose fields are body, answer and stored document. Request reads bodies into
// the same structs. A field that stands beside the entity is shown in another form than it is stored, or not stored.
type SettingHead struct {
	Name string `json:"name" maxLength:"100"`
	// Group is that of the jobs it is for, for good; null is all groups, which only callers who are bound to none may
	// say. In an edit, absent is the one that it has.
	Group   *string `json:"group" validate:"optional" maxLength:"100" extensions:"x-nullable"`
	Enabled bool    `json:"enabled" validate:"optional" default:"true"`
	// Version is the one that was read, for edits; If-Match may name it instead.
	Version    int    `json:"version" validate:"optional" minimum:"0"`
	ID         string `json:"id" validate:"optional" readonly:"true"`
	CreateTime Time   `json:"createTime" validate:"optional" format:"date-time" readonly:"true"`
	UpdateTime Time   `json:"updateTime" validate:"optional" format:"date-time" readonly:"true"`
}

func headOf(h alert.Head) SettingHead {
	return SettingHead{
		ID: h.ID, Name: h.Name, Group: optional(h.Group), Enabled: h.Enabled, Version: h.Version,
		CreateTime: Time(h.CreateTime), UpdateTime: Time(h.UpdateTime),
	}
}

// Head is what callers say of it.
func (h SettingHead) Head() alert.Head {
	head := alert.Head{Name: h.Name, Enabled: h.Enabled}
	if h.Group != nil {
		head.Group = *h.Group
	}
	return head
}

// filled is a document without lists and maps that are null.
func filled[T any](document T) T {
	fill(reflect.ValueOf(&document).Elem())
	return document
}

func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case f.Kind() == reflect.Struct:
			fill(f)
		case f.Kind() == reflect.Slice && f.IsNil():
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		case f.Kind() == reflect.Map && f.IsNil():
			f.Set(reflect.MakeMap(f.Type()))
		}
	}
}

// Rule says what is worth an alert, and where it goes.
type Rule struct {
	SettingHead
	alert.Rule
	// Actions are what the rule does when an alert of it fires. They have the rights of the
	// user who saved the rule last, who must hold them on each target.
	Actions []RuleAction `json:"actions" validate:"optional" maxItems:"5"`
	// SuspendedUntil is when the rule works again, which has cost too much; null: it works.
	SuspendedUntil Time `json:"suspendedUntil" validate:"optional" readonly:"true" format:"date-time" extensions:"x-nullable"`
}

// RuleAction is what a rule does when one of its alerts fires. Its document leaves out what it has not.
type RuleAction struct {
	Kind alert.ActionKind `json:"kind"`
	// JobID is the job that RUN_JOB runs, and Params are those of its run; the other kinds have none.
	JobID  *string         `json:"jobId" validate:"optional" extensions:"x-nullable"`
	Params json.RawMessage `json:"params" validate:"optional" swaggertype:"object" extensions:"x-nullable"`
}

// FromRule makes the view of a rule.
func FromRule(r *alert.Rule) Rule {
	actions := make([]RuleAction, len(r.Actions))
	for i, a := range r.Actions {
		actions[i] = RuleAction{a.Kind, optional(a.JobID), a.Params}
	}
	return Rule{headOf(r.Head), filled(*r), actions, Time(r.SuspendedUntil)}
}

// Route says where alerts go.
type Route struct {
	SettingHead
	alert.Route
}

// FromRoute makes the view of a route.
func FromRoute(r *alert.Route) Route { return Route{headOf(r.Head), filled(*r)} }

// Silence holds back the messages of matching alerts for a time. It needs a name only if somebody is to know it by one.
type Silence struct {
	SettingHead
	alert.Silence
	// From is now where it is absent; To is at most 366 days later.
	From Time `json:"from" validate:"optional" format:"date-time"`
	To   Time `json:"to" format:"date-time"`
	// Active: it holds now.
	Active bool `json:"active" validate:"optional" readonly:"true"`
	// Warnings name jobs and groups that the silence matches and that are not there. Lists have none.
	Warnings []Warning `json:"warnings,omitempty" readonly:"true"`
}

// FromSilence makes the view of a silence at a moment.
func FromSilence(s *alert.Silence, now time.Time) Silence {
	return Silence{headOf(s.Head), filled(*s), Time(s.From), Time(s.To), s.Active(now), FromWarnings(s.Warnings)}
}

// Team is people who take care together.
type Team struct {
	SettingHead
	alert.Team
}

// FromTeam makes the view of a team.
func FromTeam(t *alert.Team) Team { return Team{headOf(t.Head), filled(*t)} }

// Template makes messages: texts by language, en and zh.
type Template struct {
	SettingHead
	alert.Template
}

// FromTemplate makes the view of a template.
func FromTemplate(t *alert.Template) Template { return Template{headOf(t.Head), filled(*t)} }

// Contact is how one user is reached: at least one way.
type Contact struct {
	SettingHead
	alert.Contact
}

// HiddenContact stands for an address that a reader is not shown.
const HiddenContact = "***"

// FromContact makes the view of a contact for a caller. Callers who may not edit it, and are not that user, see
// HiddenContact in the place of addresses.
func FromContact(v *alert.Contact, who entity.Principal) Contact {
	out := Contact{headOf(v.Head), *v}
	if v.UserID != who.User.ID && !permission.AllowsFor(who, permission.AlertWrite, v.Group) {
		for _, address := range []*string{&out.Email, &out.Phone, &out.ChatID} {
			if *address != "" {
				*address = HiddenContact
			}
		}
	}
	return out
}

// OnCall says which team takes care, and when.
type OnCall struct {
	SettingHead
	Shifts []Shift `json:"shifts" maxItems:"100"`
	alert.OnCall
}

// Shift is when a team is on call: on these days, by the wall clock of the plan's zone.
type Shift struct {
	TeamID string `json:"teamId"`
	// Days are those on which the shift begins; none is every day.
	Days []string `json:"days" validate:"optional" enums:"MON,TUE,WED,THU,FRI,SAT,SUN"`
	// From and To are times of the day. A shift that ends at or before its beginning ends on
	// the day after.
	From string `json:"from" example:"18:00"`
	To   string `json:"to" example:"09:00"`
	// RotateDays lets the members of the team take turns, each for so many days; 0: all of
	// them are on call. RotateFrom is the first day of the first member.
	RotateDays int    `json:"rotateDays" validate:"optional" minimum:"0" maximum:"366"`
	RotateFrom string `json:"rotateFrom" validate:"optional" example:"2026-01-05"`
}

// Weekdays are the names of days, by their numbers.
func Weekdays() []string { return []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"} }

// FromOnCall makes the view of an on-call plan.
func FromOnCall(v *alert.OnCall) OnCall {
	out := OnCall{headOf(v.Head), make([]Shift, len(v.Shifts)), *v}
	for i, s := range v.Shifts {
		out.Shifts[i] = Shift{s.TeamID, []string{}, clockText(s.FromMin), clockText(s.ToMin), s.RotateDays, s.RotateFrom}
		for _, day := range s.Days {
			out.Shifts[i].Days = append(out.Shifts[i].Days, Weekdays()[day%7])
		}
	}
	return out
}

// clockText is a minute of the day as people write it.
func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }
