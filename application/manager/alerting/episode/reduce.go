package episode

import (
	"context"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

// reducedText is what a reduced alert keeps of its text, in bytes.
const reducedText = 500

// Reducing returns a transaction that writes reduced alerts, for alerts that the store refuses whole. They have no
// labels of people, no details and a shorter text.
func Reducing(tx repository.Tx) repository.Tx {
	tx.Alerts = reducer{tx.Alerts}
	return tx
}

type reducer struct{ repository.AlertWriter }

// AddAlerts implements repository.AlertWriter.
func (r reducer) AddAlerts(ctx context.Context, alerts []*alert.Alert) ([]string, error) {
	less := convert.All(alerts, reduced)
	return r.AlertWriter.AddAlerts(ctx, less)
}

// UpdateAlert implements repository.AlertWriter.
func (r reducer) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	return r.AlertWriter.UpdateAlert(ctx, reduced(a), seq)
}

func reduced(a *alert.Alert) *alert.Alert {
	less := *a
	less.Labels, less.Details = maps.Clone(a.Labels), nil
	own := alerting.OwnLabels()
	maps.DeleteFunc(less.Labels, func(name, _ string) bool { return !slices.Contains(own, name) })
	for name, value := range less.Labels {
		less.Labels[name] = validation.Text(value, reducedText)
	}
	less.Content, less.Comment = validation.Text(a.Content, reducedText), validation.Text(a.Comment, reducedText)
	return &less
}
