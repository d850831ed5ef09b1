// Package policy decides whom an alert is told: routes, silences, causes and who is on call.
// It knows no store and no clock.
package policy

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Policy is what decides where alerts are told.
type Policy struct {
	Rules    map[string]*alert.Rule
	Routes   []*alert.Route
	Silences []*alert.Silence
	// Channels are those that exist and are enabled, with their groups; empty is all.
	Channels map[string]string
	// ChannelIDs are their ids by name, as jobs name them.
	ChannelIDs map[string]string
	// Programs are channels that programs read: they may get more messages than people.
	Programs map[string]bool
	// Reach says how channels reach the people on call, where they do.
	Reach map[string]alert.Reach
	Teams map[string]*alert.Team
	// Contacts are those of users, by the ids of these: any user may have several.
	Contacts map[string][]*alert.Contact
	OnCall   map[string]*alert.OnCall
}

// Target is one channel that an alert is told to.
type Target struct {
	ChannelID string
	// GroupKey names the alerts that share a message. Wait is how long the first of them
	// waits for others, Interval how long later ones do; Repeat is after how long the alert
	// is told again, 0 is never.
	GroupKey string
	Wait     time.Duration
	Interval time.Duration
	Repeat   time.Duration
	// RouteID is empty for the channels of a rule.
	RouteID    string
	TemplateID string
	// To are the addresses of the people on call, by which the channel reaches them: a mail then goes to these and not to
	// those of the channel, a robot calls them.
	To []string
	// people are on call, for a route of this group.
	people []string
	group  string
	// Escalated: the alert was not acknowledged in time.
	Escalated bool
	// Again: it repeats, or escalates, what was told.
	Again bool
}

// Targets are where an alert is told at a moment: by the channels of its rule, which are
// the short form of a route, and by the first route that matches. A channel is named once.
// Next is when the answer may be another one because of time alone; zero is never.
func (p *Policy) Targets(a *alert.Alert, now time.Time) (targets []Target, next time.Time) {
	seen := map[string]bool{}
	add := func(t Target, channels []string) {
		for _, id := range channels {
			group, exists := p.Channels[id]
			// A channel of a group takes the alerts of that group alone.
			if !exists || seen[id] || group != "" && group != a.Group || id == deadChannel(a) {
				continue
			}
			seen[id] = true
			targets = append(targets, p.through(id, t))
		}
	}
	if r := p.Rules[a.RuleID]; r != nil && len(r.ChannelIDs) > 0 {
		add(Target{GroupKey: a.Fingerprint}, r.ChannelIDs)
	}
	unnamed := a.Type == alert.DeadlineMissed || a.Type == alert.DeadlineAtRisk
	if _, short := alerting.ShortRuleOf(a.RuleID); short && !(unnamed && len(targets) == 0) {
		return targets, next // the job says itself who is told
	}
	for _, r := range inOrder(p.Routes) {
		if !r.Enabled || r.Group != "" && r.Group != a.Group || !alert.Matches(r.Match, a.Labels) {
			continue
		}
		t := Target{
			GroupKey: groupKey(r, a), Wait: span(r.GroupWaitSec), Interval: span(r.GroupIntervalSec),
			Repeat: span(r.RepeatSec), RouteID: r.ID, TemplateID: r.TemplateID,
		}
		who := p.OnCallAt(r.OnCallID, now)
		t.people, t.group = who.People, r.Group
		add(t, append(slices.Clone(r.ChannelIDs), who.ChannelIDs...))
		if r.EscalateAfterSec > 0 && a.Status == alert.Firing {
			due := a.StartTime.Add(span(r.EscalateAfterSec))
			if now.Before(due) {
				next = Earlier(next, due)
			} else {
				t.Escalated, t.people = true, nil
				add(t, r.EscalateTo)
			}
		}
		if !r.Continue {
			break
		}
	}
	if len(targets) == 0 && a.Type == alert.DeliveryFailed {
		for _, id := range slices.Sorted(maps.Keys(p.Channels)) {
			if add(Target{GroupKey: a.Fingerprint}, []string{id}); len(targets) == maxInstead {
				break
			}
		}
	}
	return targets, next
}

// through is a target by one channel. Messages to other people are another group: else that an
// alert is over could join a message to somebody who was not told of it.
func (p *Policy) through(channelID string, t Target) Target {
	t.ChannelID = channelID
	if t.To = p.addresses(t.people, t.group, p.Reach[channelID]); len(t.To) > 0 {
		t.GroupKey = identity.Hash(append([]string{"to", t.GroupKey}, t.To...)...)
	}
	return t
}

// maxInstead is how many channels take the alert that another one does not work, where
// neither a rule nor a route names one.
const maxInstead = 2

// deadChannel is the channel that an alert is about; nothing is told through it.
func deadChannel(a *alert.Alert) string {
	if a.Type != alert.DeliveryFailed {
		return ""
	}
	return a.Details["channelId"]
}

// Earlier is the earlier of two moments of which either may be unset.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func span(sec int) time.Duration { return time.Duration(sec) * time.Second }

func inOrder(routes []*alert.Route) []*alert.Route {
	return slices.SortedStableFunc(slices.Values(routes), func(a, b *alert.Route) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), strings.Compare(a.Name, b.Name))
	})
}

// groupKey names the alerts of a route that have the same values of its labels. Without
// labels each alert stands alone, so that the order of its messages is its own.
func groupKey(r *alert.Route, a *alert.Alert) string {
	if len(r.GroupBy) == 0 {
		return identity.Hash("route", r.ID, a.Fingerprint)
	}
	parts := []string{"route", r.ID}
	for _, name := range r.GroupBy {
		parts = append(parts, name, a.Labels[name])
	}
	return identity.Hash(parts...)
}

// OverflowKey names the alerts that share a message to a channel because it has got as
// many as it may: those about jobs one, all others another one.
func OverflowKey(channelID string, job bool) string {
	if job {
		return identity.Hash("overflow", channelID)
	}
	return identity.Hash("overflow", "no job", channelID)
}

// AgainKey is OverflowKey for repeats and escalations.
func AgainKey(channelID string, job bool) string {
	if job {
		return identity.Hash("again", channelID)
	}
	return identity.Hash("again", "no job", channelID)
}

// ReportKey is the group key of weekly reports; their number is the week.
func ReportKey() string { return identity.Hash("weekly-report") }

// NotificationID is the id of the n-th message of a group key to a channel: whoever plans
// it again meets the first.
func NotificationID(groupKey, channelID string, n int) string {
	return "n-" + identity.Hash("notification", groupKey, channelID, strconv.Itoa(n))
}
