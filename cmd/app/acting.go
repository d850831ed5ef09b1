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
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/watching"
	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/application/service/report"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/ping"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/weekly"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

// reactions are what happens around alerts beside messages: actions of rules, and the signs
// of life of their evaluation.
type reactions struct {
	actor    *acting.Actor
	pulse    *watching.Pulse
	watchdog *watching.Watchdog
	// report is nil where no channel is named for it.
	report *report.Reporter
	caller *ping.Caller
	hooks  *notify.Channels
}

// newReactions wires the parts. The use cases may come later. Wake tells those who send messages.
func newReactions(e *Engine, wake func()) (*reactions, error) {
	networks, err := outbound.ParseNetworks(e.cfg.Executor.HTTP.AllowCIDRs)
	if err != nil {
		return nil, fmt.Errorf("executor.http.allowCIDRs: %w", err)
	}
	guard := outbound.New(outbound.Policy{AllowPrivate: e.cfg.Executor.HTTP.AllowPrivate, AllowCIDRs: networks})
	r := &reactions{caller: ping.New(guard), hooks: notify.New(e.machine, notify.Settings{Guard: guard})}
	r.actor = acting.NewActor(acting.ActorDeps{
		Actions: e.Store, Alerts: e.Store, Rules: e.Store, Rights: rights{e}, Doer: doer{e},
		Audit: func(ctx context.Context, entry entity.AuditEntry) error { return e.Audit.Record(ctx, entry) },
		Clock: e.Clock, Logger: e.logger,
	})
	pulse := watching.PulseDeps{
		Evaluations: e.Store, Node: e.cfg.Node.ID, Clock: e.machine, StoreClock: e.Clock, Evaluated: e.Metrics.Evaluated,
	}
	if address := e.cfg.Monitoring.HeartbeatURL; address != "" {
		pulse.Beat = func(ctx context.Context) error { return r.caller.Get(ctx, address) }
	}
	r.pulse = watching.NewPulse(pulse)
	if r.report, err = newReporter(e, wake); err != nil {
		return r, err
	}
	return r, r.watchOver(e)
}

// watchOver makes the watchdog, where an address is configured.
func (r *reactions) watchOver(e *Engine) error {
	if e.cfg.Monitoring.WatchdogURL == "" {
		return nil
	}
	config, err := json.Marshal(map[string]string{"url": e.cfg.Monitoring.WatchdogURL})
	if err != nil {
		return fmt.Errorf("monitoring.watchdogUrl: %w", err)
	}
	hook, err := r.hooks.Open(alert.ChannelWebhook, alert.ChannelConfig(config))
	if err != nil {
		return fmt.Errorf("monitoring.watchdogUrl: %w", err)
	}
	r.watchdog = watching.NewWatchdog(watching.WatchdogDeps{
		Evaluations: e.Store, Clock: e.machine, StoreClock: e.Clock,
		Tell: func(ctx context.Context, s watching.Silence) error {
			result := hook.Send(ctx, watching.SilenceMessage(s, e.cfg.Node.ID, e.machine.Now()))
			if result.Result != alert.ResultSent {
				return errors.New(result.Text)
			}
			return nil
		},
	})
	return nil
}

func (r *reactions) close() {
	if r != nil {
		r.caller.Close()
		r.hooks.Close()
	}
}

// alertStore is the store for whoever changes alerts: Kafka gets a copy of each change.
func (e *Engine) alertStore() repository.Store {
	return episode.Copying(e.Store, entity.EventReaders{Kafka: e.events.readers.Kafka})
}

// rights judge the editors of rules.
type rights struct{ e *Engine }

// UserByID implements acting.Rights.
func (r rights) UserByID(ctx context.Context, id string) (entity.User, error) {
	return r.e.Store.UserByID(ctx, id)
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
type doer struct{ e *Engine }

// PauseJob implements acting.Doer. A job that is paused already stays as it is.
func (d doer) PauseJob(ctx context.Context, id string, p entity.Pause, also acting.Also) error {
	j, err := d.e.Jobs.Get(ctx, id)
	if err != nil || j.Status == entity.JobPaused && j.PausedBy == entity.PausedByUser {
		return err
	}
	_, err = d.e.Jobs.PauseAlso(ctx, id, p, func(ctx context.Context, tx repository.Tx) error {
		return also(ctx, tx, nil)
	})
	return err
}

// RunJob implements acting.Doer.
func (d doer) RunJob(ctx context.Context, id, params string, by entity.Actor, also acting.Also) error {
	_, err := d.e.Jobs.TriggerAlso(ctx, id, job.Trigger{Params: params, Source: entity.TriggerAPI, By: by}, also)
	return err
}

// RetryExecution implements acting.Doer.
func (d doer) RetryExecution(ctx context.Context, id string, by entity.Actor, also acting.Also) error {
	_, err := d.e.Executions.RetryAlso(ctx, id, by, also)
	return err
}

// DrainNode implements acting.Doer.
func (d doer) DrainNode(ctx context.Context, id string) error {
	_, err := d.e.Nodes.Drain(ctx, id)
	return err
}

// reportTrouble is why the weekly report does not come.
func (r *reactions) reportTrouble() (reason string, blocks bool) {
	if r.report == nil {
		return "", false
	}
	return r.report.Trouble()
}

// newReporter makes what writes the weekly report; nil where no channel is named for it.
func newReporter(e *Engine, wake func()) (*report.Reporter, error) {
	s := e.cfg.Monitoring.WeeklyReport
	if s.Channel == "" {
		return nil, nil
	}
	zone := e.zone
	if s.TimeZone != "" {
		var err error
		if zone, err = time.LoadLocation(s.TimeZone); err != nil {
			return nil, fmt.Errorf("monitoring.weeklyReport.timeZone: %w", err)
		}
	}
	plan := report.Plan{Channel: s.Channel, Hour: s.Hour, Zone: zone, Language: s.Language}
	for plan.Weekday < time.Saturday && !strings.EqualFold(plan.Weekday.String(), s.Weekday) {
		plan.Weekday++
	}
	return report.New(report.Deps{
		Plan: plan, Store: e.Store, Channels: e.Store, Sums: e.Store.Statistics, Usual: e.Store.Statistics,
		Jobs: e.Store.Jobs, Groups: e.Store, Alerts: e.Store, Letters: e.Store, Render: weekly.Render, Clock: e.Clock,
		Zone: e.zone, URL: e.cfg.Server.PublicURL, Wake: wake, Logger: e.logger,
	}), nil
}
