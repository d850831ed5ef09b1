package planning_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/planning"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// A channel that a list of a job newly names hears of the open alerts of that list, and of no others.
func TestOpenAlertsReachANewChannelOfTheirJob(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	now := n.Clock.Now()
	for id, rule := range map[string]string{"1": "onFailure:j", "2": "onLate:j", "3": "rule", "4": "onFailure:other"} {
		job := "j"
		if id == "4" {
			job = "other"
		}
		n.Write(t, func(ctx context.Context, tx repository.Tx) error {
			_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{{
				ID: id, Fingerprint: "f" + id, Held: true, Type: alert.JobFailed, Level: alert.Warning, Status: alert.Firing,
				RuleID: rule, JobID: job, Count: 1, Seq: 1, CreateTime: now, UpdateTime: now, StartTime: now,
				PendingSince: now, LastTime: now,
			}})
			return err
		})
	}
	telling := entity.JobAlerts{OnFailure: []string{"mail"}, OnEnd: []string{"wall"}, OnLate: []string{"mail"}}
	former := &entity.Job{ID: "j", Alerts: telling}
	for name, c := range map[string]struct {
		edit func(j *entity.Job)
		want []string
	}{
		"another text":            {func(j *entity.Job) { j.Description = "d" }, nil},
		"one channel less":        {func(j *entity.Job) { j.Alerts.OnFailure = nil }, nil},
		"from one list to a next": {func(j *entity.Job) { j.Alerts.OnFailure = []string{"mail", "wall"} }, nil},
		"of failures":             {func(j *entity.Job) { j.Alerts.OnFailure = []string{"mail", "chat"} }, []string{"1"}},
		"in place of another":     {func(j *entity.Job) { j.Alerts.OnEnd = []string{"chat"} }, []string{"1"}},
		"of delays":               {func(j *entity.Job) { j.Alerts.OnLate = []string{"chat"} }, []string{"2"}},
	} {
		for _, a := range due(t, n) {
			plan(t, n, a)
		}
		next := *former
		c.edit(&next)
		planning.JobAgain(t.Context(), n.Store, former, &next, now)
		var found []string
		for _, a := range due(t, n) {
			found = append(found, a.ID)
		}
		require.Equal(t, c.want, found, name)
	}
}

func due(t *testing.T, n *enginetest.Node) []*alert.Alert {
	t.Helper()
	found, err := n.Store.NotifyDue(t.Context(), n.Clock.Now(), 10)
	require.NoError(t, err)
	return found
}

func plan(t *testing.T, n *enginetest.Node, a *alert.Alert) {
	t.Helper()
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.PlanAlert(ctx, a.ID, a.Seq, a.NotifyDue, enginetest.Noon.Add(24*time.Hour))
		return err
	})
}
