package alerting_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func patterned(name string, size int) *alert.Rule {
	return &alert.Rule{
		Head: alert.Head{Name: name, Group: "ga", Enabled: true}, Type: alert.Expression, Level: alert.Warning,
		Expression: fmt.Sprintf(`status == "FAILED" && message matches "x{%d}"`, size),
	}
}

// The patterns of a rule, and those of all rules of a group, are bounded. An edit to smaller ones
// passes, also where there were too many.
func TestPatternsAreBounded(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	rules := alerting.NewRuleService(deps(n))
	_, err := rules.Create(t.Context(), patterned("large", 120))
	require.ErrorContains(t, err, "a rule may have 100: use shorter ones")
	var last *alert.Rule
	for i := range 21 {
		r, err := rules.Create(t.Context(), patterned(fmt.Sprint("r", i), 95))
		if i == 20 {
			require.ErrorContains(t, err, "together they may have 2000")
			break
		}
		require.NoError(t, err)
		last = r
	}
	_, err = rules.Create(t.Context(), patterned("small", 20))
	require.NoError(t, err, "there is room for it")
	other := patterned("elsewhere", 95)
	other.Group = "gb"
	_, err = rules.Create(t.Context(), other)
	require.NoError(t, err)
	off := patterned("off", 95)
	off.Enabled = false
	kept, err := rules.Create(t.Context(), off)
	require.NoError(t, err, "a rule that is off costs nothing")
	on := *kept
	on.Enabled = true
	_, err = rules.Replace(t.Context(), kept, &on, 1)
	require.ErrorContains(t, err, "together they may have 2000")
	smaller := *last
	smaller.Expression = patterned("", 90).Expression
	_, err = rules.Replace(t.Context(), last, &smaller, 1)
	require.NoError(t, err)
}

// A rule says until when it is suspended, alone and in a list, and keeps its version.
func TestARuleSaysUntilWhenItIsSuspended(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	rules := alerting.NewRuleService(deps(n))
	r, err := rules.Create(t.Context(), patterned("dear", 90))
	require.NoError(t, err)
	until := n.Time.Now().Add(10 * time.Minute).Truncate(time.Millisecond)
	require.NoError(
		t,
		n.Store.SuspendRules(t.Context(), []alert.Suspension{{RuleID: r.ID, Until: until, Cost: 1, Why: "why"}}),
	)
	shown := func() *alert.Rule {
		got, err := rules.Get(t.Context(), r.ID)
		require.NoError(t, err)
		list, _, err := rules.List(t.Context(), nil, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Equal(t, got, list[0])
		return got
	}
	require.True(t, until.Equal(shown().SuspendedUntil))
	require.Equal(t, 1, shown().Version)
	n.Clock.Advance(10 * time.Minute)
	require.Zero(t, shown().SuspendedUntil)
}
