package alerting_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

// A rule of a former release whose patterns are too large loads, raises nothing, and is named by
// an alert of its group. It is not edited.
func TestAStoredRuleThatIsTooLargeIsSuspended(t *testing.T) {
	d := newDesk(t)
	large := func(r *alert.Rule) { r.Expression = `status == "FAILED" && message matches "(?:a?){245}b"` }
	d.Rule(alert.Expression, large)
	d.Rule(alert.JobFailed, nil)
	d.Rule(alert.Degraded, nil)
	d.End(d.Add(t, enginetest.Job("settle", nil)), entity.StatusFailed, func(e *entity.Execution) {
		e.ErrorMessage = strings.Repeat("a", 600) + "b"
	})
	d.Evaluate()
	require.Equal(t, alert.JobFailed, d.One().Type, "other rules see the end")
	d.Clock.Advance(time.Second)
	d.LookAtLevels()
	told := d.Alerts()
	require.Len(t, told, 2)
	require.Equal(t, alert.Degraded, told[1].Type)
	require.Equal(t, "rule-expression", told[1].Labels["rule"])
	require.Contains(t, told[1].Content, "a rule may have 100")
	stored, err := d.Store.AlertSetting(t.Context(), alert.KindRule, "rule-expression")
	require.NoError(t, err)
	require.True(t, stored.Enabled)
	require.Equal(t, 1, stored.Version)
}

// The evaluator does not ask a suspended rule, and asks it again when its time is over.
func TestASuspendedRuleIsNotAsked(t *testing.T) {
	d := newDesk(t)
	d.Rule(alert.Expression, says(`status == "FAILED"`))
	job := d.Add(t, enginetest.Job("settle", nil))
	require.NoError(t, d.Store.SuspendRules(t.Context(), []alert.Suspension{{
		RuleID: "rule-expression", Until: d.Clock.Now().Add(10 * time.Minute), Cost: 1, Why: "it cost too much",
	}}))
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Empty(t, d.Alerts())
	d.Clock.Advance(10 * time.Minute)
	d.End(job, entity.StatusFailed)
	d.Evaluate()
	require.Equal(t, alert.Expression, d.One().Type)
}
