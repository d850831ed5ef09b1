package notifying_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

// naming is how each message told of an alert.
func (p *post) naming(a *alert.Alert) (out []alert.Naming) {
	p.t.Helper()
	found, err := p.store.DeliveriesOf(p.t.Context(), a.ID, 100)
	require.NoError(p.t, err)
	for _, d := range found {
		out = append(out, d.Naming)
	}
	return out
}

// robot answers as a channel whose form takes so many bytes.
func robot(most int) func(string, alert.Message) alert.SendResult {
	return func(_ string, m alert.Message) alert.SendResult {
		_, listed := markup.Form{
			Text: func(c alert.Content) string { return c.Text }, Fits: markup.Within(most, markup.Bytes),
			Spell: markup.Clean,
		}.Fill(m)
		return alert.SendResult{Result: alert.ResultSent, Listed: listed}
	}
}

func node(a *alert.Alert) {
	a.Type, a.Level, a.Group, a.JobID, a.NodeID = alert.NodeDown, alert.Critical, "", "", a.ID
	a.Labels = map[string]string{"alertname": "NODE_DOWN", "node": a.NodeID}
	a.Content = "The node " + a.NodeID + " is DOWN."
}

// The node that died is named first in the message of a storm, which counts the rest, and each alert knows
// whether it was named.
func TestAStormNamesTheNodeFirstAndCountsTheRest(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		var all []*alert.Alert
		for i := range 300 {
			all = append(all, p.fire(fmt.Sprint("5", i), func(a *alert.Alert) {
				a.Type, a.Level, a.Group = alert.ConsecutiveFailures, alert.Critical, fmt.Sprint("team-", i%40)
				a.Details = map[string]string{"reason": "ERROR", "message": fmt.Sprintf("batch %d: no database", i)}
			}))
		}
		dead := p.fire("1", node)
		older := p.fire("0", func(a *alert.Alert) { a.Level = alert.Info })
		p.plan("k", "c1", 1, append(all, dead, older)...)
		p.answers(robot(4096))
		n := p.node("n1")
		p.once(n)
		require.Len(t, p.calls(), 1)
		m := p.calls()[0].Message
		require.Equal(t, dead.ID, m.Alerts[0].ID, "of no job")
		require.Len(t, m.Alerts, alert.MaxMessageAlerts)
		require.Equal(t, []any{"CONSECUTIVE_FAILURES", 300, 40, 300}, []any{
			m.Counts[0].Type, m.Counts[0].Count, m.Counts[0].Groups, m.Counts[0].CauseCount,
		})
		require.Contains(t, m.Counts[0].Cause, "no database")
		require.Equal(t, []alert.Naming{alert.Named}, p.naming(dead))
		require.Equal(t, []alert.Naming{alert.Counted}, p.naming(older))
		named := 0
		for _, a := range all {
			if p.naming(a)[0] == alert.Named {
				named++
			}
		}
		require.Greater(t, named, 5)
		require.Less(t, named, 50, "the form takes 4 KiB")
	})
}

// Messages go on until every CRITICAL alert of no job was named.
func TestMessagesPageOnUntilAllOfTheClusterAreNamed(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		var dead []*alert.Alert
		for i := range 130 {
			dead = append(dead, p.fire(fmt.Sprint(i+1000), node))
		}
		job := p.fire("1", func(a *alert.Alert) { a.Level = alert.Critical })
		p.plan("k", "c1", 1, append(dead, job)...)
		p.answers(robot(4096))
		n := p.node("n1")
		for range 40 {
			p.once(n)
			p.wait(3 * time.Second)
		}
		require.Greater(t, len(p.calls()), 3)
		require.Less(t, len(p.calls()), 30, "it ends")
		for _, a := range dead {
			require.Contains(t, p.naming(a), alert.Named)
		}
		require.Equal(t, []alert.Naming{alert.Counted}, p.naming(job), "of a job a number is told")
	})
}

// Alerts for which a message has no room join the next message of the group, where that one waits already.
func TestWhatHadNoRoomJoinsTheMessageThatWaits(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		var dead []*alert.Alert
		for i := range 130 {
			dead = append(dead, p.fire(fmt.Sprint(i+1000), node))
		}
		p.plan("k", "c1", 1, dead...)
		p.plan("k", "c1", 2, p.fire("1", node))
		p.answers(robot(4096))
		n := p.node("n1")
		for range 40 {
			p.once(n)
			p.wait(3 * time.Second)
		}
		for _, a := range dead {
			require.Contains(t, p.naming(a), alert.Named)
		}
	})
}

// A template that names nobody is the choice of who wrote it: it is no reason to send for ever.
func TestAMessageThatNamesNobodyIsNotRepeated(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		a := p.fire("1", node)
		p.plan("k", "c1", 1, a)
		n := p.node("n1")
		for range 5 {
			p.once(n)
			p.wait(time.Minute)
		}
		require.Len(t, p.calls(), 1)
		require.Equal(t, []alert.Naming{alert.Counted}, p.naming(a))
	})
}

func TestMessagesLeadToTheConsole(t *testing.T) {
	each(t, func(t *testing.T, p *post) {
		p.channel("c1")
		p.url = "https://scheduler.example/"
		a, b := p.fire("1", nil), p.fire("2", nil)
		p.plan("k1", "c1", 1, a)
		p.once(p.node("n1"))
		p.plan("k2", "c1", 1, a, b)
		p.once(p.node("n1"))
		require.Equal(t, "https://scheduler.example/alerts/"+a.ID, p.calls()[0].URL)
		require.Equal(t, "https://scheduler.example/alerts/"+a.ID, p.calls()[0].Alerts[0].URL)
		require.Contains(t, p.calls()[0].Content.Text, "https://scheduler.example/alerts/"+a.ID)
		require.Equal(t, "https://scheduler.example/alerts", p.calls()[1].URL)
		require.Equal(t, "https://scheduler.example/alerts/"+b.ID, p.calls()[1].Alerts[0].URL, "the newest first")
	})
}
