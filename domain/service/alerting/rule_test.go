package alerting_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

func TestWrongFieldsOfARuleAreToldAllAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		t      alert.RuleType
		change func(r *alert.Rule)
		want   []string
	}{
		"good":         {alert.JobFailed, nil, nil},
		"empty":        {"", func(r *alert.Rule) { *r = alert.Rule{} }, []string{"name", "type", "level", "notify"}},
		"a threshold":  {alert.JobFailed, func(r *alert.Rule) { r.Threshold = 1 }, []string{"threshold"}},
		"none":         {alert.ConsecutiveFailures, nil, []string{"threshold"}},
		"not a number": {alert.QueueDepth, func(r *alert.Rule) { r.Threshold = math.NaN() }, []string{"threshold"}},
		"more than all": {
			alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 1.1, 60 }, []string{"threshold"},
		},
		"no worker":     {alert.WorkersFew, nil, []string{"threshold"}},
		"half a worker": {alert.WorkersFew, func(r *alert.Rule) { r.Threshold = 1.5 }, []string{"threshold"}},
		"workers":       {alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.ForSec = 2, 60 }, nil},
		"workers of a group": {
			alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.Group, r.Scope.Groups = 2, "g", []string{"g"} }, nil,
		},
		"workers of a job": {
			alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.Scope.JobIDs = 2, []string{"j"} }, []string{"scope"},
		},
		"workers of labels": {
			alert.WorkersFew, func(r *alert.Rule) { r.Threshold, r.Scope.Labels = 2, map[string]string{"a": "b"} },
			[]string{"scope"},
		},
		"no window": {alert.FailureRate, func(r *alert.Rule) { r.Threshold = 1 }, []string{"windowSec"}},
		"a window":  {alert.NodeDown, func(r *alert.Rule) { r.WindowSec = 60 }, []string{"windowSec"}},
		"events last not": {
			alert.JobFailed, func(r *alert.Rule) { r.ForSec, r.KeepSec = 1, 1 }, []string{"forSec", "keepSec"},
		},
		"below nothing": {
			alert.NodeDown, func(r *alert.Rule) { r.ForSec, r.ResolveAfterSec = -1, 1<<30 },
			[]string{"forSec", "resolveAfterSec"},
		},
		"a scope of nodes": {
			alert.NodeDown, func(r *alert.Rule) { r.Group, r.Scope.Groups = "g", []string{"g"} }, []string{"scope", "group"},
		},
		"no expression": {alert.Expression, nil, []string{"expression"}},
		"an expression": {alert.JobFailed, func(r *alert.Rule) { r.Expression = "true" }, []string{"expression"}},
		"a long one": {
			alert.Expression, func(r *alert.Rule) { r.Expression = string(make([]byte, 5000)) }, []string{"expression"},
		},
		"many channels": {
			alert.JobFailed, func(r *alert.Rule) { r.ChannelIDs = make([]string, 101) }, []string{"channelIds"},
		},
		"ids of nothing": {
			alert.JobFailed, func(r *alert.Rule) {
				r.Scope.JobIDs, r.ChannelIDs = []string{"a", "", "a", "b\nBcc: x"}, []string{" "}
			}, []string{"scope.jobIds[1]", "scope.jobIds[2]", "scope.jobIds[3]", "channelIds[0]"},
		},
		"a header in a name": {alert.JobFailed, func(r *alert.Rule) { r.Name = "x\r\nBcc: y" }, []string{"name"}},
		"groups of nothing": {
			alert.JobFailed, func(r *alert.Rule) { r.Group, r.Scope.Groups = "pay", []string{"", "risk"} },
			[]string{"scope.groups[0]", "scope.groups[1]"},
		},
		"labels that alerts have": {
			alert.JobFailed, func(r *alert.Rule) { r.Labels = map[string]string{"severity": "x", "": "y"} },
			[]string{"labels", "labels.severity"},
		},
		"half a run": {
			alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 2.5 }, []string{"threshold"},
		},
		"every success": {alert.JobSucceeded, nil, []string{"scope"}},
		"some successes": {
			alert.JobSucceeded, func(r *alert.Rule) { r.Scope.Groups = []string{"pay"} }, nil,
		},
		"what ends by itself": {
			alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ResolveAfterSec = 5, 60 }, []string{"resolveAfterSec"},
		},
		"skipped fires end by silence": {
			alert.NotFired, func(r *alert.Rule) { r.ResolveAfterSec, r.ForSec = 60, 5 }, nil,
		},
		"a condition":       {alert.Expression, says(`status == "FAILED" && retries > 2`), nil},
		"a wrong condition": {alert.Expression, says(`status = "FAILED"`), []string{"expression"}},
		"wrong twice": {
			alert.Expression, says(`status == "X" || trigger == "Y"`),
			[]string{"expression", "expression"},
		},
		"for ever":           {alert.Expression, says(`true`), []string{"expression"}},
		"for ever by fields": {alert.Expression, says(`durationMs >= 0`), []string{"expression"}},
		"for ever in a scope": {alert.Expression, func(r *alert.Rule) {
			r.Expression, r.Scope.JobIDs = `status != ""`, []string{"a"}
		}, []string{"expression"}},
		"for all successes": {alert.Expression, says(`status == "SUCCESS"`), []string{"scope"}},
		"slow ends":         {alert.Expression, says(`durationMs > 60000`), []string{"scope"}},
		"labels alone": {alert.Expression, func(r *alert.Rule) {
			r.Expression, r.Scope.Labels = `durationMs > 60000`, map[string]string{"tier": "1"}
		}, []string{"scope"}},
		"successes of a job": {alert.Expression, func(r *alert.Rule) {
			r.Expression, r.Scope.JobIDs = `status == "SUCCESS"`, []string{"a"}
		}, nil},
		"slow ends of a group": {alert.Expression, func(r *alert.Rule) {
			r.Expression, r.Group = `durationMs > 60000`, "pay"
		}, nil},
		"slow failures": {alert.Expression, says(`status != "SUCCESS" && durationMs > 60000`), nil},
	} {
		var fields []string
		for _, f := range alerting.ValidateRule(rule(c.t, c.change), expression.Language{}) {
			fields = append(fields, f.Field)
			require.NotEmpty(t, f.Message)
		}
		require.Equal(t, c.want, fields, name)
	}
}

func says(text string) func(r *alert.Rule) { return func(r *alert.Rule) { r.Expression = text } }

// The position of what is wrong stands in the message.
func TestAWrongExpressionIsToldWithItsPosition(t *testing.T) {
	fields := alerting.ValidateRule(rule(alert.Expression, says("retries > 1 &&\n durationms > 3")), expression.Language{})
	require.Len(t, fields, 1)
	require.Contains(t, fields[0].Message, "line 2, column 2: unknown name durationms")
}

func TestTheDefaultRulesAreGood(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range alerting.DefaultRules(noon) {
		require.Empty(t, alerting.ValidateRule(&r, expression.Language{}), r.Name)
		require.False(t, ids[r.ID], r.ID)
		ids[r.ID] = true
		require.LessOrEqual(t, len(r.ID), 50)
	}
}

// The first start makes these rules, each under its name: without one of them, a kind of trouble is seen by nobody. A
// rule that is named anew would come a second time to stores that have it.
func TestTheDefaultRulesOfAFirstStart(t *testing.T) {
	type kind struct {
		of    alert.RuleType
		level alert.Level
	}
	rules := map[string]kind{}
	for _, r := range alerting.DefaultRules(noon) {
		require.Equal(t, []any{"default-" + r.Default, "default: " + r.Default, true}, []any{r.ID, r.Name, r.Enabled})
		rules[r.Default] = kind{r.Type, r.Level}
	}
	require.Equal(t, map[string]kind{
		"failed":               {alert.JobFailed, alert.Warning},
		"consecutive-failures": {alert.ConsecutiveFailures, alert.Critical},
		"dead-letter":          {alert.DeadLetter, alert.Critical},
		"deadline-missed":      {alert.DeadlineMissed, alert.Critical},
		"slow-run":             {alert.SlowRun, alert.Info},
		"not-fired":            {alert.NotFired, alert.Critical},
		"late":                 {alert.Lateness, alert.Warning},
		"queue-depth":          {alert.QueueDepth, alert.Warning},
		"no-node":              {alert.NoNode, alert.Warning},
		"node-down":            {alert.NodeDown, alert.Critical},
		"clock-skew":           {alert.ClockSkew, alert.Warning},
		"nothing-ran":          {alert.NothingRan, alert.Critical},
		"degraded":             {alert.Degraded, alert.Warning},
		"delivery-failed":      {alert.DeliveryFailed, alert.Critical},
		"step-held":            {alert.StepHeld, alert.Warning},
		"approval-waiting":     {alert.ApprovalWaiting, alert.Info},
	}, rules)
}
