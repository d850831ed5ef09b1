package alerting_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

func ruleOf(group string, n int) *alert.Rule {
	return &alert.Rule{Head: alert.Head{ID: fmt.Sprint(group, n), Group: group, Enabled: true}, Type: alert.Expression}
}

const million = 1_000_000

// The dearest rule of a group beyond its budget is suspended, and what it has cost counts no
// more. Others go on.
func TestTheDearestRuleOfAGroupIsSuspended(t *testing.T) {
	var b alerting.Budget
	require.Empty(t, b.Spend(0, ruleOf("ga", 1), 400*million))
	require.Empty(t, b.Spend(time.Second, ruleOf("ga", 2), 150*million))
	require.Empty(t, b.Spend(time.Second, ruleOf("gb", 1), 600*million), "exactly its budget")
	over := b.Spend(2*time.Second, ruleOf("ga", 3), 51*million)
	require.Len(t, over, 1)
	require.Equal(t, "ga1", over[0].RuleID)
	require.Equal(t, int64(400*million), over[0].Cost)
	require.Contains(t, over[0].Why, "the group ga took more than 600 million steps in a minute")
	require.Empty(t, b.Spend(3*time.Second, ruleOf("ga", 2), 300*million), "the others have room again")
}

// A minute later nothing was spent.
func TestABudgetLastsAMinute(t *testing.T) {
	var b alerting.Budget
	require.Empty(t, b.Spend(0, ruleOf("ga", 1), 600*million))
	require.Empty(t, b.Spend(time.Minute, ruleOf("ga", 1), 600*million))
	require.Len(t, b.Spend(time.Minute+time.Second, ruleOf("ga", 1), 1), 1)
}

// Where all groups together spend too much it is the dearest rule of the group that has spent
// most, whoever was the last.
func TestTheGroupThatSpendsMostPaysForAll(t *testing.T) {
	var b alerting.Budget
	require.Empty(t, b.Spend(0, ruleOf("ga", 1), 500*million))
	require.Empty(t, b.Spend(0, ruleOf("gb", 1), 300*million))
	require.Empty(t, b.Spend(0, ruleOf("gb", 2), 290*million))
	require.Empty(t, b.Spend(0, ruleOf("", 1), 400*million), "rules for all groups are a group of their own")
	over := b.Spend(0, ruleOf("gc", 1), 11*million)
	require.Len(t, over, 1)
	require.Equal(t, "gb1", over[0].RuleID)
	require.Contains(t, over[0].Why, "those of the group gb most of them")
}

// Many rules that cost alike end within twice the budget of their group, not one by one.
func TestManyDearRulesEndSoon(t *testing.T) {
	var b alerting.Budget
	suspended, total := map[string]bool{}, int64(0)
	for n := 0; len(suspended) < 250; n++ {
		r := ruleOf("ga", n%250)
		if suspended[r.ID] {
			continue
		}
		total += million / 10
		for _, s := range b.Spend(time.Second, r, million/10) {
			suspended[s.RuleID] = true
		}
	}
	require.Less(t, total, int64(3*alerting.GroupBudget))
}

func TestRulesThatAreTooLargeAreFound(t *testing.T) {
	var all []alerting.Sized
	for n := range 21 {
		all = append(all, alerting.Sized{Rule: ruleOf("ga", n), Steps: 96})
	}
	all = append(
		all,
		alerting.Sized{Rule: ruleOf("ga", 99), Steps: 101},
		alerting.Sized{Rule: ruleOf("gb", 0), Steps: 100},
	)
	over := alerting.Oversized(all)
	require.Len(t, over, 2, "the one that is too large alone, and one of those that are so together")
	require.Equal(t, "ga99", over[0].RuleID)
	require.Contains(t, over[0].Why, "101 steps, and a rule may have 100")
	require.Contains(t, over[1].Why, "more than 2000 steps together")
	require.Zero(t, over[0].Cost)
	require.Equal(t, over, alerting.Oversized(all), "each leader finds the same")
}

// A rule that is suspended is an alert of its group, which names it.
func TestASuspendedRuleIsToldToItsGroup(t *testing.T) {
	st := &alerting.State{Now: noon, Suspended: []alerting.SuspendedRule{{
		Rule:       &alert.Rule{Head: alert.Head{ID: "r7", Name: "dear", Group: "ga"}},
		Suspension: alert.Suspension{RuleID: "r7", Until: at(600), Cost: 7, Why: "the rules of the group ga took too much"},
	}}}
	found := alerting.Levels(rule(alert.Degraded, nil), st)
	require.Len(t, found, 1)
	change := alerting.Above(nil, &found[0], noon)
	require.Equal(t, "ga", change.Alert.Group)
	require.Equal(t, map[string]string{
		"alertname": "DEGRADED", "severity": "WARNING", "group": "ga", "rule": "dear",
	}, change.Alert.Labels)
	require.Equal(t, "The rule dear is suspended until 2026-11-20T12:10:00Z and raises no alert: "+
		"the rules of the group ga took too much.", change.Alert.Content)
}

// No rule gives its alerts the labels that say what an alert is about: such a rule is refused, and
// one of a former release loses them.
func TestARuleForgesNoLabels(t *testing.T) {
	forged := map[string]string{"team": "a"}
	for _, name := range []string{"alertname", "severity", "job", "group", "node", "rule", "channel"} {
		forged[name] = "victim"
	}
	r := rule(alert.JobFailed, func(r *alert.Rule) { r.Labels = forged })
	require.Len(t, alerting.ValidateRule(r, nil), 7)
	s := alerting.SignalOf(r, pay, end(entity.StatusFailed, ""))
	for name, value := range alerting.Happened(nil, &s, noon).Alert.Labels {
		require.NotEqual(t, "victim", value, name)
		require.Equal(t, name == "team", value == "a")
	}
}
