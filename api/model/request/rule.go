package request

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// RuleBody is a rule.
type RuleBody struct {
	SettingHead
	Type  string    `json:"type" enums:"JOB_FAILED,JOB_SUCCEEDED,RECOVERED,NO_NODE,NODE_SUSPECT,FAILING_MORE,FASTER_THAN_USUAL,DEADLINE_AT_RISK,WATCHDOG,DEADLINE_MISSED,CONSECUTIVE_FAILURES,FAILURE_RATE,TIMEOUT,SLOW_RUN,NOT_FIRED,LATENESS,QUEUE_DEPTH,DEAD_LETTER,NODE_DOWN,CLOCK_SKEW,DEGRADED,NOTHING_RAN,EXPRESSION"`
	Level string    `json:"level" enums:"INFO,WARNING,CRITICAL"`
	Scope ScopeBody `json:"scope,omitempty"`
	// Threshold has the unit of the type: runs, a share from 0 to 1, seconds, or a count.
	Threshold float64 `json:"threshold,omitempty"`
	// WindowSec is the span that FAILURE_RATE and NOTHING_RAN look at.
	WindowSec int `json:"windowSec,omitempty" maximum:"2592000"`
	// ForSec is how long a level must hold before the alert fires; 0 is at once.
	ForSec int `json:"forSec,omitempty" minimum:"0" maximum:"2592000"`
	// KeepSec is how long a level must be below the line before the alert resolves; 0 is two
	// evaluations.
	KeepSec int `json:"keepSec,omitempty" minimum:"0" maximum:"2592000"`
	// ResolveAfterSec ends an episode of events after so long without another; 0 is a day.
	ResolveAfterSec int    `json:"resolveAfterSec,omitempty" minimum:"0" maximum:"2592000"`
	Notify          string `json:"notify,omitempty" enums:"FIRST,EACH" default:"FIRST"`
	Expression      string `json:"expression,omitempty" maxLength:"4096"`
	// ChannelIDs are channels of the group, or for all groups.
	ChannelIDs []string `json:"channelIds,omitempty" maxItems:"100"`
	// Actions are what the rule does when an alert of it fires. They have the rights of the
	// user who saved the rule last, who must hold them on each target.
	Actions []ActionBody `json:"actions,omitempty" maxItems:"5"`
	// Labels are added to those of the alert.
	Labels   map[string]string `json:"labels,omitempty"`
	Default  string            `json:"default,omitempty" readonly:"true"`
	EditorID string            `json:"editorId,omitempty" readonly:"true"`
}

// ActionBody is what a rule does when one of its alerts fires.
type ActionBody struct {
	Kind string `json:"kind" enums:"PAUSE_JOB,RUN_JOB,RETRY_EXECUTION,DRAIN_NODE"`
	// JobID is the job that RUN_JOB runs, and Params are those of its run; the other kinds
	// have none.
	JobID  string    `json:"jobId,omitempty"`
	Params rawObject `json:"params,omitempty" swaggertype:"object"`
}

// ScopeBody says which jobs a rule sees: those that all parts name. An empty part names all.
type ScopeBody struct {
	JobIDs []string          `json:"jobIds,omitempty" maxItems:"500"`
	Groups []string          `json:"groups,omitempty" maxItems:"100"`
	Labels map[string]string `json:"labels,omitempty"`
}

func (b *RuleBody) rule() *alert.Rule {
	var actions []alert.RuleAction
	for _, a := range b.Actions {
		actions = append(actions, alert.RuleAction{
			Kind: alert.ActionKind(a.Kind), JobID: a.JobID, Params: json.RawMessage(a.Params),
		})
	}
	return &alert.Rule{
		Head: b.head(), Type: alert.RuleType(b.Type), Level: alert.Level(b.Level),
		Scope:     alert.Scope{JobIDs: b.Scope.JobIDs, Groups: b.Scope.Groups, Labels: b.Scope.Labels},
		Threshold: b.Threshold, WindowSec: b.WindowSec, ForSec: b.ForSec, KeepSec: b.KeepSec,
		ResolveAfterSec: b.ResolveAfterSec, Notify: alert.Notify(b.Notify), Expression: b.Expression,
		ChannelIDs: b.ChannelIDs, Actions: actions, Labels: b.Labels,
	}
}

// ReadRule reads the body of POST and PUT /alert-rules.
func ReadRule(r *http.Request) (Definition[alert.Rule], error) {
	return readDefinition(r, func(b *RuleBody, _ *faults) (*alert.Rule, int) { return b.rule(), b.Version })
}

// DryRunBody is the body of POST /alert-rules/dry-run.
type DryRunBody struct {
	Rule RuleBody `json:"rule"`
	// From and To are the past span that the rule is asked about.
	From time.Time `json:"from" format:"date-time"`
	To   time.Time `json:"to" format:"date-time"`
}

// DryRun is a rule, and the span that it is asked about.
type DryRun struct {
	Rule     *alert.Rule
	From, To time.Time
}

// ReadDryRun reads the body of POST /alert-rules/dry-run.
func ReadDryRun(r *http.Request) (d DryRun, err error) {
	_, err = readBody(r, func(b *DryRunBody, f *faults) {
		d = DryRun{b.Rule.rule(), b.From, b.To}
		for field, at := range map[string]time.Time{"from": b.From, "to": b.To} {
			if at.IsZero() && !f.has(field) {
				f.add(field, "required", "is required")
			}
		}
		if !b.From.IsZero() && !b.To.IsZero() && !b.From.Before(b.To) {
			f.add("to", "out_of_order", "must be after from")
		}
	})
	return d, err
}
