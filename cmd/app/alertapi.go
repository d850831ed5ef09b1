package app

import (
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
)

// Alerting has the use cases of alerts and of what people define for them.
type Alerting struct {
	alerting.Services

	Alerts   *alerting.AlertService
	DryRuns  *alerting.DryRunService
	Trials   *channel.Trials
	Previews *alerting.Previews
}

// newSettings makes the services of what people define of alerting.
func newSettings(s storage, m sending) alerting.Services {
	return alerting.NewServices(alerting.Deps{
		Settings: s.Store, Users: s.Store, Jobs: s.Store.Jobs, Groups: s.Store, Alerts: s.Store,
		Suspensions: s.Store, Expressions: expression.Language{}, Clock: s.Clock,
	}, m.channels, m.seals, m.renderer)
}

func newAlerting(b base, s storage, m sending, settings alerting.Services) Alerting {
	return Alerting{
		Services: settings,
		Alerts: &alerting.AlertService{
			Store: s.changes, Alerts: s.Store, Deliveries: s.Store, Clock: s.Clock,
		},
		Trials: channel.NewTrials(s.Store, m.notifier, b.machine),
		Previews: alerting.NewPreviews(m.renderer.Quick(), notify.Types(), b.machine,
			b.Metrics.CallRefused("/alert-templates/preview")),
		DryRuns: alerting.NewDryRunService(dryrun.New(dryrun.Deps{
			Runs: s.Store.Executions, Jobs: s.Store, Metrics: s.Store, Expressions: expression.Language{}, Clock: s.Clock,
			Zone:  b.zone,
			Grace: rules.Grace(b.scanInterval(), b.timing().Lease),
		}), b.Metrics.CallRefused("/alert-rules/dry-run")),
	}
}
