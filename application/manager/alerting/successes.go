package alerting

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Successes knows which jobs rules of type JOB_SUCCEEDED, or expressions, ask for. A success is told to the
// rules only then: a plain one costs no row. A rule's request counts a few seconds
// later. Safe for concurrent use.
type Successes struct {
	settings repository.AlertSettings
	compiled *ruleset.Compiled
	logger   *slog.Logger
	rules    atomic.Pointer[[]*alert.Rule]
}

// NewSuccesses knows of no rule before RunOnce.
func NewSuccesses(settings repository.AlertSettings, expressions alerting.Expressions,
	l *slog.Logger,
) *Successes {
	return &Successes{settings: settings, compiled: ruleset.NewCompiled(expressions), logger: l}
}

// RunOnce reads the rules.
func (s *Successes) RunOnce(ctx context.Context) error {
	rules, err := ruleset.Rules(ctx, s.settings, s.logger)
	if err != nil {
		return err
	}
	var asking []*alert.Rule
	s.compiled.Keep(rules)
	for _, r := range ruleset.InOrder(rules) {
		var condition alerting.Condition
		if r.Enabled && r.Type == alert.Expression {
			condition, _ = s.compiled.Of(r)
		}
		if alerting.AsksForSuccesses(r, condition) {
			asking = append(asking, r)
		}
	}
	s.rules.Store(&asking)
	return nil
}

// Asked reports whether a rule may ask for the successes of a job. The labels of the job
// need not be known: those of rules are not looked at.
func (s *Successes) Asked(job *entity.Job) bool {
	rules := s.rules.Load()
	return rules != nil && slices.ContainsFunc(*rules, func(r *alert.Rule) bool {
		unlabelled := *r
		unlabelled.Scope.Labels = nil
		return unlabelled.Sees(job.ID, job.Group, nil)
	})
}
