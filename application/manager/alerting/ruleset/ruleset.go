// Package ruleset reads what people have defined for alerting.
package ruleset

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
)

// Rules reads the rules that there are, by id. One that cannot be read is told and left
// out: it must not stop the others.
func Rules(ctx context.Context, settings repository.AlertSettings, logger *slog.Logger,
) (map[string]*alert.Rule, error) {
	found, err := settings.AlertSettings(ctx, []alert.Kind{alert.KindRule}, bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	return Read[alert.Rule](found, alert.KindRule, logger), nil
}

// Read reads the settings of a kind, by id. It leaves out one that cannot be read, and logs that; without a logger it
// does not.
func Read[T any, P alert.Defined[T]](settings []alert.Setting, kind alert.Kind, logger *slog.Logger,
) map[string]P {
	out := map[string]P{}
	for _, s := range settings {
		if s.Kind != kind {
			continue
		}
		v, err := alert.Read[T, P](s)
		switch {
		case err == nil:
			out[s.ID] = v
		case logger != nil:
			logger.Error("a setting of alerting cannot be read and is left out", "error", err)
		}
	}
	return out
}

// InOrder are rules by id, so that every leader asks them in the same order.
func InOrder(rules map[string]*alert.Rule) []*alert.Rule {
	out := make([]*alert.Rule, 0, len(rules))
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		out = append(out, rules[id])
	}
	return out
}

// OfJobs are the rules that jobs carry themselves, by id, as far as alerts come from
// them. A rule that its job does not carry any more is missing.
func OfJobs(ctx context.Context, reader repository.Alerts, alerts []*alert.Alert,
) (map[string]*alert.Rule, error) {
	var ids []string
	for _, a := range alerts {
		if id, short := alerting.ShortRuleOf(a.RuleID); short {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	jobs, err := reader.AlertJobs(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read the jobs that alerts are about: %w", err)
	}
	out := map[string]*alert.Rule{}
	for _, job := range jobs {
		for _, r := range alerting.ShortRules(JobOf(job)) {
			out[r.ID] = r
		}
	}
	return out, nil
}

// JobOf is what rules know of a job.
func JobOf(j repository.AlertJob) alerting.Job {
	return alerting.Job{
		ID: j.ID, StepID: j.StepID, Step: j.Step, Name: j.Name, Group: j.Group, Owner: j.Owner, Labels: j.Labels,
		Alerts: j.Alerts, Deadline: j.Deadline.At != "",
	}
}
