// Package alerting evaluates the rules of alerting. The next leader reads all that the last one knew: between two turns
// a leader keeps only compiled expressions and their cost within the minute.
package alerting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/budget"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/fires"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Deps are the parts of an Evaluator.
type Deps struct {
	Store    repository.Store
	Alerts   repository.Alerts
	Settings repository.AlertSettings
	Events   repository.Outbox
	// Look reads what level rules look at, as far as it is asked for.
	Look func(ctx context.Context, ask levels.Ask) (*alerting.State, error)
	// Runs are the executions as rules about several runs read them.
	Runs       fires.Rows
	Executions repository.ExecutionReader
	// Expressions compiles what rules of type EXPRESSION say. They read Sums and Baselines; Zone is that of
	// baselines.
	Expressions alerting.Expressions
	Sums        repository.StatisticsReader
	Baselines   repository.BaselineReader
	Zone        *time.Location
	// Suspensions names the rules that have cost too much.
	Suspensions repository.RuleSuspensions
	// Standing says of executions of steps about which of them nobody has to decide any more.
	Standing func(ctx context.Context, executions []string) (over map[string]bool, err error)
	// Cancel asks a run to stop, which has missed its deadline.
	Cancel func(ctx context.Context, executionID string) error
	Clock  clock.StoreClock
	// Machine measures the time that passes.
	Machine clock.Clock
	// Wake tells those who send that there is something new. It must not wait.
	Wake func()
	// Aside is told of what the store refuses; nil is nobody.
	Aside  *aside.Recorder
	Logger *slog.Logger
}

// Evaluator turns events and levels into alerts. It is a task of the leader; two at once
// do no harm, because each write names what it has read. Safe for concurrent use.
type Evaluator struct {
	Deps
	compiled *ruleset.Compiled
	budget   *budget.Budget
	// owed says that the latest turn took cheap events alone, and dear ones waited.
	owed atomic.Bool
	pace pace
	// These are where the looks at levels and at recoveries go on.
	forLevels, forRecovery episode.Window
	// recoverFrom is the job with which the next look at recoveries begins.
	recoverFrom atomic.Pointer[string]
}

// NewEvaluator wires the parts.
func NewEvaluator(d Deps) *Evaluator {
	return &Evaluator{Deps: d, compiled: ruleset.NewCompiled(d.Expressions), budget: budget.New(budget.Deps{
		Store: d.Suspensions, Clock: d.Clock, Monotonic: d.Machine.Monotonic, Logger: d.Logger,
	})}
}

// writeBatch is how many alerts one transaction writes.
const writeBatch = 200

// EnsureDefaults adds the rules of the first start where they are missing.
func (e *Evaluator) EnsureDefaults(ctx context.Context) error {
	var all []alert.Setting
	for _, r := range alerting.DefaultRules(e.Clock.Now()) {
		s, err := alert.SettingOf(alert.KindRule, &r)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	if err := e.Settings.AddMissingAlertSettings(ctx, all); err != nil {
		return fmt.Errorf("add the default rules: %w", err)
	}
	return nil
}

func (e *Evaluator) rules(ctx context.Context) (map[string]*alert.Rule, error) {
	return ruleset.Rules(ctx, e.Settings, e.Logger)
}

// write stores changes in transactions of bounded size, and returns how many were stored. It leaves a row that somebody
// else has changed meanwhile to the next turn. A change that the store refuses holds up nothing else.
func (e *Evaluator) write(ctx context.Context, name string, changes []alerting.Change) (stored int, err error) {
	var errs []error
	for part := range slices.Chunk(changes, writeBatch) {
		err := batch.Walk(e.Aside.Blames(), part, func(c alerting.Change) string { return c.Alert.Fingerprint },
			func(part []alerting.Change) error {
				count := 0
				err := e.Store.Write(ctx, repository.LaneAPI, name, func(ctx context.Context, tx repository.Tx) error {
					count = 0
					return applyAll(ctx, tx, part, &count)
				})
				if err == nil {
					stored += count
				}
				return err
			}, func(c alerting.Change, cause error) error {
				a := entity.SetAside{
					Kind: entity.AsideLevel, ID: c.Alert.Fingerprint, Job: c.Alert.JobID, Rule: c.Alert.RuleID,
				}
				raised, err := e.helpless(ctx, a, cause, func(ctx context.Context, tx repository.Tx) error {
					_, err := episode.Apply(ctx, tx, c)
					return err
				}, nil)
				if raised {
					stored++
				}
				return err
			})
		if err != nil {
			errs = append(errs, fmt.Errorf("write %d alerts: %w", len(part), err))
			if batch.Passes(err) {
				break
			}
		}
	}
	return stored, errors.Join(errs...)
}

func applyAll(ctx context.Context, tx repository.Tx, changes []alerting.Change, count *int) error {
	for _, c := range changes {
		ok, err := episode.Apply(ctx, tx, c)
		if err != nil {
			return err
		}
		if ok {
			*count++
		}
	}
	return nil
}
