package app

import (
	"context"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/planning"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
)

// alerts are the parts that find out what is worth an alert, and whom to tell. They work
// on the leader.
type alerts struct {
	evaluator *manager.Evaluator
	loop      *manager.Loop
	pulse     *watching.Pulse
	steps     *watching.Steps
	// book holds the rows that the store refuses while everything else goes on.
	book *aside.Recorder
}

// afterSteps are the turns of an evaluator, each after a look at the store's clock.
type afterSteps struct {
	*manager.Evaluator
	steps *watching.Steps
}

// RunOnce implements manager.Turns.
func (a afterSteps) RunOnce(ctx context.Context) (taken int, more bool, err error) {
	if err := a.steps.Check(ctx); err != nil {
		return 0, false, err
	}
	return a.Evaluator.RunOnce(ctx)
}

func newAlerts(b base, s storage, w work, u useCases, m sending, r reactions, tasks *periodic.Tasks) alerts {
	book := aside.NewRecorder(b.machine, func() bool { return !w.Member.Away() }, b.Metrics.SetAside, b.logger)
	evaluator := manager.NewEvaluator(manager.Deps{
		Store: s.changes, Alerts: s.Store, Settings: s.Store, Events: s.Store, Runs: s.Store.Executions,
		Look: levels.NewStoreLooker(levels.StoreLookerDeps{
			Plans: s.Store, Claims: s.Store, Nodes: s.Store, Troubles: s.Store, Groups: s.Store, Alerts: s.Store,
			Ends: s.Store.Statistics, Clock: s.Clock, Grace: alerting.Grace(b.scanInterval(), b.timing().Lease),
		}).Look,
		Expressions: expression.Language{}, Zone: b.zone,
		Executions: s.Store.Executions, Sums: s.Store.Statistics, Baselines: s.Store.Statistics,
		Standing: (&follow.Standing{Catalog: w.catalog, Runs: s.Store, Executions: s.Store.Executions}).Over,
		Cancel:   u.Executions.Cancel, Suspensions: s.Store, Clock: s.Clock, Machine: b.machine, Wake: m.planned,
		Aside: book, Logger: b.logger,
	})
	planner := planning.New(planning.Deps{
		Store: s.changes, Alerts: s.Store, Settings: s.Store, Clock: s.Clock, Asides: s.Store,
		Reach: notify.ReachOf, Aside: book, Wake: m.planned, Logger: b.logger,
	})
	steps := watching.NewSteps(watching.StepsDeps{
		Marks: s.Store, PullBack: s.Store.PullBack, Clock: b.machine, StoreClock: s.Clock, Logger: b.logger,
		Wake: m.planned,
	})
	note := tasks.WatchLeader("alerts", manager.LoopInterval)
	loop := manager.NewLoop(manager.LoopDeps{
		Turns: afterSteps{evaluator, steps}, Plan: planner.Plan, Clock: b.machine, Leads: tasks.Leads,
		Note: func(err error) {
			note(err)
			r.pulse.Events(err)
		},
	})
	return alerts{evaluator, loop, r.pulse, steps, book}
}

// levels looks at levels.
func (a alerts) levels(ctx context.Context) error {
	if err := a.steps.Check(ctx); err != nil {
		return err
	}
	if err := a.planned(a.evaluator.Levels(ctx)); err != nil {
		return err
	}
	return a.pulse.Levels(ctx)
}

// deadlines judges deadlines of fires.
func (a alerts) deadlines(ctx context.Context) error { return a.planned(a.evaluator.Deadlines(ctx)) }

// recover ends what is over because a later run has succeeded.
func (a alerts) recover(ctx context.Context) error { return a.planned(a.evaluator.Recover(ctx)) }

// planned has the loop plan whom to tell of what has changed.
func (a alerts) planned(changed int, err error) error {
	if changed > 0 {
		a.loop.Wake()
	}
	return err
}
