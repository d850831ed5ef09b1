package alert

import (
	"encoding/json"
	"time"
)

// ActionKind says what a rule does when one of its alerts fires.
type ActionKind string

// The kinds. Each acts on what the alert is about, but RUN_JOB, which names a job.
const (
	ActionPauseJob ActionKind = "PAUSE_JOB"
	ActionRunJob   ActionKind = "RUN_JOB"
	ActionRetry    ActionKind = "RETRY_EXECUTION"
	ActionDrain    ActionKind = "DRAIN_NODE"
)

// ActionKinds lists every kind.
func ActionKinds() []ActionKind {
	return []ActionKind{ActionPauseJob, ActionRunJob, ActionRetry, ActionDrain}
}

// The bounds of actions.
const (
	// MaxActionsPerHour bounds what a rule does within ActionSpan.
	MaxActionsPerHour = 10
	ActionSpan        = time.Hour
	// ActionFor is how long an action is tried while the store or its target does not answer.
	ActionFor = 10 * time.Minute
)

// RuleAction is what a rule does when one of its alerts fires.
type RuleAction struct {
	Kind ActionKind `json:"kind"`
	// JobID is the job that RUN_JOB runs; the other kinds have none.
	JobID string `json:"jobId,omitempty"`
	// Params are those of the run of RUN_JOB: a JSON object, or nothing.
	Params json.RawMessage `json:"params,omitempty"`
}

// ActionState says what became of an action.
type ActionState string

// The states. All but OPEN are final.
const (
	ActionOpen ActionState = "OPEN"
	ActionDone ActionState = "DONE"
	// ActionRefused: a bound, a missing right or the state of its target forbids it.
	ActionRefused ActionState = "REFUSED"
	// ActionFailed: it was tried for ActionFor.
	ActionFailed ActionState = "FAILED"
)

// The reasons for which an action is refused, beside those of the services.
const (
	RefusedEditorGone = "editor_gone"
	RefusedForbidden  = "forbidden"
	RefusedLimit      = "limit"
	RefusedLoop       = "loop"
	RefusedChanged    = "rule_changed"
	RefusedNoTarget   = "no_target"
	RefusedResolved   = "resolved"
)

// Action is one action of one episode, as it is recorded.
type Action struct {
	// ID is computed from the episode and the place of the action in its rule.
	ID      string
	AlertID string
	RuleID  string
	// RuleVersion is that under which the alert fired.
	RuleVersion int
	// Position is the place in the rule, from 0.
	Position int
	Kind     ActionKind
	// Target is the id of the job, the execution or the node.
	Target string
	State  ActionState
	// Code says why it is not done, such as forbidden; empty else.
	Code string
	// Result is the id of the execution that it started, or says why it is not done.
	Result string
	// Editor is the id of the user who edited the rule last, when the action was judged.
	Editor string
	// NextTry is when it is judged, or tried again.
	NextTry time.Time
	// ActTime is when it was allowed to act; zero: it was not.
	ActTime    time.Time
	CreateTime time.Time
	EndTime    time.Time
}

// Conclude ends the action.
func (a *Action) Conclude(state ActionState, code, result string, at time.Time) {
	a.State, a.Code, a.Result, a.EndTime = state, code, result, at
}
