package alerting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

func failure(r *alert.Rule, id string, sec int) *alerting.Signal {
	e := end(fail, "")
	e.ExecutionID, e.At = id, at(sec)
	s, _ := alerting.OnEnd(r, pay, e, alerting.Past{})
	return &s
}

func TestTheNamesOfEpisodesAreFrozen(t *testing.T) {
	s := failure(rule(alert.JobFailed, nil), "e1", 0)
	require.Equal(t, "2023da128fe84401be109d35708c7a40", s.Fingerprint())
	require.Equal(t, "01a1f8d3", s.EpisodeID()[:8])
	require.Equal(t, s.EpisodeID(), failure(rule(alert.JobFailed, nil), "e1", 0).EpisodeID())
	require.NotEqual(t, s.EpisodeID(), failure(rule(alert.JobFailed, nil), "e2", 0).EpisodeID())
	require.Less(t, s.EpisodeID(), failure(rule(alert.JobFailed, nil), "e0", 1).EpisodeID(), "the newest is the greatest")
}

func TestTheFirstFailureOpensAndTheNextCount(t *testing.T) {
	r := rule(alert.JobFailed, func(r *alert.Rule) { r.Labels = map[string]string{"team": "a", "job": "x"} })
	c := alerting.Happened(nil, failure(r, "e1", 0), at(2))
	require.True(t, c.Opens)
	a := c.Alert
	require.Equal(t, []any{alert.Firing, 1, int64(1), at(2), at(2), noon, noon, true}, []any{
		a.Status, a.Count, a.Seq, a.StartTime, a.NotifyDue, a.LastTime, a.EvidenceUntil, a.Held,
	})
	require.Equal(t, map[string]string{
		"alertname": "JOB_FAILED", "severity": "WARNING", "group": "pay", "rule": "rule", "tier": "1",
		"team": "a", "job": "settle", // a rule forges no label that says what the alert is about
	}, a.Labels)
	a.NotifyDue = time.Time{}
	c = alerting.Happened(a, failure(r, "e2", 5), at(6))
	require.False(t, c.Opens)
	require.Equal(t, []any{int64(1), int64(2), 2, "e1", "e2", at(5)}, []any{
		c.Former, c.Alert.Seq, c.Alert.Count, c.Alert.ExecutionID, c.Alert.LastExecutionID, c.Alert.LastTime,
	})
	require.True(t, c.Alert.NotifyDue.IsZero(), "FIRST tells of the first")
	require.Equal(t, 1, a.Count, "what was read stays as it is")
	r.Notify = alert.NotifyEach
	require.Equal(t, at(7), alerting.Happened(c.Alert, failure(r, "e3", 6), at(7)).Alert.NotifyDue)
}

// The same evidence never opens another episode.
func TestWhatAnEpisodeHasSeenOpensNoOther(t *testing.T) {
	r := rule(alert.JobFailed, nil)
	a := alerting.Happened(nil, failure(r, "e1", 0), noon).Alert
	a = alerting.Happened(a, failure(r, "e2", 10), at(10)).Alert
	require.NoError(t, a.ResolveByHand("ann", at(20)))
	for i, late := range []string{"e1", "late"} { // it counts, and nobody is told
		c := alerting.Happened(a, failure(r, late, 10*i), at(21))
		require.Equal(t, []any{false, alert.Resolved, 3, a.NotifyDue},
			[]any{c.Opens, c.Alert.Status, c.Alert.Count, c.Alert.NotifyDue})
	}
	c := alerting.Happened(a, failure(r, "e3", 11), at(21))
	require.True(t, c.Opens, "a newer failure does")

	b := alerting.Happened(nil, failure(r, "e1", 0), noon).Alert
	b = alerting.Ended(b, alert.ByRecovery, at(30), at(31)).Alert
	require.False(t, alerting.Happened(b, failure(r, "late", 29), at(40)).Opens, "it was before the recovery")
	require.True(t, alerting.Happened(b, failure(r, "e4", 35), at(40)).Opens)
}

func TestASuccessIsOverAtOnce(t *testing.T) {
	r := rule(alert.JobSucceeded, nil)
	s, found := alerting.OnEnd(r, pay, end(ok, ""), alerting.Past{})
	require.True(t, found)
	a := alerting.Happened(nil, &s, at(1)).Alert
	require.Equal(t, []any{alert.Resolved, alert.ByNature, false, at(1)},
		[]any{a.Status, a.Resolution, a.Held, a.NotifyDue})
}

func queue(depth int) *alerting.State {
	return &alerting.State{Now: noon, Queues: []alerting.Queue{{Name: alerting.Ready, Depth: depth, Oldest: at(-90)}}}
}

func level(r *alert.Rule, sec int) *alerting.Signal {
	st := queue(100)
	st.Now = at(sec)
	return &alerting.Levels(r, st)[0]
}

// pending since is a row: a level fires when it has held for long enough, whoever looks.
func TestALevelFiresAfterItsTime(t *testing.T) {
	r := rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ForSec = 10, 30 })
	c := alerting.Above(nil, level(r, 0), noon)
	require.True(t, c.Opens)
	require.Equal(t, alert.Pending, c.Alert.Status)
	require.True(t, c.Alert.NotifyDue.IsZero())
	require.Nil(t, alerting.Above(c.Alert, level(r, 29), at(29)).Alert, "nothing is written while nothing changes")
	fired := alerting.Above(c.Alert, level(r, 30), at(30)).Alert
	require.Equal(t, []any{alert.Firing, at(30), at(30)}, []any{fired.Status, fired.StartTime, fired.NotifyDue})
	require.EqualValues(t, 2, fired.Seq)
	gone := alerting.Below(c.Alert, r, at(10)).Alert
	require.Equal(t, []any{alert.Resolved, true}, []any{gone.Status, gone.NotifyDue.IsZero()},
		"nobody hears of a short one")
}

func TestALevelResolvesAfterItWasBelowForAWhile(t *testing.T) {
	r := rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold = 10 })
	a := alerting.Above(nil, level(r, 0), noon).Alert
	below := alerting.Below(a, r, at(5)).Alert
	require.Equal(t, at(5), below.ClearSince)
	require.Nil(t, alerting.Below(below, r, at(14)).Alert, "two looks")
	back := alerting.Above(below, level(r, 12), at(12)).Alert
	require.True(t, back.ClearSince.IsZero(), "it begins anew")
	over := alerting.Below(below, r, at(15)).Alert
	require.Equal(t, []any{alert.Resolved, alert.ByRecovery, false}, []any{over.Status, over.Resolution, over.Held})
	r.KeepSec = 60
	require.Nil(t, alerting.Below(below, r, at(15)).Alert)
	a.Count = 1
	require.Equal(t, 2, alerting.Above(a, level(r, 60), at(60)).Alert.Count, "it is written again each minute")
}

func TestALevelThatWasResolvedByHandIsQuietUntilItFalls(t *testing.T) {
	r := rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold = 10 })
	a := alerting.Above(nil, level(r, 0), noon).Alert
	require.NoError(t, a.ResolveByHand("ann", at(3)))
	require.True(t, a.Held)
	require.Nil(t, alerting.Above(a, level(r, 5), at(5)).Alert)
	free := alerting.Below(a, r, at(10)).Alert
	require.False(t, free.Held)
	require.Equal(t, at(3), free.EndTime)
	require.True(t, alerting.Above(nil, level(r, 20), at(20)).Opens)
}

func TestEventsExpire(t *testing.T) {
	r := rule(alert.JobFailed, nil)
	a := alerting.Happened(nil, failure(r, "e1", 0), noon).Alert
	require.Nil(t, alerting.Expired(a, r, noon.Add(24*time.Hour-time.Second)).Alert)
	require.Equal(t, alert.BySilence, alerting.Expired(a, r, noon.Add(24*time.Hour)).Alert.Resolution)
	r.ResolveAfterSec = 60
	require.NotNil(t, alerting.Expired(a, r, at(60)).Alert)
	q := rule(alert.QueueDepth, func(r *alert.Rule) { r.Threshold = 10 })
	b := alerting.Above(nil, level(q, 0), noon).Alert
	require.Nil(t, alerting.Expired(b, q, noon.Add(48*time.Hour)).Alert, "a level is as it is")
}
