package alerting

import (
	"context"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

const (
	// reachPage is how many open alerts are looked at, and changed, at once.
	reachPage = 500
	// maxReach bounds how many alerts one change of a setting looks at. Further alerts are told at their next plan, such
	// as a repetition.
	maxReach = 50_000
)

// tellOpen plans again the open alerts that a new, or a wider, definition may tell of. It tells no receiver twice. It
// comes after the commit, in chunks. Its failure is not that of the call, as the definition is stored: a crash or a
// store that goes away leaves some alerts to their next plan.
func (s *Settings[T, P]) tellOpen(ctx context.Context, former, next P) {
	if s.kind.reaches == nil || !alert.HeadOf(next).Enabled {
		return
	}
	ctx = context.WithoutCancel(ctx)
	reached := s.kind.reaches(ctx, former, next)
	if reached == nil {
		return
	}
	after := ""
	for seen := 0; seen < maxReach; {
		page, err := s.deps.Alerts.HeldAlerts(ctx, after, reachPage)
		if err != nil {
			return
		}
		var ids []string
		for _, a := range page {
			after = a.Fingerprint
			if a.Status == alert.Firing && reached(a) {
				ids = append(ids, a.ID)
			}
		}
		if len(ids) > 0 && s.deps.Alerts.PlanAgain(ctx, ids, s.deps.Clock.Now()) != nil {
			return
		}
		if seen += len(page); len(page) < reachPage {
			return
		}
	}
}

// routeReaches: an edit that only changes texts and waits tells nobody new.
func routeReaches(_ context.Context, former, next *alert.Route) func(a *alert.Alert) bool {
	if former != nil && former.Enabled && former.Group == next.Group && maps.Equal(former.Match, next.Match) &&
		former.OnCallID == next.OnCallID && former.Position == next.Position && former.Continue == next.Continue &&
		!more(former.ChannelIDs, next.ChannelIDs) && !more(former.EscalateTo, next.EscalateTo) {
		return nil
	}
	return func(a *alert.Alert) bool {
		return (next.Group == "" || next.Group == a.Group) && alert.Matches(next.Match, a.Labels)
	}
}

// channelReaches: a channel that is made, or switched on, or that takes the alerts of more groups.
func channelReaches(_ context.Context, former, next *alert.Channel) func(a *alert.Alert) bool {
	if former != nil && former.Enabled && former.Group == next.Group {
		return nil
	}
	return func(a *alert.Alert) bool { return next.Group == "" || next.Group == a.Group }
}

// ruleReaches: a rule that names another channel. A new one has no alerts yet.
func ruleReaches(_ context.Context, former, next *alert.Rule) func(a *alert.Alert) bool {
	if former == nil || former.Enabled && !more(former.ChannelIDs, next.ChannelIDs) {
		return nil
	}
	return func(a *alert.Alert) bool { return a.RuleID == next.ID }
}

// teamReaches: a team that is on call, and has another channel or is switched on. Members get mails through the
// channels of routes, which have told of the alert already.
func (d Deps) teamReaches(ctx context.Context, former, next *alert.Team) func(a *alert.Alert) bool {
	if former == nil || former.Enabled && !more(former.ChannelIDs, next.ChannelIDs) {
		return nil // no plan names a new one
	}
	return d.onCallReaches(ctx, func(p *policy.Policy) { p.Teams[former.ID] = former })
}

// planReaches: a plan by which a team is on call now that was not.
func (d Deps) planReaches(ctx context.Context, former, _ *alert.OnCall) func(a *alert.Alert) bool {
	if former == nil {
		return nil // no route names a new one
	}
	return d.onCallReaches(ctx, func(p *policy.Policy) { p.OnCall[former.ID] = former })
}

// onCallReaches are the alerts of the routes whose plans lead to another channel now than before; undo makes
// what is stored what it was.
func (d Deps) onCallReaches(ctx context.Context, undo func(p *policy.Policy)) func(a *alert.Alert) bool {
	stored, err := d.Settings.AlertSettings(ctx, []alert.Kind{alert.KindRoute, alert.KindTeam, alert.KindOnCall},
		bounds.Settings)
	if err != nil {
		return nil
	}
	// One that cannot be read leads nowhere.
	now := &policy.Policy{
		Teams:  ruleset.Read[alert.Team](stored, alert.KindTeam, nil),
		OnCall: ruleset.Read[alert.OnCall](stored, alert.KindOnCall, nil),
	}
	before := &policy.Policy{Teams: maps.Clone(now.Teams), OnCall: maps.Clone(now.OnCall)}
	undo(before)
	at := d.Clock.Now()
	var routes []*alert.Route
	for _, r := range ruleset.Read[alert.Route](stored, alert.KindRoute, nil) {
		was, is := before.OnCallAt(r.OnCallID, at), now.OnCallAt(r.OnCallID, at)
		if r.Enabled && more(was.ChannelIDs, is.ChannelIDs) {
			routes = append(routes, r)
		}
	}
	if len(routes) == 0 {
		return nil
	}
	return func(a *alert.Alert) bool {
		return slices.ContainsFunc(routes, func(r *alert.Route) bool {
			return (r.Group == "" || r.Group == a.Group) && alert.Matches(r.Match, a.Labels)
		})
	}
}

// more reports whether next has an entry that former has not.
func more(former, next []string) bool {
	return slices.ContainsFunc(next, func(id string) bool { return !slices.Contains(former, id) })
}
