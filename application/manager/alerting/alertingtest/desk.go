// Package alertingtest has nodes with rules for tests of alerting.
package alertingtest

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/planning"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/event"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
)

// Desk is a node with what evaluators read; each call of Leader is a new one.
type Desk struct {
	*enginetest.Node
	T *testing.T
	// State is what level rules see; nil: the store.
	State *alerting.State
	// Language is that of expressions; nil: the real one.
	Language alerting.Expressions
	// Plans are what level rules ask for plans; nil: the store.
	Plans repository.JobPlanReader
	// Book is told of what is set aside; nil is nobody.
	Book *aside.Recorder
	// Woken is how often those who send were woken.
	Woken int
}

// New is a node without rules.
func New(t *testing.T) *Desk {
	t.Helper()
	return &Desk{Node: enginetest.New(t, enginetest.Options{}), T: t}
}

// Leader is an evaluator without a past, over a store.
func (d *Desk) Leader(store repository.Store) *manager.Evaluator {
	look := levels.NewStoreLooker(levels.StoreLookerDeps{
		Plans: cmp.Or[repository.JobPlanReader](d.Plans, d.Store), Claims: d.Store, Nodes: d.Store, Troubles: d.Store,
		Groups: d.Store, Alerts: d.Store,
		Ends: d.Store.Statistics, Clock: d.Clock, Grace: alerting.Grace(time.Second, 3*time.Second),
	}).Look
	if d.State != nil {
		look = func(context.Context, levels.Ask) (*alerting.State, error) {
			st := *d.State
			return &st, nil
		}
	}
	return manager.NewEvaluator(manager.Deps{
		Store: store, Alerts: d.Store, Settings: d.Store, Events: d.Store, Runs: d.Store.Executions, Look: look,
		Expressions: cmp.Or[alerting.Expressions](d.Language, expression.Language{}), Zone: time.UTC,
		Executions: d.Store.Executions, Sums: d.Store.Statistics, Baselines: d.Store.Statistics,
		Standing:    (&follow.Standing{Catalog: d.Catalog, Runs: d.Store, Executions: d.Store.Executions}).Over,
		Suspensions: d.Store, Clock: d.Clock, Machine: d.Clock, Aside: d.Book, Wake: func() { d.Woken++ },
		Logger: slog.New(slog.DiscardHandler),
	})
}

// Planning is a planner without a past, over a store.
func (d *Desk) Planning(store repository.Store) *planning.Planner {
	return planning.New(planning.Deps{
		Store: store, Alerts: d.Store, Settings: d.Store, Clock: d.Clock, Asides: d.Store, Aside: d.Book,
		Reach: notify.ReachOf, Wake: func() { d.Woken++ }, Logger: slog.New(slog.DiscardHandler),
	})
}

// Evaluate takes the events that wait.
func (d *Desk) Evaluate() {
	d.T.Helper()
	_, _, err := d.Leader(d.Faults).RunOnce(d.T.Context())
	require.NoError(d.T, err)
}

// LookAtLevels evaluates the rules about levels.
func (d *Desk) LookAtLevels() {
	d.T.Helper()
	_, err := d.Leader(d.Faults).Levels(d.T.Context())
	require.NoError(d.T, err)
}

// Plan decides who is told.
func (d *Desk) Plan() {
	d.T.Helper()
	_, err := d.Planning(d.Faults).Plan(d.T.Context())
	require.NoError(d.T, err)
}

// Set stores what somebody has defined.
func Set[T any, P alert.Defined[T]](d *Desk, kind alert.Kind, v P) {
	d.T.Helper()
	s, err := alert.SettingOf[T, P](kind, v)
	require.NoError(d.T, err)
	require.NoError(d.T, d.Store.AddAlertSetting(d.T.Context(), s))
}

// Head is that of an enabled setting.
func Head(id string) alert.Head {
	return alert.Head{
		ID: id, Name: id, Enabled: true, Version: 1, CreateTime: enginetest.Noon, UpdateTime: enginetest.Noon,
	}
}

// Rule stores a rule of a type.
func (d *Desk) Rule(t alert.RuleType, change func(r *alert.Rule)) {
	d.T.Helper()
	r := &alert.Rule{
		Head: Head("rule-" + strings.ToLower(string(t))), Type: t, Level: alert.Warning, Notify: alert.NotifyFirst,
	}
	if change != nil {
		change(r)
	}
	Set(d, alert.KindRule, r)
}

// End stores an execution that ends now, with its event unless it succeeds.
func (d *Desk) End(job *entity.Job, status entity.Status, change ...func(e *entity.Execution)) *entity.Execution {
	d.T.Helper()
	now := d.Clock.Now()
	e := &entity.Execution{
		ID: identity.RandomID(now), JobID: job.ID, FireKey: fmt.Sprint("k", now.UnixMilli()), ScheduledTime: now,
		DueTime: now, Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5, Status: status, Attempt: 1,
		StartTime: now, EndTime: now, ErrorMessage: "boom", CreateTime: now, UpdateTime: now,
	}
	for _, f := range change {
		f(e)
	}
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{e}); err != nil || status == entity.StatusSuccess {
			return err
		}
		return addEvent(ctx, tx, e, job)
	})
	return e
}

// AddEvent adds the event of an end, by a node that does not hold the job.
func AddEvent(ctx context.Context, tx repository.Tx, e *entity.Execution) error {
	return addEvent(ctx, tx, e, nil)
}

func addEvent(ctx context.Context, tx repository.Tx, e *entity.Execution, job *entity.Job) error {
	final := event.Final(e, job, e.UpdateTime)
	final.Readers = entity.EventReaders{Rules: true}
	return tx.Records.AddEvents(ctx, []entity.Event{final})
}

// Alerts are all of them, the oldest first.
func (d *Desk) Alerts() []*alert.Alert {
	d.T.Helper()
	found, _, err := d.Store.ListAlerts(d.T.Context(), repository.AlertFilter{}, repository.Page{Limit: 1000})
	require.NoError(d.T, err)
	slices.Reverse(found)
	return found
}

// One is the only alert.
func (d *Desk) One() *alert.Alert {
	d.T.Helper()
	found := d.Alerts()
	require.Len(d.T, found, 1)
	return found[0]
}

// Put writes a change of an alert, as the API does.
func (d *Desk) Put(a *alert.Alert, former int64) {
	d.T.Helper()
	d.Write(d.T, func(ctx context.Context, tx repository.Tx) error {
		ok, err := tx.Alerts.UpdateAlert(ctx, a, former)
		require.True(d.T, ok)
		return err
	})
}

// Route adds a channel and a route to it.
func (d *Desk) Route(change func(r *alert.Route)) {
	d.T.Helper()
	require.NoError(d.T, d.Store.AddAlertSetting(d.T.Context(), alert.Setting{
		Head: Head("chat"), Kind: alert.KindChannel, Document: "{}",
	}))
	r := &alert.Route{Head: Head("route"), ChannelIDs: []string{"chat"}}
	if change != nil {
		change(r)
	}
	Set(d, alert.KindRoute, r)
}

// Fail evaluates the failure of a new job, and returns its alert.
func (d *Desk) Fail(name string) *alert.Alert {
	d.T.Helper()
	d.End(d.Add(d.T, enginetest.Job(name, nil)), entity.StatusFailed)
	d.Evaluate()
	all := d.Alerts()
	return all[len(all)-1]
}

// Resolve ends an alert by hand.
func (d *Desk) Resolve(a *alert.Alert) {
	d.T.Helper()
	stored, err := d.Store.Alert(d.T.Context(), a.ID)
	require.NoError(d.T, err)
	seq := stored.Seq
	require.NoError(d.T, stored.ResolveByHand("ann", d.Clock.Now()))
	d.Put(stored, seq)
}
