package app_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/monitor"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
)

func fails(context.Context, entity.Run) entity.Outcome {
	return entity.Failed(entity.ReasonError, "boom")
}

// alertsOf are the alerts about a job of a type, the oldest first.
func (n *node) alertsOf(jobID string, kind alert.RuleType) []*alert.Alert {
	n.t.Helper()
	found, _, err := n.Store.ListAlerts(n.t.Context(), repository.AlertFilter{JobID: jobID, Type: kind},
		repository.Page{Limit: 1000})
	require.NoError(n.t, err)
	slices.Reverse(found)
	return found
}

// unread are the events that the rules have not taken.
func (n *node) unread() []entity.Event {
	n.t.Helper()
	events, err := n.Store.PendingEvents(n.t.Context(), entity.ReaderRules, 0, 1000)
	require.NoError(n.t, err)
	return events
}

// The rules of the first start find a failure, and nothing stays in the outbox.
func TestAFailureRaisesAnAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: fails})
		defer n.stop()
		j := n.create(newJob("settle", nil))
		run := n.awaitStatus(n.trigger(j.ID), entity.StatusFailed)
		n.await("an alert", func() bool { return len(n.alertsOf(j.ID, alert.JobFailed)) == 1 })
		a := n.alertsOf(j.ID, alert.JobFailed)[0]
		require.Equal(t, []any{alert.Firing, "default-failed", 1, run.ID, "default"},
			[]any{a.Status, a.RuleID, a.Count, a.ExecutionID, a.Group})
		require.Contains(t, a.Content, "boom")
		n.await("nothing waits for the rules", func() bool { return len(n.unread()) == 0 })
		n.await("it is planned", func() bool { return n.alertsOf(j.ID, alert.JobFailed)[0].NotifyDue.IsZero() })
	})
}

// outcomes lets a test say how the next runs end.
type outcomes struct{ fail atomic.Bool }

func (o *outcomes) reply(context.Context, entity.Run) entity.Outcome {
	if o.fail.Load() {
		return entity.Failed(entity.ReasonError, "boom")
	}
	return entity.Succeeded("done")
}

// channel adds a channel, and rule a rule.
func (n *node) channel(name string) {
	n.t.Helper()
	require.NoError(n.t, n.Store.AddAlertSetting(n.t.Context(), alert.Setting{
		Head: headOf(name), Kind: alert.KindChannel, Document: `{}`,
	}))
}

func (n *node) rule(kind alert.RuleType, change func(r *alert.Rule)) {
	n.t.Helper()
	r := &alert.Rule{Head: headOf("rule-" + string(kind)), Type: kind, Level: alert.Warning, Notify: alert.NotifyFirst}
	if change != nil {
		change(r)
	}
	s, err := alert.SettingOf(alert.KindRule, r)
	require.NoError(n.t, err)
	require.NoError(n.t, n.Store.AddAlertSetting(n.t.Context(), s))
}

func headOf(name string) alert.Head {
	now := time.Now().Truncate(time.Millisecond)
	return alert.Head{ID: name, Name: name, Enabled: true, Version: 1, CreateTime: now, UpdateTime: now}
}

// told are the channels to which notifications about alerts of a job went, by type.
func (n *node) told(jobID string) map[string]int {
	n.t.Helper()
	out := map[string]int{}
	for _, a := range n.alertsOf(jobID, "") {
		found, _, err := n.Store.NotificationsOf(n.t.Context(), a.ID, 1000)
		require.NoError(n.t, err)
		for _, sent := range found {
			out[string(a.Type)+" "+sent.ChannelID]++
		}
	}
	return out
}

// A job fails, and then succeeds: the episode ends, and who is to know is told, by the
// rules of all and by those of the job.
func TestTheNextSuccessEndsTheAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		how := &outcomes{}
		how.fail.Store(true)
		n := startNode(t, newConfig(t), &script{reply: how.reply})
		defer n.stop()
		n.channel("chat")
		n.channel("mail")
		n.rule(alert.Recovered, func(r *alert.Rule) { r.ChannelIDs = []string{"chat"} })
		j := n.create(newJob("settle", func(j *entity.Job) {
			j.Alerts = entity.JobAlerts{OnFailure: []string{"mail"}, OnSuccess: []string{"mail"}, OnRecovered: []string{"mail"}}
		}))
		n.awaitStatus(n.trigger(j.ID), entity.StatusFailed)
		n.await("two rules find it", func() bool { return len(n.alertsOf(j.ID, alert.JobFailed)) == 2 })
		how.fail.Store(false)
		good := n.awaitStatus(n.trigger(j.ID), entity.StatusSuccess)
		n.await("it has recovered", func() bool { return len(n.alertsOf(j.ID, alert.Recovered)) == 2 })
		for _, a := range n.alertsOf(j.ID, alert.JobFailed) {
			require.Equal(t, []any{alert.Resolved, alert.ByRecovery, 1}, []any{a.Status, a.Resolution, a.Count})
		}
		for _, a := range n.alertsOf(j.ID, alert.Recovered) {
			require.Equal(t, good.ID, a.ExecutionID)
		}
		n.await("everybody is told", func() bool {
			return maps.Equal(n.told(j.ID), map[string]int{
				"JOB_FAILED mail": 1, "JOB_SUCCEEDED mail": 1, "RECOVERED mail": 1, "RECOVERED chat": 1,
			})
		})
	})
}

// Somebody who is added to the list of a job after it failed hears that it failed, and whoever knows is told once.
func TestAChannelThatAJobNamesLaterHearsOfItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: fails})
		defer n.stop()
		n.channel("chat")
		n.channel("mail")
		j := n.create(newJob("settle", func(j *entity.Job) { j.Alerts.OnFailure = []string{"mail"} }))
		n.awaitStatus(n.trigger(j.ID), entity.StatusFailed)
		n.await("mail is told", func() bool { return maps.Equal(n.told(j.ID), map[string]int{"JOB_FAILED mail": 1}) })
		next := *j
		next.Alerts.OnFailure = []string{"mail", "chat"}
		_, err := n.Jobs.Replace(t.Context(), j.ID, &next, 0, 0)
		require.NoError(t, err)
		n.await("chat is told, too", func() bool {
			return maps.Equal(n.told(j.ID), map[string]int{"JOB_FAILED mail": 1, "JOB_FAILED chat": 1})
		})
	})
}

// Each event rule finds what it is about, on a real node.
func TestEventRulesOfARealNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: func(ctx context.Context, run entity.Run) entity.Outcome {
			switch run.Job.Name {
			case "good":
				return entity.Succeeded("")
			case "slow":
				return untilStopped(ctx, run)
			}
			return entity.Failed(entity.ReasonError, "boom")
		}})
		defer n.stop()
		n.rule(alert.JobSucceeded, nil)
		n.rule(alert.Timeout, nil)
		n.rule(alert.FailureRate, func(r *alert.Rule) { r.Threshold, r.WindowSec = 1, 3600 })
		good := n.create(newJob("good", nil))
		n.await("the node knows that successes are asked for", func() bool {
			n.awaitStatus(n.trigger(good.ID), entity.StatusSuccess)
			return len(n.alertsOf(good.ID, alert.JobSucceeded)) > 0
		})
		slow := n.create(newJob("slow", func(j *entity.Job) { j.TimeoutSec = 1 }))
		n.awaitStatus(n.trigger(slow.ID), entity.StatusTimeout)
		dead := n.create(newJob("dead", func(j *entity.Job) { j.Retry.MaxRetries, j.Retry.IntervalMs = 1, 1 }))
		n.awaitStatus(n.trigger(dead.ID), entity.StatusDead)
		row := n.create(newJob("row", nil))
		for range 5 {
			n.awaitStatus(n.trigger(row.ID), entity.StatusFailed)
		}
		for _, want := range []struct {
			job  *entity.Job
			kind alert.RuleType
			runs int
		}{
			{slow, alert.Timeout, 1},
			{slow, alert.JobFailed, 1},
			{dead, alert.DeadLetter, 1},
			{row, alert.JobFailed, 5},
			{row, alert.ConsecutiveFailures, 3},
			{row, alert.FailureRate, 1},
		} {
			n.await(fmt.Sprintf("%s of %s", want.kind, want.job.Name), func() bool {
				found := n.alertsOf(want.job.ID, want.kind)
				return len(found) == 1 && found[0].Count == want.runs && found[0].Status == alert.Firing
			})
		}
		require.Empty(t, n.alertsOf(good.ID, alert.JobFailed))
		n.await("nothing waits for the rules", func() bool { return len(n.unread()) == 0 })
	})
}

// The leader is cut off between a failure and what follows. The next one neither fires
// again nor forgets.
func TestTheNextLeaderGoesOnWithAlerts(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	way := lay(t, &cfgs[0])
	how := &outcomes{}
	how.fail.Store(true)
	first := startNode(t, cfgs[0], &script{reply: how.reply})
	defer first.stop()
	first.await("the first leads", func() bool { return len(tasksOf(first)) > 0 })
	second := startNode(t, cfgs[1], &script{reply: how.reply})
	defer second.stop()
	second.channel("mail")
	j := second.create(newJob("settle", func(j *entity.Job) {
		j.Alerts = entity.JobAlerts{OnFailure: []string{"mail"}, OnRecovered: []string{"mail"}}
	}))
	second.awaitStatus(second.trigger(j.ID), entity.StatusFailed)
	second.await("alerts", func() bool {
		return len(second.alertsOf(j.ID, alert.JobFailed)) == 2 && second.told(j.ID)["JOB_FAILED mail"] == 1
	})
	way.set(true) // nobody leads for a while
	second.awaitStatus(second.trigger(j.ID), entity.StatusFailed)
	second.await("the second failure counts", func() bool {
		found := second.alertsOf(j.ID, alert.JobFailed)
		return len(found) == 2 && found[0].Count == 2 && found[1].Count == 2
	})
	require.Equal(t, "node-b", second.shown())
	how.fail.Store(false)
	second.awaitStatus(second.trigger(j.ID), entity.StatusSuccess)
	second.await("it has recovered", func() bool { return second.told(j.ID)["RECOVERED mail"] == 1 })
	way.set(false)
	first.await("the first is back", func() bool { return monitor.NotReady(first.Degraded(t.Context())) == nil })
	for _, a := range second.alertsOf(j.ID, "") {
		require.Equal(t, alert.Resolved, a.Status)
	}
	require.Len(t, second.alertsOf(j.ID, ""), 3)
	require.Equal(t, map[string]int{"JOB_FAILED mail": 1, "RECOVERED mail": 1}, second.told(j.ID))
	require.Empty(t, second.unread())
}

// A run that hangs misses its deadline: that is told, and it is stopped where the job says
// so. One that is in time leaves nothing behind.
func TestADeadlineOfARealNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := startNode(t, newConfig(t), &script{reply: func(ctx context.Context, run entity.Run) entity.Outcome {
			if run.Job.Name == "good" {
				return entity.Succeeded("")
			}
			return untilStopped(ctx, run)
		}})
		defer n.stop()
		n.channel("mail")
		by := n.Clock.Now().UTC().Add(4 * time.Second)
		due := func(onMiss entity.OnMiss) func(j *entity.Job) {
			return func(j *entity.Job) {
				j.Schedule.Kind, j.Schedule.At = schedule.Once, by.Add(-3*time.Second)
				j.Deadline = entity.JobDeadline{At: by.Format(time.TimeOnly), OnMiss: onMiss}
				j.Alerts.OnLate = []string{"mail"}
			}
		}
		good, late := n.create(newJob("good", due(""))), n.create(newJob("late", due("")))
		stopped := n.create(newJob("stopped", due(entity.MissCancel)))
		n.await("both are missed", func() bool {
			// One by the job itself, one by the default rule.
			return len(n.alertsOf(late.ID, alert.DeadlineMissed)) == 2 && len(n.alertsOf(stopped.ID, alert.DeadlineMissed)) == 2
		})
		a := n.alertsOf(late.ID, alert.DeadlineMissed)[0]
		require.Equal(t, []any{alert.Firing, alert.Critical, n.rows(late.ID)[0].ID},
			[]any{a.Status, a.Level, a.ExecutionID})
		require.Equal(t, entity.StatusRunning, n.rows(late.ID)[0].Status)
		n.awaitStatus(n.rows(stopped.ID)[0].ID, entity.StatusCancelled)
		n.await("it is told", func() bool { return n.told(late.ID)["DEADLINE_MISSED mail"] == 1 })
		n.await("nothing is left", func() bool {
			left, err := n.Store.Deadlines(t.Context(), time.Unix(0, 0).UTC(), by.AddDate(1, 0, 0), 10)
			require.NoError(t, err)
			return len(left) == 0
		})
		require.Empty(t, n.alertsOf(good.ID, ""))
		require.NoError(t, n.Executions.Cancel(t.Context(), n.rows(late.ID)[0].ID))
	})
}
