package alerting_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

func acting(actions ...alert.RuleAction) func(r *alert.Rule) {
	return func(r *alert.Rule) { r.Actions = actions }
}

func TestWrongActionsOfARuleAreToldAllAtOnce(t *testing.T) {
	pause, retry := alert.RuleAction{Kind: alert.ActionPauseJob}, alert.RuleAction{Kind: alert.ActionRetry}
	drain := alert.RuleAction{Kind: alert.ActionDrain}
	runs := func(job, params string) alert.RuleAction {
		return alert.RuleAction{Kind: alert.ActionRunJob, JobID: job, Params: json.RawMessage(params)}
	}
	for name, c := range map[string]struct {
		t      alert.RuleType
		change func(r *alert.Rule)
		want   []string
	}{
		"good":        {alert.JobFailed, acting(pause, retry, runs("j2", `{"mode":"repair"}`)), nil},
		"of a node":   {alert.NodeDown, acting(drain), nil},
		"too many":    {alert.JobFailed, acting(pause, pause, pause, pause, pause, pause), []string{"actions"}},
		"of no kind":  {alert.JobFailed, acting(alert.RuleAction{Kind: "SHOUT"}), []string{"actions[0].kind"}},
		"of no node":  {alert.JobFailed, acting(drain), []string{"actions[0].kind"}},
		"of no run":   {alert.NotFired, acting(retry), []string{"actions[0].kind"}},
		"of no job":   {alert.NodeDown, acting(pause), []string{"actions[0].kind"}},
		"without job": {alert.JobFailed, acting(runs("", "")), []string{"actions[0].jobId"}},
		"wrong params": {
			alert.JobFailed, acting(runs("j2", "3"), runs("j2", "null")),
			[]string{"actions[0].params", "actions[1].params"},
		},
		"too much": {
			alert.JobFailed, acting(alert.RuleAction{Kind: alert.ActionPauseJob, JobID: "j2", Params: json.RawMessage("{}")}),
			[]string{"actions[0].jobId", "actions[0].params"},
		},
		"itself": {alert.JobFailed, func(r *alert.Rule) {
			r.Scope.JobIDs, r.Actions = []string{"j2"}, []alert.RuleAction{runs("j2", "")}
		}, []string{"actions[0].jobId"}},
	} {
		var fields []string
		for _, f := range alerting.ValidateRule(rule(c.t, c.change), expression.Language{}) {
			fields = append(fields, f.Field)
		}
		require.Equal(t, c.want, fields, name)
	}
}

func TestTheRightsThatActionsNeed(t *testing.T) {
	pause := acting(alert.RuleAction{Kind: alert.ActionPauseJob})
	for name, c := range map[string]struct {
		change func(r *alert.Rule)
		want   []alerting.Need
	}{
		"none":         {nil, nil},
		"of every job": {pause, []alerting.Need{{Field: "actions[0]", Permission: "job:write"}}},
		"of a rule with a group": {
			func(r *alert.Rule) { pause(r); r.Group, r.Scope.JobIDs = "pay", []string{"j1"} },
			[]alerting.Need{{Field: "actions[0]", Permission: "job:write", Group: "pay"}},
		},
		"of groups": {
			func(r *alert.Rule) { pause(r); r.Scope.Groups = []string{"a", "b"} },
			[]alerting.Need{
				{Field: "actions[0]", Permission: "job:write", Group: "a"},
				{Field: "actions[0]", Permission: "job:write", Group: "b"},
			},
		},
		"of jobs, another job and a node": {
			func(r *alert.Rule) {
				r.Scope.JobIDs = []string{"j1"}
				r.Actions = []alert.RuleAction{
					{Kind: alert.ActionRetry}, {Kind: alert.ActionRunJob, JobID: "j2"}, {Kind: alert.ActionDrain},
				}
			},
			[]alerting.Need{
				{Field: "actions[0]", Permission: "execution:write", JobID: "j1"},
				{Field: "actions[1]", Permission: "job:run", JobID: "j2"},
				{Field: "actions[2]", Permission: "node:write"},
			},
		},
	} {
		require.Equal(t, c.want, alerting.Needs(rule(alert.JobFailed, c.change)), name)
	}
}

func TestTheActionsOfAnAlert(t *testing.T) {
	r := rule(alert.JobFailed, acting(alert.RuleAction{Kind: alert.ActionPauseJob},
		alert.RuleAction{Kind: alert.ActionRetry}))
	a := &alert.Alert{
		ID: "alert-1", Status: alert.Firing, RuleVersion: 2, JobID: "j1", ExecutionID: "e1",
		LastExecutionID: "e2",
	}
	got := alerting.ActionsOf(r, a, noon)
	require.Len(t, got, 2)
	require.Equal(t, []string{"j1", "e2"}, []string{got[0].Target, got[1].Target})
	require.NotEqual(t, got[0].ID, got[1].ID)
	require.Equal(t, "a-fd0dfc7802d374945517a6aed1347a6c", got[0].ID, "the id is frozen: it makes an action happen once")
	for name, change := range map[string]func(){
		"edited": func() { r.Version = 3 }, "switched off": func() { r.Version, r.Enabled = 2, false },
		"acknowledged": func() { r.Enabled, a.Status = true, alert.Acknowledged },
	} {
		change()
		require.Empty(t, alerting.ActionsOf(r, a, noon), name)
		r.Version, r.Enabled, a.Status = 2, true, alert.Firing
	}
}
