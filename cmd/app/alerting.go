package app

import (
	"context"

	manager "github.com/platform-scheduler/platform-scheduler/application/manager/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/planning"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// alerts are the parts that find out what is worth an alert, and whom to tell. They work
// on the leader.
type alerts struct {
	evaluator *manager.Evaluator
	loop      *manager.Loop
	pulse     *watching.Pulse
	successes *manager.Successes
}

// newAlerts wires them. Notify wakes those who send notifications; it must not wait.
func newAlerts(e *Engine, tasks *periodic.Tasks, notify func()) *alerts {
	evaluator := manager.NewEvaluator(manager.Deps{
		Store: e.alertStore(), Alerts: e.Store, Settings: e.Store, Events: e.Store, Runs: e.Store.Executions,
		Looker: levels.NewStoreLooker(levels.StoreLookerDeps{
			Plans: e.Store, Claims: e.Store, Nodes: e.Store, Troubles: e.Store, Groups: e.Store, Alerts: e.Store,
			Ends: e.Store.Statistics, Clock: e.Clock, Grace: alerting.Grace(e.scanInterval(), e.timing().Lease),
		}),
		Expressions: expression.Language{}, Zone: e.zone,
		Facts: manager.StoreFacts{
			StatisticsReader: e.Store.Statistics, BaselineReader: e.Store.Statistics, Executions: e.Store.Executions,
		},
		Cancel: func(ctx context.Context, id string) error { return e.Executions.Cancel(ctx, id) },
		Clock:  e.Clock, Wake: notify, Logger: e.logger,
	})
	planner := planning.New(planning.Deps{
		Store: e.alertStore(), Alerts: e.Store, Settings: e.Store, Clock: e.Clock, Wake: notify, Logger: e.logger,
	})
	note, pulse := tasks.WatchLeader("alerts", manager.LoopInterval), e.reactions.pulse
	return &alerts{
		evaluator: evaluator, pulse: pulse,
		successes: manager.NewSuccesses(e.Store, expression.Language{}, e.logger),
		loop: manager.NewLoop(manager.LoopDeps{
			Turns: evaluator, Plan: planner.Plan, Clock: e.machine, Leads: tasks.Leads, Note: func(err error) {
				note(err)
				pulse.Events(err)
			},
		}),
	}
}

// asksSuccess reports whether a rule asks for the successes of a job.
func (e *Engine) asksSuccess(job *entity.Job) bool { return e.alerts.successes.Asked(job) }

// levels looks at levels.
func (a *alerts) levels(ctx context.Context) error {
	if err := a.planned(a.evaluator.Levels(ctx)); err != nil {
		return err
	}
	return a.pulse.Levels(ctx)
}

// deadlines judges deadlines of fires.
func (a *alerts) deadlines(ctx context.Context) error { return a.planned(a.evaluator.Deadlines(ctx)) }

// recover ends what is over because a later run has succeeded.
func (a *alerts) recover(ctx context.Context) error { return a.planned(a.evaluator.Recover(ctx)) }

// succeeded has the loop end the alerts about jobs that have succeeded.
func (e *Engine) succeeded(jobIDs []string) { e.alerts.loop.Succeeded(jobIDs) }

// planned has the loop plan whom to tell of what has changed.
func (a *alerts) planned(changed int, err error) error {
	if changed > 0 {
		a.loop.Wake()
	}
	return err
}
