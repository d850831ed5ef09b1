// Package alerting evaluates the rules of alerting. It keeps nothing between two turns: what
// one leader knows, the next one reads.
package alerting

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/levels"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Settings is what people have defined for alerting.
type Settings interface {
	ruleset.Settings
	// AddMissingAlertSettings: see repository.AlertSettings.
	AddMissingAlertSettings(ctx context.Context, settings []alert.Setting) error
}

// Events are the events that rules have not read.
type Events interface {
	// PendingEvents: see repository.Outbox.
	PendingEvents(ctx context.Context, reader entity.EventReader, after int64, limit int) ([]entity.Event, error)
}

// Runs reads executions of jobs.
type Runs interface {
	// List: see repository.ExecutionReader.
	List(ctx context.Context, f repository.ExecutionFilter, p repository.Page) ([]*entity.Execution, string, error)
	// Outcomes: see repository.ExecutionReader.
	Outcomes(ctx context.Context, jobID, before string, limit int) ([]*entity.Execution, error)
}

// Looker reads what level rules look at, as far as it is asked for.
type Looker interface {
	Look(ctx context.Context, ask levels.Ask) (*alerting.State, error)
}

// Deps are the parts of an Evaluator.
type Deps struct {
	Store    repository.Store
	Alerts   repository.Alerts
	Settings Settings
	Events   Events
	Runs     Runs
	Looker   Looker
	// Expressions and Facts serve rules of type EXPRESSION. Zone is that of baselines.
	Expressions alerting.Expressions
	Facts       Facts
	Zone        *time.Location
	// Cancel asks a run to stop, which has missed its deadline.
	Cancel func(ctx context.Context, executionID string) error
	Clock  clock.StoreClock
	// Wake tells those who send that there is something new. It must not wait.
	Wake   func()
	Logger *slog.Logger
}

// Evaluator turns events and levels into alerts. It is a task of the leader; two at once
// do no harm, because each write names what it has read. Safe for concurrent use.
type Evaluator struct {
	Deps
	// These are where the looks at levels and at recoveries go on.
	forLevels, forRecovery episode.Window
}

// NewEvaluator wires the parts.
func NewEvaluator(d Deps) *Evaluator { return &Evaluator{Deps: d} }

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

// write stores changes in transactions of bounded size, and returns how many were
// stored. What somebody else has changed meanwhile is left to the next turn.
func (e *Evaluator) write(ctx context.Context, name string, changes []alerting.Change) (stored int, err error) {
	for len(changes) > 0 {
		n := min(len(changes), writeBatch)
		part := changes[:n]
		count := 0
		err := e.Store.Write(ctx, repository.LaneAPI, name, func(ctx context.Context, tx repository.Tx) error {
			count = 0
			for _, c := range part {
				ok, err := episode.Apply(ctx, tx, c)
				if err != nil {
					return err
				}
				if ok {
					count++
				}
			}
			return nil
		})
		if err != nil {
			return stored, fmt.Errorf("write %d alerts: %w", n, err)
		}
		stored, changes = stored+count, changes[n:]
	}
	return stored, nil
}
