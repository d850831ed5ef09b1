package alerting_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// opened stores an alert that fires, and is planned.
func opened(t *testing.T, n *enginetest.Node, id, group, rule string) {
	t.Helper()
	now := n.Clock.Now()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{{
			ID: fmt.Sprintf("%032s", id), Fingerprint: "f" + id, Held: true, Type: alert.JobFailed, Level: alert.Critical,
			Status: alert.Firing, RuleID: rule, Group: group, Labels: map[string]string{"severity": "CRITICAL"}, Count: 1,
			CreateTime: now, UpdateTime: now, StartTime: now, PendingSince: now, LastTime: now, Seq: 1,
		}})
		return err
	})
}

// dueGroups are the groups of the alerts that are to be planned; then they are planned.
func dueGroups(t *testing.T, n *enginetest.Node) (groups []string) {
	t.Helper()
	found, err := n.Store.NotifyDue(t.Context(), n.Clock.Now(), 10)
	require.NoError(t, err)
	for _, a := range found {
		groups = append(groups, a.Group)
		n.Write(t, func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Alerts.PlanAlert(ctx, a.ID, a.Seq, a.NotifyDue, time.Time{})
			return err
		})
	}
	slices.Sort(groups)
	return groups
}

// edit changes a copy of a definition and stores it.
func edit[T any, P alert.Defined[T]](t *testing.T, s *alerting.Settings[T, P], former P, change func(P),
) P {
	t.Helper()
	next := *former
	change(&next)
	stored, err := s.Replace(t.Context(), former, &next, alert.HeadOf(former).Version)
	require.NoError(t, err)
	return stored
}

func channelsOf(t *testing.T, n *enginetest.Node, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, n.Store.AddAlertSetting(t.Context(), alert.Setting{
			Head: alert.Head{ID: id, Name: id, Enabled: true, Version: 1, CreateTime: n.Clock.Now(), UpdateTime: n.Clock.Now()},
			Kind: alert.KindChannel, Document: "{}",
		}))
	}
}

// The channel of a team that is on call, and a team that a plan puts on call now, are new receivers of the
// alerts that the routes with that plan match.
func TestOpenAlertsReachWhoIsOnCallAnew(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	opened(t, n, "1", "a", "r")
	opened(t, n, "2", "b", "r")
	require.Equal(t, 12, n.Clock.Now().UTC().Hour())
	channelsOf(t, n, "c1", "c2", "c3")
	teams, plans := alerting.NewTeamService(deps(n)), alerting.NewOnCallService(deps(n))
	day, err := teams.Create(t.Context(),
		&alert.Team{Head: alert.Head{Name: "day", Enabled: true}, ChannelIDs: []string{"c1"}})
	require.NoError(t, err)
	night, err := teams.Create(t.Context(),
		&alert.Team{Head: alert.Head{Name: "night", Enabled: true}, ChannelIDs: []string{"c2"}})
	require.NoError(t, err)
	shift := func(of *alert.Team, from, to int) alert.Shift {
		return alert.Shift{TeamID: of.ID, FromMin: from * 60, ToMin: to * 60}
	}
	plan, err := plans.Create(t.Context(), &alert.OnCall{
		Head: alert.Head{Name: "plan", Enabled: true}, TimeZone: "UTC",
		Shifts: []alert.Shift{shift(day, 8, 20), shift(night, 20, 8)},
	})
	require.NoError(t, err)
	_, err = alerting.NewRouteService(deps(n)).Create(t.Context(), &alert.Route{
		Head: alert.Head{Name: "r", Enabled: true, Group: "a"}, OnCallID: plan.ID,
	})
	require.NoError(t, err)
	dueGroups(t, n)

	day = edit(t, teams, day, func(v *alert.Team) { v.ChannelIDs = []string{"c1", "c3"} })
	require.Equal(t, []string{"a"}, dueGroups(t, n), "of the route's group alone")
	day = edit(t, teams, day, func(v *alert.Team) { v.ChannelIDs = []string{"c3"} })
	require.Empty(t, dueGroups(t, n), "nobody is new")
	night = edit(t, teams, night, func(v *alert.Team) { v.ChannelIDs = []string{"c1", "c2"} })
	require.Empty(t, dueGroups(t, n), "they are not on call now")
	day = edit(t, teams, day, func(v *alert.Team) { v.Enabled = false })
	require.Empty(t, dueGroups(t, n))
	day = edit(t, teams, day, func(v *alert.Team) { v.Enabled = true })
	require.Equal(t, []string{"a"}, dueGroups(t, n), "a team that is switched off is not on call")

	plan = edit(t, plans, plan, func(v *alert.OnCall) {
		v.Shifts = []alert.Shift{shift(day, 8, 20), shift(night, 18, 8)}
	})
	require.Empty(t, dueGroups(t, n), "the shift begins later")
	plan = edit(t, plans, plan, func(v *alert.OnCall) {
		v.Shifts = []alert.Shift{shift(day, 8, 20), shift(night, 11, 8)}
	})
	require.Equal(t, []string{"a"}, dueGroups(t, n))
	plan = edit(t, plans, plan, func(v *alert.OnCall) { v.Enabled = false })
	require.Empty(t, dueGroups(t, n))
	edit(t, plans, plan, func(v *alert.OnCall) { v.Enabled = true })
	require.Equal(t, []string{"a"}, dueGroups(t, n))
}

// A channel that a rule newly names hears of the open alerts of that rule.
func TestOpenAlertsReachANewChannelOfTheirRule(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	channelsOf(t, n, "c1", "c2")
	rules := alerting.NewRuleService(deps(n))
	rule, err := rules.Create(t.Context(), &alert.Rule{
		Head: alert.Head{Name: "r", Enabled: true}, Type: alert.JobFailed, Level: alert.Critical, ChannelIDs: []string{"c1"},
	})
	require.NoError(t, err)
	opened(t, n, "1", "a", rule.ID)
	opened(t, n, "2", "b", "other")
	rule = edit(t, rules, rule, func(v *alert.Rule) { v.Level = alert.Warning })
	require.Empty(t, dueGroups(t, n), "nobody is new")
	rule = edit(t, rules, rule, func(v *alert.Rule) { v.ChannelIDs = []string{"c1", "c2"} })
	require.Equal(t, []string{"a"}, dueGroups(t, n))
	edit(t, rules, rule, func(v *alert.Rule) { v.ChannelIDs = []string{"c2"} })
	require.Empty(t, dueGroups(t, n))
}
