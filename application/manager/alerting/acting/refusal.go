package acting

import (
	"context"
	"encoding/json"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// refusal says why an action must not be done; nil: it may.
func (r *Actor) refusal(ctx context.Context, o *order) (*refused, error) {
	setting, err := r.Rules.AlertSetting(ctx, alert.KindRule, o.RuleID)
	if apperror.Is(err, apperror.KindNotFound) {
		return &refused{alert.RefusedChanged, "the rule was deleted"}, nil
	}
	if err != nil {
		return nil, err
	}
	if o.rule, err = alert.Read[alert.Rule](setting); err != nil {
		return nil, err // a newer node may read it
	}
	o.Editor = o.rule.EditorID
	if !o.rule.Enabled || o.rule.Version != o.RuleVersion || o.Position >= len(o.rule.Actions) {
		return &refused{alert.RefusedChanged, "the rule was changed, or switched off"}, nil
	}
	if o.alert, err = r.Alerts.Alert(ctx, o.AlertID); apperror.Is(err, apperror.KindNotFound) {
		return &refused{alert.RefusedResolved, "the alert is gone"}, nil
	} else if err != nil {
		return nil, err
	}
	if o.alert.Status == alert.Resolved && o.alert.Resolution != alert.ByNature {
		return &refused{alert.RefusedResolved, "the alert was over before"}, nil
	}
	if o.Target == "" {
		return &refused{alert.RefusedNoTarget, "the alert names nothing that the action could act on"}, nil
	}
	if why, err := r.loops(ctx, o); why != nil || err != nil {
		return why, err
	}
	return r.permitted(ctx, o)
}

// loops refuses to act on what the rule itself has started.
func (r *Actor) loops(ctx context.Context, o *order) (*refused, error) {
	for _, action := range o.rule.Actions {
		if action.Kind == alert.ActionRunJob && o.alert.JobID != "" && action.JobID == o.alert.JobID {
			return &refused{alert.RefusedLoop, "the rule itself runs this job"}, nil
		}
	}
	for _, id := range []string{o.alert.ExecutionID, o.alert.LastExecutionID, o.Target} {
		if id == "" {
			continue
		}
		started, err := r.Actions.StartedBy(ctx, o.RuleID, id, r.Clock.Now().Add(-startedSpan))
		if err != nil {
			return nil, err
		}
		if started {
			return &refused{alert.RefusedLoop, "the rule itself has started this run"}, nil
		}
	}
	return nil, nil
}

// permitted judges the rights of the last editor.
func (r *Actor) permitted(ctx context.Context, o *order) (*refused, error) {
	user, err := r.Rights.UserByID(ctx, o.rule.EditorID)
	gone := apperror.Is(err, apperror.KindNotFound)
	if err != nil && !gone {
		return nil, err
	}
	if o.user = user; gone || user.Role == entity.RoleDisabled {
		return &refused{alert.RefusedEditorGone, "the user who saved the rule last is gone or disabled"}, nil
	}
	permission, group := alerting.PermissionOf(o.Kind), ""
	if o.Kind != alert.ActionDrain {
		id := o.alert.JobID
		if o.Kind == alert.ActionRunJob {
			id = o.Target
		}
		jobs, err := r.Alerts.AlertJobs(ctx, []string{id})
		if err != nil {
			return nil, err
		}
		job, exists := jobs[id]
		if !exists || job.Deleted {
			return &refused{alert.RefusedNoTarget, "the job was deleted"}, nil
		}
		if group = job.Group; o.rule.Group != "" && o.Kind != alert.ActionRunJob && group != o.rule.Group {
			return &refused{alert.RefusedNoTarget, "the job has left the group of the rule"}, nil
		}
	}
	if !r.Rights.Allows(o.user, permission, group) {
		where := "for all groups"
		if group != "" {
			where = "in the group " + group
		}
		text := o.user.Name + " saved the rule last and lacks " + permission + " " + where
		return &refused{alert.RefusedForbidden, text}, nil
	}
	return nil, nil
}

// jsonOf is an object of texts as JSON.
func jsonOf(v map[string]any) string {
	data, _ := json.Marshal(v) // texts always marshal
	return string(data)
}
