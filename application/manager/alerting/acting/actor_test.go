package acting_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/acting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// hands do what actions ask for, and remember it. They have the rights of one user.
type hands struct {
	d     *desk
	did   []string
	audit []entity.AuditEntry
	// denied are permissions that the user lacks; gone: there is no user.
	denied map[string]bool
	gone   bool
	fail   error
	// crash: the node dies after the work and before it is noted.
	crash bool
}

func (h *hands) UserByID(_ context.Context, id string) (entity.User, error) {
	if h.gone || id != "ann" {
		return entity.User{}, apperror.NotFound("user", id)
	}
	return entity.User{ID: id, Name: "Ann", Role: entity.RoleOperator}, nil
}

func (h *hands) Allows(_ entity.User, permission, group string) bool {
	return !h.denied[permission+"@"+group]
}

// do works in a transaction, as services do.
func (h *hands) do(ctx context.Context, what string, started string, also acting.Also) error {
	if h.fail != nil {
		return h.fail
	}
	err := h.d.Store.Write(ctx, repository.LaneAPI, "work", func(ctx context.Context, tx repository.Tx) error {
		if also == nil {
			return nil
		}
		var rows []*entity.Execution
		if started != "" {
			rows = append(rows, &entity.Execution{ID: started})
		}
		return also(ctx, tx, rows)
	})
	if err == nil {
		h.did = append(h.did, what)
	}
	if h.crash {
		return apperror.Unavailable(errors.New("the node is gone"))
	}
	return err
}

func (h *hands) PauseJob(ctx context.Context, id string, p entity.Pause, also acting.Also) error {
	return h.do(ctx, "pause "+id+": "+p.Reason+" by "+p.User+", "+repository.Actor(ctx), "", also)
}

func (h *hands) RunJob(ctx context.Context, id, params string, by entity.Actor, also acting.Also) error {
	return h.do(ctx, fmt.Sprint("run ", id, " ", params, " ", by), "run-1", also)
}

func (h *hands) RetryExecution(ctx context.Context, id string, _ entity.Actor, also acting.Also) error {
	return h.do(ctx, "retry "+id, identity.RandomID(enginetest.Noon), also)
}

func (h *hands) DrainNode(ctx context.Context, id string) error {
	return h.do(ctx, "drain "+id, "", nil)
}

func (d *desk) actor(h *hands) *acting.Actor {
	h.d = d
	return acting.NewActor(acting.ActorDeps{
		Actions: d.Store, Alerts: d.Store, Rules: d.Store, Rights: h, Doer: h,
		Audit: func(_ context.Context, e entity.AuditEntry) error { h.audit = append(h.audit, e); return nil },
		Clock: d.Clock, Logger: slog.New(slog.DiscardHandler),
	})
}

// acts fires an alert of a rule with actions, and plans them.
func (d *desk) acts(actions ...alert.RuleAction) *alert.Alert {
	d.T.Helper()
	d.Rule(alert.JobFailed, func(r *alert.Rule) { r.Actions, r.EditorID, r.Group = actions, "ann", "default" })
	a := d.Fail("settle")
	d.Plan()
	return a
}

// actionsOf are the actions of an alert, as state, code and result.
func (d *desk) actionsOf(a *alert.Alert) (out []string) {
	d.T.Helper()
	found, err := d.Store.ActionsOfAlerts(d.T.Context(), []string{a.ID})
	require.NoError(d.T, err)
	for _, action := range found[a.ID] {
		out = append(out, fmt.Sprint(action.State, " ", action.Code))
	}
	return out
}

func TestActionsAreDoneOnceAndAudited(t *testing.T) {
	d, h := newDesk(t), &hands{}
	other := d.Add(t, enginetest.Job("repair", nil))
	a := d.acts(alert.RuleAction{Kind: alert.ActionPauseJob}, alert.RuleAction{Kind: alert.ActionRetry},
		alert.RuleAction{Kind: alert.ActionRunJob, JobID: other.ID, Params: []byte(`{"mode":"repair"}`)})
	for range 3 {
		_, err := d.actor(h).RunOnce(t.Context())
		require.NoError(t, err)
		d.Clock.Advance(time.Minute)
	}
	require.ElementsMatch(t, []string{
		"pause " + a.JobID + ": alert rule rule-job_failed: " + a.Content +
			" by rule rule-job_failed (by Ann), rule rule-job_failed (by Ann)", "retry " + a.ExecutionID,
		"run " + other.ID + ` {"mode":"repair"} {Ann alert rule rule-job_failed}`,
	}, h.did)
	require.Equal(t, []string{"DONE ", "DONE ", "DONE "}, d.actionsOf(a))
	found, err := d.Store.ActionsOfAlerts(t.Context(), []string{a.ID})
	require.NoError(t, err)
	require.Equal(t, "run-1", found[a.ID][2].Result)
	require.Equal(t, "ann", found[a.ID][2].Editor)
	require.Len(t, h.audit, 3)
	for _, e := range h.audit {
		require.Equal(t, 200, e.Status)
		require.Contains(t, e.Changes, `"name":"rule-job_failed"`)
	}
}

// The node that acts dies right after the commit: the next one finds that it is done.
func TestACrashDoesNotRepeatAnAction(t *testing.T) {
	d, h := newDesk(t), &hands{crash: true}
	a := d.acts(alert.RuleAction{Kind: alert.ActionRetry})
	_, err := d.actor(h).RunOnce(t.Context())
	require.Error(t, err)
	d.Clock.Advance(time.Minute)
	h.crash = false
	_, err = d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, 1)
	require.Equal(t, []string{"DONE "}, d.actionsOf(a))
}

// It dies before the commit: the next one does it, and after ten minutes nobody does.
func TestWhatFailsIsTriedForTenMinutes(t *testing.T) {
	d, h := newDesk(t), &hands{fail: apperror.Unavailable(errors.New("away"))}
	a := d.acts(alert.RuleAction{Kind: alert.ActionRetry})
	_, err := d.actor(h).RunOnce(t.Context())
	require.Error(t, err)
	require.Equal(t, []string{"OPEN "}, d.actionsOf(a))
	n, err := d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "the lease holds")
	d.Clock.Advance(alert.ActionFor)
	_, err = d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"FAILED failed"}, d.actionsOf(a))
	require.Empty(t, h.did)
}

func TestWhatAnActionMustNotDo(t *testing.T) {
	retry := alert.RuleAction{Kind: alert.ActionRetry}
	for name, c := range map[string]struct {
		before func(d *desk, h *hands, a *alert.Alert)
		want   string
	}{
		"its editor is gone": {func(_ *desk, h *hands, _ *alert.Alert) { h.gone = true }, alert.RefusedEditorGone},
		"its editor has lost the right": {func(_ *desk, h *hands, _ *alert.Alert) {
			h.denied = map[string]bool{"execution:write@default": true}
		}, alert.RefusedForbidden},
		"the rule was edited": {func(d *desk, _ *hands, _ *alert.Alert) {
			d.edit(func(r *alert.Rule) {})
		}, alert.RefusedChanged},
		"the alert is over": {func(d *desk, _ *hands, a *alert.Alert) { d.Resolve(a) }, alert.RefusedResolved},
		"its job has left the group of the rule": {func(d *desk, _ *hands, a *alert.Alert) {
			d.Change(t, a.JobID, func(j *entity.Job) { j.Group, j.Version = "other", j.Version+1 })
		}, alert.RefusedNoTarget},
		"the service refuses": {func(_ *desk, h *hands, _ *alert.Alert) {
			h.fail = apperror.Conflict("not_final", "the execution is still RUNNING")
		}, "not_final"},
	} {
		d, h := newDesk(t), &hands{}
		a := d.acts(retry)
		c.before(d, h, a)
		actor := d.actor(h)
		_, err := actor.RunOnce(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, []string{"REFUSED " + c.want}, d.actionsOf(a), name)
		require.Empty(t, h.did, name)
		require.Equal(t, 409, h.audit[0].Status, name)
		d.Clock.Advance(time.Minute)
		_, err = actor.RunOnce(t.Context())
		require.NoError(t, err)
		why, _ := actor.Trouble()
		shown := c.want == alert.RefusedEditorGone || c.want == alert.RefusedForbidden
		require.Equal(t, shown, why != "", "%s: %s", name, why)
		d.Clock.Advance(2 * time.Hour)
		_, err = actor.RunOnce(t.Context())
		require.NoError(t, err)
		why, _ = actor.Trouble()
		require.Empty(t, why)
	}
}

// edit saves the rule again.
func (d *desk) edit(change func(r *alert.Rule)) {
	d.T.Helper()
	s, err := d.Store.AlertSetting(d.T.Context(), alert.KindRule, "rule-job_failed")
	require.NoError(d.T, err)
	r, err := alert.Read[alert.Rule](s)
	require.NoError(d.T, err)
	r.Version++
	change(r)
	s, err = alert.SettingOf(alert.KindRule, r)
	require.NoError(d.T, err)
	require.NoError(d.T, d.Store.ReplaceAlertSetting(d.T.Context(), s))
}

func TestARuleActsTenTimesAnHour(t *testing.T) {
	d, h := newDesk(t), &hands{}
	d.Rule(alert.JobFailed, func(r *alert.Rule) {
		r.Actions, r.EditorID = []alert.RuleAction{{Kind: alert.ActionPauseJob}}, "ann"
	})
	for i := range 12 {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job", i), nil)), entity.StatusFailed)
	}
	d.Evaluate()
	d.Plan()
	_, err := d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, 10)
	states := map[string]int{}
	for _, a := range d.Alerts() {
		states[d.actionsOf(a)[0]]++
	}
	require.Equal(t, map[string]int{"DONE ": 10, "REFUSED limit": 2}, states)
	d.Clock.Advance(time.Hour + time.Second)
	d.End(d.Add(t, enginetest.Job("later", nil)), entity.StatusFailed)
	d.Evaluate()
	d.Plan()
	_, err = d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, 11)
}

// An action that is tried again counts once among the ten.
func TestAnActionThatIsTriedAgainCountsOnce(t *testing.T) {
	d, h := newDesk(t), &hands{fail: apperror.Unavailable(errors.New("away"))}
	d.Rule(alert.JobFailed, func(r *alert.Rule) {
		r.Actions, r.EditorID = []alert.RuleAction{{Kind: alert.ActionPauseJob}}, "ann"
	})
	for i := range alert.MaxActionsPerHour {
		d.End(d.Add(t, enginetest.Job(fmt.Sprint("job", i), nil)), entity.StatusFailed)
	}
	d.Evaluate()
	d.Plan()
	_, err := d.actor(h).RunOnce(t.Context())
	require.Error(t, err)
	d.Clock.Advance(time.Minute)
	h.fail = nil
	_, err = d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, alert.MaxActionsPerHour)
}

// A rule that runs a job does not act when that job fails.
func TestARuleDoesNotActOnWhatItHasStarted(t *testing.T) {
	d, h := newDesk(t), &hands{}
	repair := d.Add(t, enginetest.Job("repair", nil))
	d.Rule(alert.JobFailed, func(r *alert.Rule) {
		r.Actions, r.EditorID = []alert.RuleAction{{Kind: alert.ActionRunJob, JobID: repair.ID}, {Kind: alert.ActionRetry}},
			"ann"
	})
	d.End(repair, entity.StatusFailed)
	d.Evaluate()
	d.Plan()
	_, err := d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Empty(t, h.did)
	require.Equal(t, []string{"REFUSED loop", "REFUSED loop"}, d.actionsOf(d.One()))
}

// It does not repeat a run that it has started either, where that run is but the latest evidence of an alert.
func TestARuleDoesNotRepeatWhatItHasStarted(t *testing.T) {
	d, h := newDesk(t), &hands{}
	other := d.Add(t, enginetest.Job("repair", nil))
	d.acts(alert.RuleAction{Kind: alert.ActionRunJob, JobID: other.ID}, alert.RuleAction{Kind: alert.ActionRetry})
	_, err := d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, 2)
	d.Clock.Advance(time.Minute)
	a := d.Fail("another")
	former := a.Seq
	a.LastExecutionID, a.Seq = "run-1", former+1
	d.Put(a, former)
	d.Plan()
	_, err = d.actor(h).RunOnce(t.Context())
	require.NoError(t, err)
	require.Len(t, h.did, 2)
	require.Equal(t, []string{"REFUSED loop", "REFUSED loop"}, d.actionsOf(a))
}
