package alerting

import (
	"context"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// showSuspensions fills in until when rules are suspended.
func (d Deps) showSuspensions(ctx context.Context, all []*alert.Rule) error {
	found, err := d.Suspensions.Suspensions(ctx)
	if err != nil {
		return fmt.Errorf("read which rules are suspended: %w", err)
	}
	now := d.Clock.Now()
	for _, s := range found {
		for _, r := range all {
			if r.ID == s.RuleID && s.Until.After(now) {
				r.SuspendedUntil = s.Until
			}
		}
	}
	return nil
}

// patternsOfGroup refuses a rule with which the patterns of its group are too large together. A
// change that makes them smaller passes.
func (d Deps) patternsOfGroup(ctx context.Context, former, next *alert.Rule) ([]apperror.Field, error) {
	own := d.steps(next)
	if own == 0 || former != nil && own <= d.steps(former) {
		return nil, nil
	}
	found, err := d.Settings.AlertSettings(ctx, []alert.Kind{alert.KindRule}, bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the rules of the group: %w", err)
	}
	others := 0
	for _, s := range found {
		if s.Group != next.Group || s.ID == next.ID || !s.Enabled {
			continue
		}
		if r, err := alert.Read[alert.Rule](s); err == nil {
			others += d.steps(r)
		}
	}
	if own+others <= rules.MaxGroupPatternSteps {
		return nil, nil
	}
	return []apperror.Field{{
		Field: "expression", Code: "too_many", Message: fmt.Sprintf(
			"its patterns have %d steps, and those of the other rules of the group %d: together they may have %d; "+
				"use shorter patterns, or switch a rule off", own, others, rules.MaxGroupPatternSteps),
	}}, nil
}

// steps is the size of the patterns of a rule that is on; 0 where it has none that can be read.
func (d Deps) steps(r *alert.Rule) int {
	if !r.Enabled || r.Type != alert.Expression {
		return 0
	}
	condition, problems := d.Expressions.Compile(r.Expression)
	if len(problems) > 0 {
		return 0
	}
	return condition.Steps()
}
