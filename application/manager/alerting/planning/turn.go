package planning

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

// eachAtMost is how often an alert of a rule that tells of each evidence is told.
const eachAtMost = time.Minute

// alertPlan is the plan for one alert at one moment.
type alertPlan struct {
	*basis
	now      time.Time
	notified map[string]*history
	// planned: it is over, and was planned while it fired.
	planned bool
	// silence holds all messages back; nil is none.
	silence *alert.Silence
	// explained holds those to some channels back, each by its cause.
	explained map[string]*alert.Alert
}

// history is what was planned to tell of an alert through one channel.
type history struct {
	// latest is what was told last: what is DEAD counts only where nothing else was told.
	latest repository.PlannedMessage
	// at is when the latest was planned or sent; zero: none was told, but all were held back.
	// open: one waits, or is tried; fresh: it waits.
	at    time.Time
	open  bool
	fresh bool
	// seq is the latest change of the alert that was told.
	seq int64
	// held are the things that have held one back.
	held map[string]bool
}

// historyOf collects the messages about one alert, by channel.
func historyOf(told []repository.PlannedMessage, alertID string) map[string]*history {
	out := map[string]*history{}
	for _, t := range told {
		if t.AlertID != alertID {
			continue
		}
		h := out[t.ChannelID]
		if h == nil {
			h = &history{held: map[string]bool{}}
			out[t.ChannelID] = h
		}
		if t.State == alert.NotificationSuppressed {
			h.held[t.Why] = true
			continue
		}
		h.seq, h.open, h.fresh = max(h.seq, t.Seq), h.open || t.State == alert.NotificationOpen, h.fresh || t.Fresh
		if t.At.After(h.at) {
			h.at = t.At
		}
		if isLater(t, h.latest) {
			h.latest = t
		}
	}
	return out
}

// isLater reports whether t told somebody of an alert after former, which may be the zero value. A DEAD notification
// has reached nobody.
func isLater(t, former repository.PlannedMessage) bool {
	dead, was := t.State == alert.NotificationDead, former.State == alert.NotificationDead
	return former.State == "" || dead == was && !t.At.Before(former.At) || was && !dead
}

// plan adds to the outbox what is due. It is false where somebody else has changed the
// alert meanwhile.
func (t *alertPlan) plan(ctx context.Context, w *messages, a *alert.Alert) (bool, error) {
	t.holdBack(a)
	targets, due := t.targets(a)
	ok, err := w.tx.Alerts.PlanAlert(ctx, a.ID, a.Seq, a.NotifyDue, due)
	if err != nil || !ok {
		return false, err
	}
	for _, target := range targets {
		if err := w.notify(ctx, target, a, t.why(target.ChannelID)); err != nil {
			return false, err
		}
	}
	if actions := alerting.ActionsOf(t.policy.Rules[a.RuleID], a, t.now); len(actions) > 0 {
		return true, w.tx.Alerts.AddActions(ctx, actions)
	}
	return true, nil
}

// holdBack finds what holds the messages about an alert back. Nothing holds back the message that the alert is over:
// its receivers wait for it, and a silence is about new alerts.
func (t *alertPlan) holdBack(a *alert.Alert) {
	if t.over(a) {
		return
	}
	if silence, yes := t.policy.Silenced(a, t.now); yes {
		t.silence = silence
	} else {
		t.explained = t.policy.Explained(a, t.causes, t.now)
	}
}

// why is what holds the messages to a channel back; empty is nothing.
func (t *alertPlan) why(channelID string) string {
	if t.silence != nil {
		return "silence: " + t.silence.Name
	}
	if cause := t.explained[channelID]; cause != nil {
		return "inhibited by alert " + cause.ID
	}
	return ""
}

// over: the alert is resolved, and either somebody was told of it before, or nobody was to be told. A channel that has
// not heard of it does not hear that it is over. An alert that ended before anybody could hear of it is told once.
func (t *alertPlan) over(a *alert.Alert) bool {
	return a.Status == alert.Resolved && (len(t.notified) > 0 || t.planned)
}

// targets are where an alert is to be told now, and when it is to be planned again; zero is
// never.
func (t *alertPlan) targets(a *alert.Alert) (out []policy.Target, due time.Time) {
	if t.over(a) {
		if _, short := alerting.ShortRuleOf(a.RuleID); short {
			return nil, due // a job names who is told of what is over
		}
		return t.notifiedBefore(a), due
	}
	all, due := t.policy.Targets(a, t.now)
	if t.silence != nil {
		due = t.silence.To
	}
	for _, target := range all {
		held := t.why(target.ChannelID) != ""
		if held && t.silence == nil {
			due = policy.Earlier(due, t.now.Add(lookAgain))
		}
		when := t.when(a, target)
		switch {
		case when.IsZero():
		case when.After(t.now):
			due = policy.Earlier(due, when)
		default:
			target.Again = t.again(a, target)
			out = append(out, target)
			if target.Repeat > 0 && !held {
				due = policy.Earlier(due, t.now.Add(target.Repeat))
			}
		}
	}
	if a.Status == alert.Resolved {
		due = time.Time{} // it is told once that it is over
	}
	return out, due
}

// again reports whether a target tells people what they, or others, know: a repeat, or an escalation.
func (t *alertPlan) again(a *alert.Alert, target policy.Target) bool {
	h := t.notified[target.ChannelID]
	if h == nil || h.at.IsZero() {
		return target.Escalated
	}
	r := t.policy.Rules[a.RuleID]
	return r == nil || r.Notify != alert.NotifyEach || a.Seq <= h.seq
}

// when is when an alert is to be told through a target, or to be recorded as held back from
// it; zero is never.
func (t *alertPlan) when(a *alert.Alert, target policy.Target) (when time.Time) {
	h := t.notified[target.ChannelID]
	if h == nil {
		return t.now
	}
	if why := t.why(target.ChannelID); why != "" && h.held[why] {
		return when // that is recorded
	}
	switch {
	case h.at.IsZero():
		return t.now
	case a.Status != alert.Firing:
		return when // somebody takes care
	}
	if r := t.policy.Rules[a.RuleID]; r != nil && r.Notify == alert.NotifyEach && a.Seq > h.seq {
		if h.fresh {
			return t.now // it joins what waits
		}
		when = h.at.Add(eachAtMost)
	}
	if target.Repeat > 0 {
		when = policy.Earlier(when, h.at.Add(target.Repeat))
	}
	if h.open && !when.IsZero() && !when.After(t.now) {
		// A waiting message tells of the alert as it will be then.
		when = t.now.Add(eachAtMost)
	}
	return when
}

// notifiedBefore are the targets that heard of an alert that is over. Each stays in the group of its latest message
// about the alert, so that this message comes after it. The people stay the same, whoever is on call now.
func (t *alertPlan) notifiedBefore(a *alert.Alert) (out []policy.Target) {
	fired := *a
	fired.Status = alert.Firing
	known := map[string]policy.Target{}
	all, _ := t.policy.Targets(&fired, t.now)
	for _, target := range all {
		known[target.ChannelID] = target
	}
	for id, h := range t.notified {
		if _, exists := t.policy.Channels[id]; !exists || h.at.IsZero() {
			continue
		}
		target := known[id]
		target.ChannelID, target.GroupKey, target.Wait, target.To = id, h.latest.GroupKey, 0, h.latest.To
		out = append(out, target)
	}
	return out
}
