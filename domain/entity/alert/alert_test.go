package alert_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(sec int) time.Time { return noon.Add(time.Duration(sec) * time.Second) }

func firing(kind alert.RuleType) *alert.Alert {
	return &alert.Alert{
		ID: "a", Fingerprint: "f", Held: true, Type: kind, Status: alert.Firing, LastTime: noon, EvidenceUntil: noon,
		Count: 1, Seq: 1, NotifyDue: noon,
	}
}

func TestAPendingAlertFiresOnce(t *testing.T) {
	a := firing(alert.QueueDepth)
	a.Status, a.NotifyDue = alert.Pending, time.Time{}
	a.Fire(at(5))
	require.Equal(t, alert.Firing, a.Status)
	require.Equal(t, []time.Time{at(5), at(5)}, []time.Time{a.StartTime, a.NotifyDue})
	a.Fire(at(9))
	require.Equal(t, at(5), a.StartTime)
	require.EqualValues(t, 2, a.Seq)
}

func TestAnAcknowledgedAlertStillResolves(t *testing.T) {
	a := firing(alert.JobFailed)
	require.NoError(t, a.Acknowledge("ann", at(1)))
	require.Equal(t, alert.Acknowledged, a.Status)
	require.True(t, a.NotifyDue.IsZero(), "nobody is told again")
	require.NoError(t, a.Acknowledge("bob", at(2)))
	require.Equal(t, "ann", a.AckedBy)
	require.EqualValues(t, 2, a.Seq, "a second one changes nothing")
	a.Resolve(alert.ByRecovery, at(3), at(4))
	require.Equal(t, alert.Resolved, a.Status)
	require.Equal(t, []time.Time{at(4), at(3), at(4)}, []time.Time{a.EndTime, a.EvidenceUntil, a.NotifyDue})
	require.False(t, a.Held)
	require.True(t, apperror.Is(a.Acknowledge("ann", at(5)), apperror.KindConflict))
	require.True(t, apperror.Is(a.ResolveByHand("ann", at(5)), apperror.KindConflict))
	a.Resolve(alert.ByHand, at(9), at(9))
	require.Equal(t, alert.ByRecovery, a.Resolution)
}

func TestAPendingAlertEndsInSilence(t *testing.T) {
	a := firing(alert.QueueDepth)
	a.Status, a.NotifyDue = alert.Pending, time.Time{}
	require.True(t, apperror.Is(a.Acknowledge("ann", noon), apperror.KindConflict))
	a.Resolve(alert.ByRecovery, time.Time{}, at(1))
	require.True(t, a.NotifyDue.IsZero(), "nobody was told of it")
	require.Equal(t, noon, a.EvidenceUntil)
}

func TestALevelThatIsResolvedByHandHoldsItsFingerprint(t *testing.T) {
	for name, c := range map[string]struct {
		change func(a *alert.Alert)
		held   bool
	}{
		"a level above its line":   {func(*alert.Alert) {}, true},
		"a level that has fallen":  {func(a *alert.Alert) { a.Clear(noon) }, false},
		"an event":                 {func(a *alert.Alert) { a.Type = alert.JobFailed }, false},
		"an event of a level type": {func(a *alert.Alert) { a.ExecutionID = "e" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := firing(alert.NotFired)
			c.change(a)
			require.NoError(t, a.ResolveByHand("ann", at(1)))
			require.Equal(t, []any{alert.ByHand, "ann", c.held}, []any{a.Resolution, a.ResolvedBy, a.Held})
			seq := a.Seq
			a.Release(at(2))
			require.False(t, a.Held)
			require.Equal(t, c.held, a.Seq > seq, "a release without need is no change")
		})
	}
}

func TestEvidenceMayComeOutOfOrder(t *testing.T) {
	a := firing(alert.JobFailed)
	a.Repeat(at(9), at(10), "e9")
	a.Repeat(at(8), at(11), "e8")
	require.Equal(t, 3, a.Count)
	require.Equal(t, "e9", a.LastExecutionID)
	require.Equal(t, []time.Time{at(9), at(9)}, []time.Time{a.LastTime, a.EvidenceUntil})
	require.EqualValues(t, 3, a.Seq)
}

func TestClearAndPersistChangeOnce(t *testing.T) {
	a := firing(alert.QueueDepth)
	require.True(t, a.Clear(at(1)))
	require.False(t, a.Clear(at(2)))
	require.Equal(t, at(1), a.ClearSince, "it counts from the first look")
	require.True(t, a.Persist(at(3)))
	require.False(t, a.Persist(at(4)))
	require.EqualValues(t, 3, a.Seq)
}

func TestANotificationIsTriedForADay(t *testing.T) {
	n := alert.Notification{State: alert.NotificationOpen, CreateTime: noon, Attempts: 1, LeaseNode: "n"}
	n.Conclude(alert.ResultFailed, "500", 0, at(1), 0)
	require.Equal(t, []any{alert.NotificationOpen, at(2), "500", ""}, []any{n.State, n.NextTry, n.Why, n.LeaseNode})
	n.Attempts = 4
	n.Conclude(alert.ResultUnknown, "lost", 0, at(10), 0)
	require.Equal(t, at(18), n.NextTry, "the wait doubles")
	n.Conclude(alert.ResultFailed, "429", 100*time.Second, at(10), 0)
	require.Equal(t, at(110), n.NextTry, "the channel asked for more")
	n.Conclude(alert.ResultFailed, "500", 0, at(10), 0.5)
	require.Equal(t, at(16), n.NextTry, "jitter shortens it")
	n.Attempts = 40
	n.Conclude(alert.ResultFailed, "429", 99*time.Hour, at(10), 0)
	require.Equal(t, at(610), n.NextTry, "it is bounded")
	n.Conclude(alert.ResultFailed, "500", 0, noon.Add(alert.RetryFor), 0)
	require.Equal(t, alert.NotificationDead, n.State)
	refused := alert.Notification{State: alert.NotificationOpen, CreateTime: noon}
	refused.Conclude(alert.ResultRefused, "404", 0, noon, 0)
	require.Equal(t, alert.NotificationDead, refused.State)
	refused.Conclude(alert.ResultSent, "", 0, noon, 0)
	require.Equal(t, []any{alert.NotificationSent, ""}, []any{refused.State, refused.Why})
}

func TestARuleOfAGroupSeesItsGroupAlone(t *testing.T) {
	labels := map[string]string{"tier": "1", "x": ""}
	for name, c := range map[string]struct {
		rule alert.Rule
		want bool
	}{
		"no bounds":       {alert.Rule{}, true},
		"its group":       {alert.Rule{Head: alert.Head{Group: "pay"}}, true},
		"another group":   {alert.Rule{Head: alert.Head{Group: "risk"}, Scope: alert.Scope{JobIDs: []string{"j"}}}, false},
		"the job":         {alert.Rule{Scope: alert.Scope{JobIDs: []string{"i", "j"}}}, true},
		"another job":     {alert.Rule{Scope: alert.Scope{JobIDs: []string{"i"}}}, false},
		"groups":          {alert.Rule{Scope: alert.Scope{Groups: []string{"pay"}}}, true},
		"other groups":    {alert.Rule{Scope: alert.Scope{Groups: []string{"risk"}, JobIDs: []string{"j"}}}, false},
		"a label":         {alert.Rule{Scope: alert.Scope{Labels: map[string]string{"tier": "1"}}}, true},
		"an empty label":  {alert.Rule{Scope: alert.Scope{Labels: map[string]string{"x": ""}}}, true},
		"a missing label": {alert.Rule{Scope: alert.Scope{Labels: map[string]string{"y": ""}}}, false},
		"another value":   {alert.Rule{Scope: alert.Scope{Labels: map[string]string{"tier": "2"}}}, false},
	} {
		require.Equal(t, c.want, c.rule.Sees("j", "pay", labels), name)
	}
}
