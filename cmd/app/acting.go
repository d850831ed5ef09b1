package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/acting"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/service/execution"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/application/service/report"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/ping"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/weekly"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
)

// reactions are what happens around alerts beside messages: actions of rules, and the signs
// of life of their evaluation.
type reactions struct {
	actor *acting.Actor
	pulse *watching.Pulse
	// watchdog is nil where no address is configured for it, report where no channel is.
	watchdog *watching.Watchdog
	report   *report.Reporter
}

// newReactions wires the parts. Planned tells those who send messages.
func newReactions(b base, s storage, u useCases, m sending) (r reactions, err error) {
	actor := acting.NewActor(acting.ActorDeps{
		Actions: s.Store, Alerts: s.Store, Rules: s.Store, Rights: rights{s.Store},
		Doer: doer{u.Jobs, u.Executions, u.Nodes}, Audit: u.Audit.Record, Clock: s.Clock, Logger: b.logger,
	})
	caller := ping.New(b.guard)
	b.opened.addQuiet(caller.Close)
	pulse := watching.PulseDeps{
		Evaluations: s.Store, Node: b.cfg.Node.ID, Clock: b.machine, StoreClock: s.Clock, Evaluated: b.Metrics.Evaluated,
	}
	if address := b.cfg.Monitoring.HeartbeatURL; address != "" {
		pulse.Beat = func(ctx context.Context) error { return caller.Get(ctx, address) }
	}
	watchdog, err := newWatchdog(b, s, m.channels)
	if err != nil {
		return r, fmt.Errorf("monitoring.watchdogUrl: %w", err)
	}
	reporter, err := newReporter(b, s, m.planned)
	return reactions{actor, watching.NewPulse(pulse), watchdog, reporter}, err
}

// newWatchdog makes the watchdog; nil where no address is configured.
func newWatchdog(b base, s storage, hooks *notify.Channels) (*watching.Watchdog, error) {
	if b.cfg.Monitoring.WatchdogURL == "" {
		return nil, nil
	}
	config, err := json.Marshal(map[string]string{"url": b.cfg.Monitoring.WatchdogURL})
	if err != nil {
		return nil, err
	}
	hook, err := hooks.Open(alert.ChannelWebhook, alert.ChannelConfig(config))
	if err != nil {
		return nil, err
	}
	return watching.NewWatchdog(watching.WatchdogDeps{
		Evaluations: s.Store, Clock: b.machine, StoreClock: s.Clock,
		Tell: func(ctx context.Context, silence watching.Silence) error {
			result := hook.Send(ctx, watching.SilenceMessage(silence, b.cfg.Node.ID, b.machine.Now()))
			if result.Result != alert.ResultSent {
				return errors.New(result.Text)
			}
			return nil
		},
	}), nil
}

// rights judge the editors of rules and of workflows.
type rights struct{ users *persistence.Store }

// UserByID implements acting.Rights.
func (r rights) UserByID(ctx context.Context, id string) (entity.User, error) {
	return r.users.UserByID(ctx, id)
}

// Allows implements acting.Rights.
func (rights) Allows(u entity.User, name, group string) bool {
	who, p := entity.Principal{User: u}, permission.Permission(name)
	if group == "" {
		return u.Groups == nil && permission.Allows(who, p)
	}
	return permission.AllowsIn(who, p, group)
}

// doer acts through the use cases of the API.
type doer struct {
	jobs       *job.JobService
	executions *execution.ExecutionService
	nodes      *node.NodeService
}

// PauseJob implements acting.Doer. A job that is paused already stays as it is.
func (d doer) PauseJob(ctx context.Context, id string, p entity.Pause, also acting.Also) error {
	j, err := d.jobs.Get(ctx, id)
	if err != nil || j.Status == entity.JobPaused && j.PausedBy == entity.PausedByUser {
		return err
	}
	_, err = d.jobs.PauseAlso(ctx, id, p, func(ctx context.Context, tx repository.Tx) error {
		return also(ctx, tx, nil)
	})
	return err
}

// RunJob implements acting.Doer.
func (d doer) RunJob(ctx context.Context, id, params string, by entity.Actor, also acting.Also) error {
	_, err := d.jobs.Trigger(ctx, id, job.Trigger{Params: params, Source: entity.TriggerAPI, By: by, Also: also})
	return err
}

// RetryExecution implements acting.Doer.
func (d doer) RetryExecution(ctx context.Context, id string, by entity.Actor, also acting.Also) error {
	_, err := d.executions.RetryAlso(ctx, id, by, also)
	return err
}

// DrainNode implements acting.Doer.
func (d doer) DrainNode(ctx context.Context, id string) error {
	_, err := d.nodes.Drain(ctx, id)
	return err
}

// reportTrouble is why the weekly report does not come.
func (r reactions) reportTrouble() (reason string, blocks bool) {
	if r.report == nil {
		return "", false
	}
	return r.report.Trouble()
}

// newReporter makes what writes the weekly report; nil where no channel is named for it.
func newReporter(b base, s storage, wake func()) (*report.Reporter, error) {
	plan := b.cfg.Monitoring.WeeklyReport
	if plan.Channel == "" {
		return nil, nil
	}
	zone := b.zone
	if plan.TimeZone != "" {
		var err error
		if zone, err = time.LoadLocation(plan.TimeZone); err != nil {
			return nil, fmt.Errorf("monitoring.weeklyReport.timeZone: %w", err)
		}
	}
	week := report.Plan{Channel: plan.Channel, Hour: plan.Hour, Zone: zone, Language: plan.Language}
	for week.Weekday < time.Saturday && !strings.EqualFold(week.Weekday.String(), plan.Weekday) {
		week.Weekday++
	}
	return report.New(report.Deps{
		Plan: week, Store: s.Store, Channels: s.Store, Sums: s.Store.Statistics, Usual: s.Store.Statistics,
		Jobs: s.Store.Jobs, Groups: s.Store, Alerts: s.Store, Letters: s.Store, Render: weekly.Render, Clock: s.Clock,
		Zone: b.zone, URL: b.cfg.Server.PublicURL, Wake: wake, Logger: b.logger,
	}), nil
}
