package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(sec int) time.Time { return noon.Add(time.Duration(sec) * time.Second) }

func route(id string, position int, change func(r *alert.Route)) *alert.Route {
	r := &alert.Route{
		Head: alert.Head{ID: id, Name: id, Enabled: true}, Position: position, ChannelIDs: []string{"c-" + id},
	}
	if change != nil {
		change(r)
	}
	return r
}

func firing(change func(a *alert.Alert)) *alert.Alert {
	a := &alert.Alert{
		ID: "a", Fingerprint: "f", Type: alert.JobFailed, Status: alert.Firing, RuleID: "r1", Group: "pay", JobID: "j1",
		Labels: map[string]string{"severity": "CRITICAL", "job": "settle"}, StartTime: noon,
	}
	if change != nil {
		change(a)
	}
	return a
}

func routed(routes ...*alert.Route) *policy.Policy {
	return &policy.Policy{
		Rules: map[string]*alert.Rule{"r1": {ChannelIDs: []string{"direct", "gone"}}}, Routes: routes,
		Channels: map[string]string{"direct": "", "c-1": "", "c-2": "", "c-3": "", "c-risk": "risk", "boss": ""},
	}
}

func channels(targets []policy.Target) (out []string) {
	for _, t := range targets {
		out = append(out, t.ChannelID)
	}
	return out
}

func TestTheFirstRouteThatMatchesTakesTheAlert(t *testing.T) {
	for name, c := range map[string]struct {
		routes []*alert.Route
		want   []string
	}{
		"none":     {nil, []string{"direct"}},
		"in order": {[]*alert.Route{route("2", 2, nil), route("1", 1, nil)}, []string{"direct", "c-1"}},
		"by name":  {[]*alert.Route{route("2", 0, nil), route("1", 0, nil)}, []string{"direct", "c-1"}},
		"it goes on": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) { r.Continue = true }), route("2", 2, nil)},
			[]string{"direct", "c-1", "c-2"},
		},
		"off": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) { r.Enabled = false }), route("2", 2, nil)},
			[]string{"direct", "c-2"},
		},
		"no match": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) {
				r.Match = map[string]string{"job": "x"}
			}), route("2", 2, nil)},
			[]string{"direct", "c-2"},
		},
		"a match": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) {
				r.Match = map[string]string{"job": "settle"}
			}), route("2", 2, nil)},
			[]string{"direct", "c-1"},
		},
		"other group": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) { r.Group = "risk" }), route("2", 2, nil)},
			[]string{"direct", "c-2"},
		},
		"once": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) { r.ChannelIDs = []string{"direct", "c-1", "c-1"} })},
			[]string{"direct", "c-1"},
		},
		"a channel of another group": {
			[]*alert.Route{route("1", 1, func(r *alert.Route) { r.ChannelIDs = []string{"c-risk", "c-3"} })},
			[]string{"direct", "c-3"},
		},
	} {
		targets, next := routed(c.routes...).Targets(firing(nil), noon)
		require.Equal(t, c.want, channels(targets), name)
		require.True(t, next.IsZero(), name)
	}
}

func TestAlertsShareAMessageByLabels(t *testing.T) {
	p := routed(route("1", 1, func(r *alert.Route) {
		r.GroupBy, r.GroupWaitSec, r.GroupIntervalSec, r.RepeatSec, r.TemplateID = []string{"severity"}, 30, 300, 3600, "t"
	}))
	p.Rules = nil
	key := func(change func(a *alert.Alert)) string {
		targets, _ := p.Targets(firing(change), noon)
		return targets[0].GroupKey
	}
	one := key(nil)
	require.Equal(t, one, key(func(a *alert.Alert) { a.Fingerprint = "other" }))
	require.NotEqual(t, one, key(func(a *alert.Alert) { a.Labels["severity"] = "INFO" }))
	targets, _ := p.Targets(firing(nil), noon)
	require.Equal(t, policy.Target{
		ChannelID: "c-1", GroupKey: one, Wait: 30 * time.Second, Interval: 5 * time.Minute, Repeat: time.Hour,
		RouteID: "1", TemplateID: "t",
	}, targets[0])
	p.Routes[0].GroupBy = nil
	require.NotEqual(t, key(nil), key(func(a *alert.Alert) { a.Fingerprint = "other" }), "else each stands alone")
	require.NotEqual(t, policy.NotificationID(one, "c", 1), policy.NotificationID(one, "c", 2))
	require.LessOrEqual(t, len(policy.NotificationID(one, "c", 1)), 50, "it fits its column")
}

func TestAnAlertThatNobodyAcknowledgesEscalates(t *testing.T) {
	p := routed(route("1", 1, func(r *alert.Route) { r.EscalateAfterSec, r.EscalateTo = 600, []string{"boss"} }))
	p.Rules = nil
	targets, next := p.Targets(firing(nil), at(599))
	require.Equal(t, []string{"c-1"}, channels(targets))
	require.Equal(t, at(600), next)
	targets, next = p.Targets(firing(nil), at(600))
	require.Equal(t, []string{"c-1", "boss"}, channels(targets))
	require.Equal(t, []bool{false, true}, []bool{targets[0].Escalated, targets[1].Escalated})
	require.True(t, next.IsZero())
	acked := firing(func(a *alert.Alert) { a.Status = alert.Acknowledged })
	targets, next = p.Targets(acked, at(600))
	require.Equal(t, []string{"c-1"}, channels(targets))
	require.True(t, next.IsZero())
}

func TestTheTeamOnCallIsTold(t *testing.T) {
	p := routed(route("1", 1, func(r *alert.Route) { r.ChannelIDs, r.OnCallID = nil, "plan" }))
	p.Rules = nil
	on := alert.Head{Enabled: true}
	p.Teams = map[string]*alert.Team{
		"day": {Head: on, ChannelIDs: []string{"c-2"}}, "night": {Head: on, ChannelIDs: []string{"c-3"}},
	}
	p.OnCall = map[string]*alert.OnCall{"plan": {
		Head: alert.Head{Enabled: true}, TimeZone: "Asia/Shanghai", // noon is 20:00 there
		Shifts: []alert.Shift{{TeamID: "day", FromMin: 480, ToMin: 1200}, {TeamID: "night", FromMin: 1200, ToMin: 480}},
	}}
	targets, _ := p.Targets(firing(nil), at(-1))
	require.Equal(t, []string{"c-2"}, channels(targets))
	targets, _ = p.Targets(firing(nil), noon)
	require.Equal(t, []string{"c-3"}, channels(targets))
	p.Teams["night"].Enabled = false
	targets, _ = p.Targets(firing(nil), noon)
	require.Empty(t, targets, "the team is switched off")
	targets, _ = p.Targets(firing(nil), at(-1))
	require.Equal(t, []string{"c-2"}, channels(targets), "the other one is not")
	p.OnCall["plan"].Enabled = false
	targets, _ = p.Targets(firing(nil), at(-1))
	require.Empty(t, targets)
}

func TestAShiftBelongsToTheDayOnWhichItBegins(t *testing.T) {
	night := alert.Shift{Days: []time.Weekday{time.Friday}, FromMin: 1320, ToMin: 360}
	friday := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for hour, want := range map[int]bool{5: false, 21: false, 22: true, 29: true, 30: false, 46: false} {
		require.Equal(t, want, policy.OnShift(night, friday.Add(time.Duration(hour)*time.Hour)), "hour %d", hour)
	}
}

func TestASilenceHoldsBackWhatItMatches(t *testing.T) {
	silence := func(change func(s *alert.Silence)) *policy.Policy {
		s := &alert.Silence{
			Head: alert.Head{Enabled: true}, Match: map[string]string{"job": "settle"}, From: noon, To: at(60),
		}
		if change != nil {
			change(s)
		}
		return &policy.Policy{Silences: []*alert.Silence{s}}
	}
	held := func(p *policy.Policy, sec int) bool {
		_, yes := p.Silenced(firing(nil), at(sec))
		return yes
	}
	require.True(t, held(silence(nil), 0))
	require.False(t, held(silence(nil), -1))
	require.False(t, held(silence(nil), 60))
	require.False(t, held(silence(func(s *alert.Silence) { s.Enabled = false }), 0))
	require.False(t, held(silence(func(s *alert.Silence) { s.Group = "risk" }), 0))
	require.True(t, held(silence(func(s *alert.Silence) { s.Group = "pay" }), 0))
	require.False(t, held(silence(func(s *alert.Silence) { s.Match["job"] = "x" }), 0))
}

func TestACauseHoldsBackWhatItExplains(t *testing.T) {
	node := func(t alert.RuleType, id string) *alert.Alert {
		return firing(func(a *alert.Alert) { a.ID, a.Type, a.NodeID, a.JobID = string(t), t, id, "" })
	}
	job := func(t alert.RuleType, id string) *alert.Alert {
		return firing(func(a *alert.Alert) { a.ID, a.Type, a.JobID = string(t)+id, t, id })
	}
	for name, c := range map[string]struct {
		cause, a *alert.Alert
		want     bool
	}{
		"down explains suspect":       {node(alert.NodeDown, "n"), node(alert.NodeSuspect, "n"), true},
		"of that node":                {node(alert.NodeDown, "n"), node(alert.NodeSuspect, "m"), false},
		"suspect explains nothing":    {node(alert.NodeSuspect, "n"), node(alert.NodeDown, "n"), false},
		"a row explains a failure":    {job(alert.ConsecutiveFailures, "j"), job(alert.JobFailed, "j"), true},
		"of that job":                 {job(alert.ConsecutiveFailures, "j"), job(alert.JobFailed, "k"), false},
		"many explain one":            {job(alert.NotFired, ""), job(alert.NotFired, "j"), true},
		"one does not explain itself": {job(alert.NotFired, "j"), job(alert.NotFired, "j"), false},
		"a standstill explains":       {node(alert.NothingRan, ""), job(alert.NotFired, "j"), true},
	} {
		p := routed(route("1", 1, nil))
		got := p.Explained(c.a, policy.CausesAmong([]*alert.Alert{c.a, c.cause}), noon)
		require.Equal(t, c.want, got["c-1"] == c.cause, name)
		p.Routes, p.Rules = nil, nil
		require.Empty(t, p.Explained(c.a, policy.CausesAmong([]*alert.Alert{c.a, c.cause}), noon),
			"%s: what goes nowhere explains nothing", name)
		c.cause.Status = alert.Pending
		got = routed(route("1", 1, nil)).Explained(c.a, policy.CausesAmong([]*alert.Alert{c.cause}), noon)
		require.Empty(t, got, "%s: a pending alert explains nothing", name)
	}
}

// Members of a team take turns, each for some days; a night belongs to the day before.
func TestMembersTakeTurns(t *testing.T) {
	zone, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	people := []string{"ann", "bob", "cyd"}
	week := alert.Shift{FromMin: 20 * 60, ToMin: 8 * 60, RotateDays: 7, RotateFrom: "2026-11-02"}
	for at, want := range map[string]string{
		"2026-11-02T20:00:00": "ann", "2026-11-08T23:00:00": "ann", "2026-11-09T07:59:00": "ann",
		"2026-11-09T20:00:00": "bob", "2026-11-16T21:00:00": "cyd", "2026-11-23T21:00:00": "ann",
		"2026-11-01T21:00:00": "cyd", "2026-10-19T21:00:00": "bob",
	} {
		moment, err := time.ParseInLocation("2006-01-02T15:04:05", at, zone)
		require.NoError(t, err)
		require.Equal(t, []string{want}, policy.Turn(week, people, moment), at)
	}
	require.Equal(t, people, policy.Turn(alert.Shift{}, people, noon), "without turns all of them")
	require.Empty(t, policy.Turn(week, nil, noon))
}

// The mail about an alert goes to who is on call; without an address to those of the channel.
func TestAMailGoesToWhoIsOnCall(t *testing.T) {
	p := routed(route("1", 1, func(r *alert.Route) {
		r.OnCallID, r.EscalateAfterSec, r.EscalateTo = "plan", 60, []string{"boss"}
	}))
	p.Teams = map[string]*alert.Team{"day": {
		Head: alert.Head{Enabled: true}, Members: []string{"ann", "bob"}, ChannelIDs: []string{"c-2"},
	}}
	p.Contacts = map[string][]*alert.Contact{
		"ann": {{Head: alert.Head{Enabled: true}, Email: "ann@example.org"}},
		"bob": {{Head: alert.Head{Enabled: true}, Phone: "1"}},
	}
	p.OnCall = map[string]*alert.OnCall{"plan": {
		Head: alert.Head{Enabled: true}, TimeZone: "UTC",
		Shifts: []alert.Shift{{TeamID: "day", FromMin: 12 * 60, ToMin: 18 * 60}},
	}}
	p.Reach = map[string]alert.Reach{"direct": alert.ByMail, "c-1": alert.ByMail, "boss": alert.ByMail}
	told, _ := p.Targets(firing(nil), noon.Add(2*time.Minute))
	to, groups := map[string][]string{}, map[string]string{}
	for _, target := range told {
		to[target.ChannelID], groups[target.ChannelID] = target.To, target.GroupKey
	}
	ann := []string{"ann@example.org"}
	require.Equal(t, map[string][]string{"direct": nil, "c-1": ann, "c-2": nil, "boss": nil}, to)
	require.Equal(t, groups["boss"], groups["c-2"])
	require.NotEqual(t, groups["boss"], groups["c-1"], "mails to other people are another group")
	p.Contacts["ann"][0].Email = "ann@example.com"
	told, _ = p.Targets(firing(nil), noon.Add(2*time.Minute))
	require.NotEqual(t, groups["c-1"], told[1].GroupKey)
	told, _ = p.Targets(firing(nil), noon.Add(-time.Minute))
	require.Nil(t, told[1].To, "nobody is on call")
}

// A channel reaches the people on call by the address that it knows.
func TestARobotCallsWhoIsOnCall(t *testing.T) {
	p := routed(route("1", 1, func(r *alert.Route) { r.OnCallID = "plan" }))
	p.Teams = map[string]*alert.Team{"day": {Head: alert.Head{Enabled: true}, Members: []string{"ann", "bob"}}}
	p.Contacts = map[string][]*alert.Contact{
		"ann": {{Head: alert.Head{Enabled: true}, Phone: "138 0013 8000", ChatID: "ou_ann"}},
		"bob": {{Head: alert.Head{Enabled: true}, Email: "bob@example.org"}},
	}
	p.OnCall = map[string]*alert.OnCall{"plan": {
		Head: alert.Head{Enabled: true}, TimeZone: "UTC", Shifts: []alert.Shift{{TeamID: "day"}},
	}}
	for name, c := range map[string]struct {
		reach alert.Reach
		want  []string
	}{
		"by phone": {alert.ByPhone, []string{"13800138000"}}, "by chat id": {alert.ByChat, []string{"ou_ann"}},
		"by mail": {alert.ByMail, []string{"bob@example.org"}}, "not at all": {nil, nil},
	} {
		p.Reach = map[string]alert.Reach{"c-1": c.reach}
		told, _ := p.Targets(firing(nil), noon)
		require.Equal(t, c.want, told[1].To, name)
	}
}

// Whoever writes the contacts of one group cannot lead away the mails about other groups,
// and a contact that is switched off has no address.
func TestAContactOfAGroupIsForRoutesOfThatGroup(t *testing.T) {
	on := func(group, name, email string) *alert.Contact {
		return &alert.Contact{Head: alert.Head{Enabled: true, Group: group, Name: name}, Email: email}
	}
	to := func(routeOf string, contacts ...*alert.Contact) []string {
		p := routed(route("1", 1, func(r *alert.Route) { r.OnCallID, r.Group = "plan", routeOf }))
		p.Reach = map[string]alert.Reach{"c-1": alert.ByMail}
		p.Teams = map[string]*alert.Team{"day": {Head: alert.Head{Enabled: true}, Members: []string{"ann"}}}
		p.Contacts = map[string][]*alert.Contact{"ann": contacts}
		p.OnCall = map[string]*alert.OnCall{"plan": {
			Head: alert.Head{Enabled: true}, TimeZone: "UTC", Shifts: []alert.Shift{{TeamID: "day"}},
		}}
		told, _ := p.Targets(firing(nil), noon)
		require.Len(t, told, 2)
		return told[1].To
	}
	all, risk, pay := on("", "ann", "ann@all"), on("risk", "ann in risk", "eve@risk"), on("pay", "ann in pay", "ann@pay")
	require.Equal(t, []string{"ann@all"}, to("", all, risk, pay))
	require.Equal(t, []string{"ann@all"}, to("", pay, risk, all), "in whatever order")
	require.Equal(t, []string{"ann@pay"}, to("pay", all, risk, pay))
	require.Equal(t, []string{"ann@all"}, to("pay", risk, all))
	require.Nil(t, to("", risk, pay), "an address of another group is none")
	pay.Enabled = false
	require.Equal(t, []string{"ann@all"}, to("pay", all, pay))
}
