package alerting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/baseline"
)

// A reader of a message has to know whom to call, whatever raised the alert.
func TestEachAlertOfAJobNamesItsOwner(t *testing.T) {
	job := alerting.Job{ID: "j1", Name: "settle", Group: "pay", Owner: "zoë"}
	raised := map[alert.RuleType]alerting.Signal{}
	for _, kind := range []alert.RuleType{alert.JobFailed, alert.DeadLetter, alert.JobSucceeded} {
		status := map[alert.RuleType]entity.Status{
			alert.DeadLetter: entity.StatusDead, alert.JobSucceeded: entity.StatusSuccess,
		}[kind]
		if status == "" {
			status = entity.StatusFailed
		}
		s, found := alerting.OnEnd(rule(kind, nil), job, end(status, ""), alerting.Past{})
		require.True(t, found, kind)
		raised[kind] = s
	}
	run := alerting.Run{ExecutionID: "e", At: noon}
	raised[alert.Recovered] = alerting.RecoveryOf(rule(alert.Recovered, nil), job, run)
	missed, found := alerting.OnMissed(rule(alert.DeadlineMissed, nil), job, entity.Deadline{JobID: "j1", Moment: noon})
	require.True(t, found)
	raised[alert.DeadlineMissed] = missed
	slow, found := alerting.OnUnusual(rule(alert.SlowRun, nil), job, alerting.Unusual{
		Finding: baseline.Finding{Code: baseline.SlowRun}, At: noon, Evidence: "e",
	})
	require.True(t, found)
	raised[alert.SlowRun] = slow
	st := &alerting.State{
		Now: noon, Overdue: []alerting.Overdue{{Job: job, Due: noon.Add(-time.Hour)}},
		Unroutable: []alerting.Unroutable{{Job: job, Runs: 1, Wait: entity.WaitNode, Oldest: noon}},
	}
	for _, kind := range []alert.RuleType{alert.NotFired, alert.NoNode} {
		signals := alerting.Levels(rule(kind, nil), st)
		require.Len(t, signals, 1, kind)
		raised[kind] = signals[0]
	}
	for kind, s := range raised {
		require.Equal(t, []any{"settle", "zoë"}, []any{s.Details["job"], s.Details["owner"]}, kind)
	}
	job.Owner = ""
	s, _ := alerting.OnEnd(rule(alert.JobFailed, nil), job, end(entity.StatusFailed, ""), alerting.Past{})
	require.NotContains(t, s.Details, "owner")
}
