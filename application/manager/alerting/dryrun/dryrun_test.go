package dryrun_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/series"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// desk is a store with a past.
type desk struct {
	*enginetest.Node
	t   *testing.T
	job *entity.Job
	n   int
	// slow makes each read take so long.
	slow    func(ctx context.Context) error
	maxTime time.Duration
	// language compiles expressions; nil: that of the product.
	language alerting.Expressions
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{Node: enginetest.New(t, enginetest.Options{}), t: t}
	d.job = d.Add(t, enginetest.Job("settle", nil))
	return d
}

// List implements dryrun.Runs.
func (d *desk) List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) (
	[]*entity.Execution, string, error,
) {
	if d.slow != nil {
		if err := d.slow(ctx); err != nil {
			return nil, "", err
		}
	}
	return d.Store.Executions.List(ctx, f, p)
}

// Outcomes implements dryrun.Runs.
func (d *desk) Outcomes(ctx context.Context, jobID, before string, limit int) ([]*entity.Execution, error) {
	return d.Store.Executions.Outcomes(ctx, jobID, before, limit)
}

func (d *desk) runner() *dryrun.Runner {
	if d.language == nil {
		d.language = expression.Language{}
	}
	return dryrun.New(dryrun.Deps{
		Runs: d, Jobs: d.Store, Metrics: d.Store, Expressions: d.language, Clock: d.Clock, Zone: time.UTC,
		Grace: 30 * time.Second, MaxTime: d.maxTime,
	})
}

// past stores an execution that ends a minute after the one before.
func (d *desk) past(status entity.Status, change func(e *entity.Execution)) *entity.Execution {
	d.t.Helper()
	d.Clock.Advance(time.Minute)
	d.n++
	now := d.Clock.Now()
	e := &entity.Execution{
		ID: identity.RandomID(now), JobID: d.job.ID, FireKey: fmt.Sprint("k", d.n), ScheduledTime: now, DueTime: now,
		Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: status, Attempt: 1,
		StartTime: now, EndTime: now.Add(time.Second), Duration: time.Second, ErrorMessage: "boom", CreateTime: now,
		UpdateTime: now.Add(time.Second),
	}
	if change != nil {
		change(e)
	}
	d.Write(d.t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{e})
	})
	return e
}

func (d *desk) dry(t alert.RuleType, change func(r *alert.Rule)) *dryrun.Report {
	d.t.Helper()
	r := &alert.Rule{Head: alert.Head{Name: "x"}, Type: t, Level: alert.Warning, Notify: alert.NotifyFirst}
	if change != nil {
		change(r)
	}
	require.Empty(d.t, alerting.ValidateRule(r, expression.Language{}))
	d.Clock.Advance(time.Minute)
	report, err := d.runner().DryRun(d.t.Context(), r, enginetest.Noon, d.Clock.Now())
	require.NoError(d.t, err)
	require.Equal(d.t, len(report.Alerts), report.Total)
	return report
}

func TestFailuresOfThePast(t *testing.T) {
	d := newDesk(t)
	d.past(entity.StatusSuccess, nil)
	first := d.past(entity.StatusFailed, nil)
	second := d.past(entity.StatusFailed, nil)
	back := d.past(entity.StatusSuccess, nil)
	d.past(entity.StatusTimeout, nil)
	r := d.dry(alert.JobFailed, nil)
	require.Len(t, r.Alerts, 2)
	require.Equal(t, []any{3, 5, false}, []any{r.Evidence, r.Executions, r.Truncated})
	a := r.Alerts[0]
	require.Equal(t, []any{first.ID, second.ID, 2, alert.Resolved, alert.ByRecovery, d.job.ID, "settle"},
		[]any{a.ExecutionID, a.LastExecutionID, a.Count, a.Status, a.Resolution, a.JobID, a.Labels["job"]})
	require.Equal(t, []time.Time{first.UpdateTime, back.UpdateTime}, []time.Time{a.StartTime.UTC(), a.EndTime.UTC()})
	require.Contains(t, a.Content, "boom")
	require.Equal(t, alert.Firing, r.Alerts[1].Status)

	require.Len(t, d.dry(alert.Timeout, nil).Alerts, 1)
	require.Len(t, d.dry(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 2 }).Alerts, 1)
	require.Empty(t, d.dry(alert.ConsecutiveFailures, func(r *alert.Rule) { r.Threshold = 3 }).Alerts)
	rate := func(r *alert.Rule) { r.Threshold, r.WindowSec = 0.6, 3600 }
	require.Len(t, d.dry(alert.FailureRate, rate).Alerts, 1)
	require.Len(t, d.dry(alert.Recovered, nil).Alerts, 1)
	named := func(r *alert.Rule) { r.Scope.JobIDs = []string{d.job.ID} }
	require.Len(t, d.dry(alert.JobSucceeded, named).Alerts, 2)
	other := func(r *alert.Rule) { r.Scope.Labels = map[string]string{"team": "none"} }
	require.Empty(t, d.dry(alert.JobFailed, other).Alerts)
	require.Empty(t, d.dry(alert.JobFailed, func(r *alert.Rule) { r.Group = "risk" }).Alerts)
}

// An end before the range counts for a rate, and raises nothing.
func TestARangeRaisesOnlyWhatLiesInIt(t *testing.T) {
	d := newDesk(t)
	for range 6 {
		d.past(entity.StatusFailed, nil)
	}
	from := d.Clock.Now()
	d.past(entity.StatusFailed, nil)
	rule := &alert.Rule{Type: alert.FailureRate, Threshold: 1, WindowSec: 3600, Notify: alert.NotifyFirst}
	d.Clock.Advance(time.Minute)
	r, err := d.runner().DryRun(t.Context(), rule, from.Add(30*time.Second), d.Clock.Now())
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{r.Total, r.Evidence})
	require.Equal(t, "7", r.Alerts[0].Details["runs"])
}

func TestAnExpressionOfThePast(t *testing.T) {
	d := newDesk(t)
	for range 4 {
		d.past(entity.StatusFailed, nil)
	}
	d.past(entity.StatusSuccess, func(e *entity.Execution) { e.Duration = time.Hour })
	says := func(text string) func(r *alert.Rule) {
		return func(r *alert.Rule) { r.Expression, r.Scope.JobIDs = text, []string{d.job.ID} }
	}
	r := d.dry(alert.Expression, says(`status == "FAILED" && day.failed >= 2`))
	require.Equal(t, []int{1, 2}, []int{r.Total, r.Evidence}, "the third and the fourth: two had failed before")
	require.Equal(t, "3", r.Alerts[0].Details["dayFailed"])
	require.Len(t, d.dry(alert.Expression, says(`status == "SUCCESS" && durationMs >= 3600000`)).Alerts, 1)
	require.Empty(t, d.dry(alert.Expression, says(`usual.runs > 0 && durationMs > usual.ms`)).Alerts)
	d.past(entity.StatusSuccess, func(e *entity.Execution) { e.Duration = time.Hour })
	two := d.dry(alert.Expression, says(`status == "SUCCESS" && durationMs >= 3600000`))
	require.Equal(t, []any{1, 2, alert.Firing}, []any{two.Total, two.Alerts[0].Count, two.Alerts[0].Status},
		"a success that is evidence ends nothing")
}

func TestFindingsOfThePast(t *testing.T) {
	d := newDesk(t)
	for range 30 {
		d.past(entity.StatusSuccess, func(e *entity.Execution) { e.Duration = 10 * time.Second })
	}
	slow := d.past(entity.StatusSuccess, func(e *entity.Execution) { e.Duration = 5 * time.Minute })
	r := d.dry(alert.SlowRun, nil)
	require.Len(t, r.Alerts, 1)
	require.Equal(t, slow.ID, r.Alerts[0].ExecutionID)
	require.Equal(t, []string{"300000", "10000", "30"},
		[]string{r.Alerts[0].Details["valueMs"], r.Alerts[0].Details["usualMs"], r.Alerts[0].Details["runs"]})
	require.Contains(t, r.Alerts[0].Content, "A slow run of the job settle. It took 5m0s. It usually takes 10s")
	require.Empty(t, d.dry(alert.FasterThanUsual, nil).Alerts)
	for range 8 {
		d.past(entity.StatusFailed, nil)
	}
	require.Len(t, d.dry(alert.FailingMore, nil).Alerts, 1)
	expression := func(r *alert.Rule) { r.Group, r.Expression = "default", `usual.runs > 0 && durationMs > 10 * usual.ms` }
	require.Len(t, d.dry(alert.Expression, expression).Alerts, 1)
}

// A level of the past lasts as long as the executions tell, with the rule's durations.
func TestLevelsOfThePast(t *testing.T) {
	d := newDesk(t)
	late := d.past(entity.StatusSuccess, func(e *entity.Execution) {
		e.CreateTime = e.DueTime.Add(2 * time.Minute)
		e.StartTime, e.EndTime, e.UpdateTime = e.CreateTime, e.CreateTime, e.CreateTime
	})
	d.Clock.Advance(5 * time.Minute)
	r := d.dry(alert.NotFired, nil)
	require.Len(t, r.Alerts, 1)
	a := r.Alerts[0]
	require.Equal(t, []time.Time{late.DueTime.Add(30 * time.Second), late.CreateTime.Add(10 * time.Second)},
		[]time.Time{a.StartTime.UTC(), a.EndTime.UTC()})
	require.Equal(t, []any{d.job.ID, alert.ByRecovery, "settle"}, []any{a.JobID, a.Resolution, a.Labels["job"]})
	slow := func(r *alert.Rule) { r.ForSec = 89 }
	require.Equal(t, late.DueTime.Add(119*time.Second), d.dry(alert.NotFired, slow).Alerts[0].StartTime.UTC())
	short := d.dry(alert.NotFired, func(r *alert.Rule) { r.ForSec = 90 })
	require.True(t, short.Alerts[0].StartTime.IsZero(), "it never fired")

	waits := d.past(entity.StatusSuccess, func(e *entity.Execution) { e.StartTime = e.DueTime.Add(50 * time.Second) })
	l := d.dry(alert.Lateness, func(r *alert.Rule) { r.Threshold = 20 })
	require.Len(t, l.Alerts, 1)
	require.Equal(t, waits.DueTime.Add(20*time.Second), l.Alerts[0].StartTime.UTC())
	require.Empty(t, d.dry(alert.Lateness, func(r *alert.Rule) { r.Threshold = 51 }).Alerts)

	n := d.dry(alert.NothingRan, func(r *alert.Rule) { r.WindowSec = 300 })
	require.NotEmpty(t, n.Alerts)
	require.Equal(t, late.UpdateTime.Add(5*time.Minute), n.Alerts[0].StartTime.UTC())
	require.Empty(t, d.dry(alert.NothingRan, func(r *alert.Rule) { r.WindowSec = 7200 }).Alerts)
}

func TestSkippedFiresOfThePast(t *testing.T) {
	d := newDesk(t)
	d.past(entity.StatusSkipped, func(e *entity.Execution) { e.Reason = entity.ReasonMisfire })
	d.past(entity.StatusSkipped, func(e *entity.Execution) { e.Reason = entity.ReasonNoNode })
	d.past(entity.StatusSkipped, func(e *entity.Execution) { e.Reason = entity.ReasonOverlap })
	require.Equal(t, 2, d.dry(alert.NotFired, nil).Evidence)
	require.Equal(t, 1, d.dry(alert.NoNode, nil).Evidence)
}

func TestMeasuredLevelsOfThePast(t *testing.T) {
	d := newDesk(t)
	var rows []series.Row
	for i := range 10 {
		at := enginetest.Noon.Add(time.Duration(i) * time.Minute)
		deep := 1.0
		if i == 2 || i == 3 || i == 7 {
			deep = 50
		}
		rows = append(rows,
			series.Row{Name: "cluster.ready", Period: series.Minute, Time: at, Samples: 1, Sum: deep, Min: deep, Max: deep},
			series.Row{
				Name: "node.clockOffsetMs", Period: series.Minute, Time: at, NodeID: "n1", Samples: 1, Sum: -deep,
				Min: -deep * 100, Max: 0,
			})
	}
	require.NoError(t, d.Store.PutMetrics(t.Context(), rows))
	d.Clock.Advance(20 * time.Minute)
	r := d.dry(alert.QueueDepth, func(r *alert.Rule) { r.Threshold, r.ForSec = 50, 61 })
	require.Len(t, r.Alerts, 2)
	require.Equal(t, []any{enginetest.Noon.Add(181 * time.Second), alert.Resolved, 10},
		[]any{r.Alerts[0].StartTime.UTC(), r.Alerts[0].Status, r.Metrics})
	require.True(t, r.Alerts[1].StartTime.IsZero(), "one minute is too short")
	c := d.dry(alert.ClockSkew, nil)
	require.Len(t, c.Alerts, 2)
	require.Equal(t, "n1", c.Alerts[0].NodeID)
	require.Empty(t, d.dry(alert.NodeDown, nil).Alerts)
	require.Len(t, d.dry(alert.Watchdog, nil).Alerts, 1)
	require.NotEmpty(t, d.dry(alert.DeadlineMissed, nil).Notes)
}

func TestADryRunIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		rule := &alert.Rule{Type: alert.JobFailed, Notify: alert.NotifyFirst}
		now := d.Clock.Now()
		for name, from := range map[string]time.Time{
			"backwards": now.Add(time.Second), "empty": now, "too long": now.Add(-dryrun.MaxRange - time.Second),
		} {
			_, err := d.runner().DryRun(t.Context(), rule, from, now.Add(time.Hour))
			require.True(t, apperror.Is(err, apperror.KindInvalid), name)
		}
		var batch []*entity.Execution
		for i := range dryrun.MaxExecutions + 10 {
			at := now.Add(time.Duration(i) * time.Millisecond)
			batch = append(batch, &entity.Execution{
				ID: identity.RandomID(at), JobID: d.job.ID, FireKey: fmt.Sprint("f", i), ScheduledTime: at, DueTime: at,
				Trigger: entity.TriggerSchedule, ShardTotal: 1, Status: entity.StatusFailed, CreateTime: at, UpdateTime: at,
				EndTime: at,
			})
			if len(batch) == 500 || i == dryrun.MaxExecutions+9 {
				part := batch
				d.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Executions.Insert(ctx, part) })
				batch = nil
			}
		}
		d.Clock.Advance(time.Minute)
		r, err := d.runner().DryRun(t.Context(), rule, now, d.Clock.Now())
		require.NoError(t, err)
		require.True(t, r.Truncated)
		require.Equal(t, dryrun.MaxExecutions, r.Executions)
		require.Equal(t, now.Add(10*time.Millisecond), r.From.UTC(), "it says since when it looked")

		// A store that is slower than the bound: what was read until then is judged.
		pages := 0
		d.slow = func(ctx context.Context) error {
			if pages++; pages > 1 {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return nil
		}
		d.maxTime = 6 * time.Second // the first page is read by then, and the second never
		r, err = d.runner().DryRun(t.Context(), rule, now, d.Clock.Now())
		require.NoError(t, err)
		require.True(t, r.Truncated)
		require.Equal(t, 500, r.Executions)
		require.Equal(t, 500, r.Evidence)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = d.runner().DryRun(ctx, rule, now, d.Clock.Now())
		require.Error(t, err, "the caller has gone")
	})
}

// asked is a condition, and the language that compiles to it, that does something each time.
type asked struct {
	alerting.Condition
	n    int
	each func(n int)
}

func (a *asked) Compile(string) (alerting.Condition, []alerting.ExpressionProblem) { return a, nil }

func (a *asked) Uses(string) bool { return false }

func (a *asked) Holds(*alerting.Facts) (bool, int64, error) {
	a.n++
	a.each(a.n)
	return true, 1, nil
}

// The time of a dry run also bounds its evaluation, and it ends with its caller.
func TestADryRunJudgesNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		for range 450 {
			d.past(entity.StatusFailed, nil)
		}
		rule := &alert.Rule{Head: alert.Head{Name: "x"}, Type: alert.Expression, Expression: "x", Level: alert.Warning}
		to := d.Clock.Now().Add(time.Minute)
		d.Clock.Advance(time.Minute)
		d.maxTime = 5 * time.Second
		slow := &asked{each: func(n int) {
			if n == 150 {
				time.Sleep(d.maxTime + 500*time.Millisecond) // the context ends a moment after its time
			}
		}}
		d.language = slow
		r, err := d.runner().DryRun(t.Context(), rule, enginetest.Noon, to)
		require.NoError(t, err)
		require.True(t, r.Truncated)
		require.Equal(t, 200, r.Evidence, "it looks at the time after each hundred")
		require.Equal(t, 200, slow.n)
		require.Less(t, r.To.Unix(), to.Unix(), "it says until when it has looked")

		ctx, leave := context.WithCancel(t.Context())
		d.maxTime = time.Hour
		left := &asked{each: func(n int) {
			if n == 50 {
				leave()
			}
		}}
		d.language = left
		_, err = d.runner().DryRun(ctx, rule, enginetest.Noon, to)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 100, left.n)
	})
}
