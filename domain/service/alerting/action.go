package alerting

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// Need is a right that whoever saves a rule with actions must hold.
type Need struct {
	// Field names the action, such as actions[0].
	Field string
	// Permission is a name of the API, such as job:run.
	Permission string
	// JobID is the job that it concerns: the right is needed in the group of that job.
	JobID string
	// Group is where the right is needed. With neither a job nor a group it is needed by
	// somebody who is bound to no group.
	Group string
}

// Needs are the rights that the actions of a rule ask of its editor: for every job that an
// action may meet.
func Needs(r *alert.Rule) (needs []Need) {
	for i, action := range r.Actions {
		need := Need{Field: fmt.Sprintf("actions[%d]", i), Permission: PermissionOf(action.Kind)}
		switch {
		case action.Kind == alert.ActionDrain:
			needs = append(needs, need)
		case action.Kind == alert.ActionRunJob:
			need.JobID = action.JobID
			needs = append(needs, need)
		case r.Group != "":
			need.Group = r.Group
			needs = append(needs, need)
		case len(r.Scope.JobIDs) > 0:
			for _, id := range r.Scope.JobIDs {
				need.JobID = id
				needs = append(needs, need)
			}
		case len(r.Scope.Groups) > 0:
			for _, group := range r.Scope.Groups {
				need.Group = group
				needs = append(needs, need)
			}
		default:
			needs = append(needs, need)
		}
	}
	return needs
}

// PermissionOf is the right that the call of the API asks for that does the same.
func PermissionOf(k alert.ActionKind) string {
	switch k {
	case alert.ActionRunJob:
		return "job:run"
	case alert.ActionRetry:
		return "execution:write"
	case alert.ActionDrain:
		return "node:write"
	default:
		return "job:write"
	}
}

// actions checks what a rule does by itself.
func (c *checks) actions(r *alert.Rule) {
	c.list("actions", len(r.Actions), bounds.Actions)
	for i, action := range r.Actions {
		field := fmt.Sprintf("actions[%d]", i)
		if !slices.Contains(alert.ActionKinds(), action.Kind) {
			c.add(field+".kind", validation.CodeUnknown, "use one of %v", alert.ActionKinds())
			continue
		}
		if why := misfit(action.Kind, r.Type); why != "" {
			c.add(field+".kind", validation.CodeConflict, "%s: choose another kind, or leave it out", why)
		}
		if action.Kind != alert.ActionRunJob {
			if action.JobID != "" {
				c.add(field+".jobId", validation.CodeConflict, "%s acts on what the alert is about: leave the job out", action.Kind)
			}
			if len(action.Params) > 0 {
				c.add(field+".params", validation.CodeConflict, "only RUN_JOB has parameters: leave them out")
			}
			continue
		}
		switch {
		case action.JobID == "":
			c.add(field+".jobId", validation.CodeRequired, "name the job to run")
		case slices.Contains(r.Scope.JobIDs, action.JobID):
			c.add(field+".jobId", validation.CodeConflict, "the rule watches this job: use RETRY_EXECUTION, or run another job")
		}
		c.params(field+".params", action.Params)
	}
}

func (c *checks) params(field string, params json.RawMessage) {
	var object map[string]any
	switch {
	case len(params) == 0:
	case len(params) > bounds.ActionParams:
		c.add(field, validation.CodeTooLong, "use at most %d bytes", bounds.ActionParams)
	case json.Unmarshal(params, &object) != nil || object == nil:
		c.add(field, validation.CodeInvalid, "write a JSON object, such as {\"mode\": \"repair\"}")
	}
}

// misfit says why an action can find nothing to act on in the alerts of a type.
func misfit(k alert.ActionKind, t alert.RuleType) string {
	switch k {
	case alert.ActionDrain:
		if !slices.Contains([]alert.RuleType{alert.NodeSuspect, alert.NodeDown, alert.ClockSkew}, t) {
			return fmt.Sprintf("an alert of type %s is about no node", t)
		}
	case alert.ActionRetry:
		if !slices.Contains([]alert.RuleType{
			alert.JobFailed, alert.ConsecutiveFailures, alert.FailureRate, alert.Timeout, alert.DeadLetter, alert.Expression,
		}, t) {
			return fmt.Sprintf("an alert of type %s is about no failed execution", t)
		}
	case alert.ActionPauseJob:
		if !t.AboutJobs() {
			return fmt.Sprintf("an alert of type %s is about no job", t)
		}
	}
	return ""
}

// ActionID is the id of an action of an episode: whoever plans it again meets the first.
func ActionID(alertID string, position int) string {
	return "a-" + identity.Hash("action", alertID, strconv.Itoa(position))
}

// ActionsOf are the actions of an alert that fires. Of a rule that was edited since the
// alert opened there are none: its editor has judged other cases.
func ActionsOf(r *alert.Rule, a *alert.Alert, now time.Time) (out []alert.Action) {
	acts := a.Status == alert.Firing || a.Resolution == alert.ByNature
	if r == nil || !r.Enabled || !acts || r.Version != a.RuleVersion {
		return nil
	}
	for i, action := range r.Actions[:min(len(r.Actions), bounds.Actions)] {
		out = append(out, alert.Action{
			ID: ActionID(a.ID, i), AlertID: a.ID, RuleID: r.ID, RuleVersion: r.Version, Position: i, Kind: action.Kind,
			Target: targetOf(action, a), State: alert.ActionOpen, NextTry: now, CreateTime: now,
		})
	}
	return out
}

// targetOf is what an action acts on; empty where the alert names nothing of the kind.
func targetOf(action alert.RuleAction, a *alert.Alert) string {
	switch action.Kind {
	case alert.ActionRunJob:
		return action.JobID
	case alert.ActionRetry:
		if a.LastExecutionID != "" {
			return a.LastExecutionID
		}
		return a.ExecutionID
	case alert.ActionDrain:
		return a.NodeID
	default:
		return a.JobID
	}
}
