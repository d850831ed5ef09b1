package alerting_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/workflow"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// flows is a node that runs workflows, with rules.
type flows struct {
	*alertingtest.Desk
	job  *entity.Job
	root string
}

func newFlows(t *testing.T, cfg persistence.Config, data string) *flows {
	t.Helper()
	n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
	n.Start(t)
	f := &flows{Desk: &alertingtest.Desk{Node: n, T: t}}
	f.job = n.Add(t, enginetest.Job("nightly", func(j *entity.Job) {
		j.Type, j.Class, j.Data, j.Group = entity.JobWorkflow, "", data, "pay"
	}))
	return f
}

// run starts a run of the workflow; the attempts of the steps named fail.
func (f *flows) run(fails ...string) {
	f.T.Helper()
	f.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		for _, name := range fails {
			if strings.HasSuffix(run.Job.Name, "/"+name) {
				return entity.Failed(entity.ReasonError, "boom")
			}
		}
		return entity.Succeeded("")
	})
	f.root = f.Trigger(f.T, f.job.ID)[0].ID
	f.Runner.RunsReady(entity.SlotGeneral)
}

// until lets the run go on until something holds; errors are those of faults.
func (f *flows) until(what string, holds func() bool) {
	f.T.Helper()
	enginetest.Await(f.T, func() bool {
		_, _ = f.Flow.RunOnce(f.T.Context(), f.Time.Now())
		_, _ = f.Flow.WakeRuns(f.T.Context(), f.Time.Now())
		_ = f.Flow.ExpireApprovals(f.T.Context(), f.Time.Now())
		return holds()
	}, what)
}

func (f *flows) ended() bool { return f.Execution(f.T, f.root).Status.Final() }

// idle reports whether the run stands, and owes nothing.
func (f *flows) idle() bool {
	todos, err := f.Store.Todos(f.T.Context(), entity.TodoRun, f.Time.Now().Add(time.Hour), 10)
	require.NoError(f.T, err)
	e := f.Execution(f.T, f.root)
	return len(todos) == 0 && e.Open()
}

// held reports whether the first step has failed, and the run has decided about that: its end is stored with what it
// owes.
func (f *flows) held() bool {
	return len(f.Script.Runs()) > 0 && f.Execution(f.T, f.step("load")).Status.Final() && f.idle()
}

// step is the execution of a step of the run.
func (f *flows) step(name string) string {
	key, err := wf.ParseKey(name)
	require.NoError(f.T, err)
	return wf.ExecutionID(f.root, wf.StepID(f.job.ID, key.Name), key)
}

func (f *flows) cancel() {
	f.Write(f.T, func(ctx context.Context, tx repository.Tx) error {
		return tx.Todos.AddTodos(ctx, []entity.Todo{wf.Todo(f.root, wf.OwesCancel, f.Time.Now())})
	})
}

const holds = `{"onStepFailure": "HOLD", "holdSec": 3600, "steps": [
	{"name": "load", "custom": {"jobClass": "noop"}},
	{"name": "tell", "needs": ["load"], "custom": {"jobClass": "noop"}}]}`

// A held step is one alert from the moment at which it is held, whatever becomes of the transaction, until somebody, or
// the time, decides.
func TestAHeldStepIsAnAlertUntilItIsDecided(t *testing.T) {
	for name, decide := range map[string]func(f *flows){
		"called a success": func(f *flows) {
			require.NoError(f.T, f.Flow.Act(f.T.Context(), f.root, "load", workflow.Succeed))
		},
		"skipped": func(f *flows) { require.NoError(f.T, f.Flow.Act(f.T.Context(), f.root, "load", workflow.Skip)) },
		"repeated": func(f *flows) {
			f.Script.Reply(enginetest.Always(entity.Succeeded("")))
			require.NoError(f.T, f.Flow.Act(f.T.Context(), f.root, "load", workflow.Repeat))
		},
		"the time is over":     func(f *flows) { f.Clock.Advance(time.Hour + time.Second) },
		"the run is cancelled": (*flows).cancel,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
				f := newFlows(t, cfg, holds)
				f.Rule(alert.StepHeld, nil)
				f.Rule(alert.JobFailed, nil) // it sees the root alone
				f.Faults.Next("follow-run", enginetest.LostCommit)
				f.run("load")
				f.until("the step is held", f.held)
				f.Evaluate()
				f.Evaluate()
				f.LookAtLevels()
				a := f.One()
				require.Equal(t, []any{alert.StepHeld, alert.Firing, 1}, []any{a.Type, a.Status, a.Count})
				require.Equal(t, []string{f.job.ID, "pay", f.step("load"), f.root, "load"},
					[]string{a.JobID, a.Group, a.ExecutionID, a.Details["run"], a.Details["step"]})
				require.Equal(t, "The step load of the workflow nightly has failed and is held until 2026-11-20T13:00:00Z: "+
					"repeat it, skip it, or call it a success.", a.Content)
				f.Clock.Advance(10 * time.Minute)
				f.LookAtLevels()
				_, err := f.Leader(f.Faults).Recover(t.Context())
				require.NoError(t, err)
				require.Equal(t, alert.Firing, f.One().Status, "nobody has decided")
				decide(f)
				f.until("the run ends", f.ended)
				f.LookAtLevels()
				require.Equal(t, []any{alert.Resolved, alert.ByRecovery}, []any{f.Alerts()[0].Status, f.Alerts()[0].Resolution})
			})
		})
	}
}

// A success of another run does not end the alert about a held step, and neither does a day without news.
func TestAHeldStepIsNotForgotten(t *testing.T) {
	f := newFlows(t, dbtest.SQLite(t), strings.Replace(holds, "3600", "259200", 1))
	f.Rule(alert.StepHeld, nil)
	f.run("load")
	f.until("the step is held", f.held)
	f.Evaluate()
	first := f.root
	f.run()
	f.until("the second run succeeds", f.ended)
	require.Equal(t, entity.StatusSuccess, f.Execution(t, f.root).Status)
	_, err := f.Leader(f.Faults).RecoverJobs(t.Context(), []string{f.job.ID})
	require.NoError(t, err)
	f.Clock.Advance(49 * time.Hour)
	f.LookAtLevels()
	require.Equal(t, alert.Firing, f.One().Status)
	f.root = first
	f.Clock.Advance(24 * time.Hour)
	f.until("the first run ends", f.ended)
	f.LookAtLevels()
	require.Equal(t, alert.Resolved, f.One().Status)
}

// An approval is an alert from its opening to its end: a vote, its time-out, or a cancel of its run.
func TestAnApprovalThatWaitsIsAnAlert(t *testing.T) {
	for name, decide := range map[string]func(f *flows, user string){
		"a vote": func(f *flows, user string) {
			require.NoError(f.T, f.Ballots.Cast(f.T.Context(), wf.Vote{
				ExecutionID: f.step("ok"), UserID: user, User: "ann", Decision: wf.Approved,
			}, func(*wf.Ballot) error { return nil }))
		},
		"its time is over":     func(f *flows, _ string) { f.Clock.Advance(time.Hour + time.Second) },
		"the run is cancelled": func(f *flows, _ string) { f.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
				f := newFlows(t, cfg, `{"steps": [{"name": "build", "custom": {"jobClass": "noop"}},
					{"name": "ok", "needs": ["build"], "approval": {"users": ["ann"], "text": "day ${params.day:-7}", "timeoutSec": 3600}}]}`)
				user := identity.RandomID(f.Time.Now())
				require.NoError(t, f.Store.AddUser(t.Context(), entity.User{
					ID: user, Name: "ann", Role: entity.RoleViewer, PasswordHash: "x", CreateTime: f.Time.Now(),
					UpdateTime: f.Time.Now(),
				}))
				f.Rule(alert.ApprovalWaiting, nil)
				f.Rule(alert.StepHeld, nil)
				f.run()
				f.until("the approval is open", func() bool {
					rows, err := f.Store.Executions.ByIDs(t.Context(), []string{f.step("ok")})
					require.NoError(t, err)
					return len(rows) == 1
				})
				f.Evaluate()
				f.LookAtLevels()
				a := f.One()
				require.Equal(t, []any{alert.ApprovalWaiting, alert.Firing}, []any{a.Type, a.Status})
				require.Equal(t, "The step ok of the workflow nightly waits for an approval until 2026-11-20T13:00:00Z.", a.Content)
				require.Equal(t, []string{"day 7", "1", f.root}, []string{a.Details["text"], a.Details["need"], a.Details["run"]})
				decide(f, user)
				f.until("the run ends", f.ended)
				f.LookAtLevels()
				require.Equal(t, alert.Resolved, f.One().Status)
			})
		})
	}
}

const plainSteps = `{"steps": [{"name": "load", "custom": {"jobClass": "noop"}},
	{"name": "tell", "needs": ["load"], "custom": {"jobClass": "noop"}}]}`

// A rule sees the steps of workflows where its scope says so, and the alert ends with a success of that step. The root
// is seen by all.
func TestRulesSeeStepsWhereTheyAsk(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		f := newFlows(t, cfg, plainSteps)
		f.Rule(alert.JobFailed, nil)
		f.Rule(alert.JobFailed, func(r *alert.Rule) {
			r.ID, r.Name, r.Scope = "of-steps", "of-steps", alert.Scope{JobIDs: []string{f.job.ID}, Steps: true}
		})
		f.run("load")
		f.until("the run ends", f.ended)
		var steps []event.ExecutionData
		for _, e := range f.Events(t) {
			var d event.ExecutionData
			require.NoError(t, json.Unmarshal([]byte(e.Payload), &d))
			if d.RunID != "" {
				steps = append(steps, d)
			}
		}
		require.Len(t, steps, 1, "the skipped step writes nothing")
		require.Equal(t, []string{f.job.ID, f.root, "load", "nightly/load", "pay"},
			[]string{steps[0].WorkflowID, steps[0].RunID, steps[0].StepKey, steps[0].JobName, steps[0].Group})
		f.Evaluate()
		found := map[string]*alert.Alert{}
		for _, a := range f.Alerts() {
			found[a.RuleID+" "+a.Labels["step"]] = a
		}
		require.Len(t, found, 3, "both rules see the root, and one the step")
		a := found["of-steps load"]
		require.NotNil(t, a)
		require.Equal(t, "The step load of the workflow nightly failed: ERROR, boom.", a.Content)
		require.Equal(t, []string{f.job.ID, "nightly", f.root, "load"},
			[]string{a.JobID, a.Labels["job"], a.Details["run"], a.Details["stepKey"]})
		f.Clock.Advance(time.Minute)
		f.run("tell")
		f.until("the second run ends", f.ended)
		leader := f.Leader(f.Faults)
		_, err := leader.RecoverJobs(t.Context(), []string{wf.StepID(f.job.ID, "load")})
		require.NoError(t, err)
		for _, a := range f.Alerts() {
			require.Equal(t, a.Labels["step"] == "load", a.Status == alert.Resolved, a.Content)
		}
	})
}
