package alerting_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// An alert names the list of the job that asks for it: what a user finds there.
func TestRulesOfAJobAreNamedByItsLists(t *testing.T) {
	t.Parallel()
	list := []string{"c"}
	for name, c := range map[string]struct {
		alerts entity.JobAlerts
		want   map[alert.RuleType]string
	}{
		"failures": {
			entity.JobAlerts{OnFailure: list}, map[alert.RuleType]string{alert.JobFailed: "alerts.onFailure"},
		},
		"ends": {
			entity.JobAlerts{OnEnd: list},
			map[alert.RuleType]string{alert.JobFailed: "alerts.onEnd", alert.JobSucceeded: "alerts.onEnd"},
		},
		"ends and failures": {
			entity.JobAlerts{OnEnd: list, OnFailure: list},
			map[alert.RuleType]string{alert.JobFailed: "alerts.onFailure", alert.JobSucceeded: "alerts.onEnd"},
		},
		"ends and successes": {
			entity.JobAlerts{OnEnd: list, OnSuccess: list},
			map[alert.RuleType]string{alert.JobFailed: "alerts.onEnd", alert.JobSucceeded: "alerts.onSuccess"},
		},
		"recoveries": {
			entity.JobAlerts{OnRecovered: list},
			map[alert.RuleType]string{alert.JobFailed: "alerts.onRecovered", alert.Recovered: "alerts.onRecovered"},
		},
	} {
		got := map[alert.RuleType]string{}
		for _, r := range alerting.ShortRules(alerting.Job{ID: "j", Alerts: c.alerts}) {
			got[r.Type] = r.Name
			job, short := alerting.ShortRuleOf(r.ID)
			require.True(t, short, "the id of the rule stays, whatever its name")
			require.Equal(t, "j", job)
		}
		require.Equal(t, c.want, got, name)
	}
}
