package app

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/dryrun"
	"github.com/platform-scheduler/platform-scheduler/application/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/application/service/channel"
	rules "github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/expression"
)

// Alerting has the use cases of alerts and of what people define for them.
type Alerting struct {
	Alerts   *alerting.AlertService
	Rules    *alerting.RuleService
	Silences *alerting.SilenceService
	Routes   *alerting.RouteService
	Teams    *alerting.TeamService
	Contacts *alerting.ContactService
	OnCall   *alerting.OnCallService
	DryRuns  *alerting.DryRunService

	Channels  *alerting.ChannelService
	Templates *alerting.TemplateService
	Trials    *channel.Trials
	Previews  *alerting.Previews
}

// newAlerting wires them. Zone is that of hours and weekdays of baselines.
func newAlerting(e *Engine, zone *time.Location) Alerting {
	language := expression.Language{}
	d := alerting.Deps{
		Settings: e.Store, Users: e.Store, Jobs: e.Store, Expressions: language, Clock: e.Clock,
	}
	return Alerting{
		Alerts: alerting.NewAlertService(alerting.AlertDeps{
			Store: e.alertStore(), Alerts: e.Store, Deliveries: e.Store, Clock: e.Clock,
		}),
		Rules: alerting.NewRuleService(d), Silences: alerting.NewSilenceService(d), Routes: alerting.NewRouteService(d),
		Teams: alerting.NewTeamService(d), Contacts: alerting.NewContactService(d), OnCall: alerting.NewOnCallService(d),
		Channels:  alerting.NewChannelService(d, e.notifying.channels, e.notifying.seals),
		Templates: alerting.NewTemplateService(d, e.notifying.renderer),
		Trials:    channel.NewTrials(e.Store, e.notifying.notifier, e.machine),
		Previews:  alerting.NewPreviews(e.notifying.renderer, e.machine),
		DryRuns: alerting.NewDryRunService(dryrun.New(dryrun.Deps{
			Runs: e.Store.Executions, Jobs: e.Store, Metrics: e.Store, Expressions: language, Clock: e.Clock, Zone: zone,
			Grace: rules.Grace(e.scanInterval(), e.timing().Lease),
		})),
	}
}
