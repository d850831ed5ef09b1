// Package planning decides who is told of alerts, and when. It keeps nothing between two
// turns.
package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/application/manager/aside"
	"github.com/platform-scheduler/platform-scheduler/application/manager/internal/batch"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
)

const (
	// planBatch is how many alerts one transaction plans for: on SQLite it holds the only writer.
	planBatch = 50
	// lookAgain is when an alert that another one explains is judged anew.
	lookAgain = time.Minute
)

// Deps are the parts of a Planner.
type Deps struct {
	Store    repository.Store
	Alerts   repository.Alerts
	Settings repository.AlertSettings
	Clock    clock.StoreClock
	// Asides are the plans that wait because the store refuses them.
	Asides repository.Asides
	// Aside learns what the store refuses; nil is nobody.
	Aside *aside.Recorder
	// Reach is how channels of a type reach the people on call; nil is not at all.
	Reach func(kind alert.ChannelType) alert.Reach
	// Wake tells those who send that there is something new. It must not wait.
	Wake   func()
	Logger *slog.Logger
}

// Planner makes notifications and actions of alerts. It is a task of the leader; two at
// once do no harm, because each write names what it has read. Safe for concurrent use.
type Planner struct {
	Deps
	// forPlans is where the look at held alerts goes on.
	forPlans episode.Window
}

// New wires the parts.
func New(d Deps) *Planner { return &Planner{Deps: d} }

// Plan makes notifications of the alerts whose time to notify has come, and returns how
// many alerts that were. A transaction holds the notifications and the actions of some
// alerts, and when each is to be told again. So a crash in between plans them once more,
// and meets what is there.
func (r *Planner) Plan(ctx context.Context) (int, error) {
	total := 0
	var d *basis
	for {
		due, err := r.Alerts.NotifyDue(ctx, r.Clock.Now(), planBatch)
		if err != nil {
			return total, fmt.Errorf("read alerts to notify: %w", err)
		}
		if len(due) == 0 {
			return total, nil
		}
		if d == nil {
			if d, err = r.readBasis(ctx); err != nil {
				return total, err
			}
		}
		if err := r.addShortRules(ctx, d.policy, due); err != nil {
			return total, err
		}
		planned, err := r.planAll(ctx, d, due)
		if total += planned; planned > 0 || errors.Is(err, repository.ErrCommitUnknown) {
			r.Wake()
		}
		if err != nil {
			return total, fmt.Errorf("plan the notifications of %d alerts: %w", len(due), err)
		}
		if len(due) < planBatch || planned == 0 {
			return total, nil
		}
	}
}

// basis holds the data by which a turn plans, read once.
type basis struct {
	policy *policy.Policy
	causes policy.Causes
}

func (r *Planner) readBasis(ctx context.Context) (*basis, error) {
	p, err := r.policy(ctx)
	if err != nil {
		return nil, err
	}
	held, err := episode.Held(ctx, r.Alerts, &r.forPlans)
	if err != nil {
		return nil, err
	}
	return &basis{policy: p, causes: policy.CausesAmong(held)}, nil
}

// planAll plans the messages of alerts, and returns for how many. An alert whose messages cannot be planned waits
// alone.
func (r *Planner) planAll(ctx context.Context, d *basis, due []*alert.Alert) (planned int, err error) {
	err = batch.Walk(r.Aside.Blames(), due, func(a *alert.Alert) string { return "plan " + a.ID },
		func(part []*alert.Alert) error {
			n, err := r.planSome(ctx, d, part)
			if err == nil {
				planned += n
			}
			return err
		}, func(a *alert.Alert, cause error) error { return r.hold(ctx, a, cause) })
	return planned, err
}

// planSome plans for some alerts in one transaction, and returns for how many: those that
// somebody else has changed meanwhile are left out.
func (r *Planner) planSome(ctx context.Context, d *basis, due []*alert.Alert) (planned int, err error) {
	ids := convert.All(due, func(a *alert.Alert) string { return a.ID })
	for range episode.MaxTries {
		err = r.Store.Write(ctx, repository.LaneAPI, "alert-plan", func(ctx context.Context, tx repository.Tx) error {
			planned = 0
			told, err := tx.Alerts.PlannedMessages(ctx, ids)
			if err != nil {
				return err
			}
			before, err := plannedEnds(ctx, tx, due)
			if err != nil {
				return err
			}
			w := &messages{
				tx: tx, now: r.Clock.Now(), policy: d.policy, last: map[position]*draft{},
				sent: map[string]int{}, hourly: map[string]int{},
			}
			for _, a := range due {
				t := alertPlan{basis: d, now: w.now, notified: historyOf(told, a.ID), planned: slices.Contains(before, a.ID)}
				ok, err := t.plan(ctx, w, a)
				if err != nil {
					return err
				}
				if ok {
					planned++
				}
			}
			if err := w.flush(ctx); err != nil {
				return err
			}
			return tx.Records.DropAside(ctx, entity.AsidePlan, ids) // planned alerts wait no more
		})
		if !errors.Is(err, episode.ErrOvertaken) {
			return planned, err
		}
	}
	return 0, fmt.Errorf("%w: %w", repository.ErrLocked, err) // no alert is to blame for that
}

// plannedEnds are resolved alerts that were planned while they fired.
func plannedEnds(ctx context.Context, tx repository.Tx, due []*alert.Alert) ([]string, error) {
	var over []string
	for _, a := range due {
		if a.Status == alert.Resolved {
			over = append(over, a.ID)
		}
	}
	if len(over) == 0 {
		return nil, nil
	}
	return tx.Alerts.PlannedAlerts(ctx, over)
}

// policy reads what decides where alerts are told.
func (r *Planner) policy(ctx context.Context) (*policy.Policy, error) {
	all, err := r.Settings.AlertSettings(ctx, alert.Kinds(), bounds.Settings)
	if err != nil {
		return nil, fmt.Errorf("read the settings of alerting: %w", err)
	}
	p := &policy.Policy{
		Rules:    ruleset.Read[alert.Rule](all, alert.KindRule, r.Logger),
		Teams:    ruleset.Read[alert.Team](all, alert.KindTeam, r.Logger),
		OnCall:   ruleset.Read[alert.OnCall](all, alert.KindOnCall, r.Logger),
		Channels: map[string]string{}, ChannelIDs: map[string]string{},
		Programs: map[string]bool{}, Reach: map[string]alert.Reach{}, Contacts: map[string][]*alert.Contact{},
	}
	for _, c := range ruleset.Read[alert.Contact](all, alert.KindContact, r.Logger) {
		p.Contacts[c.UserID] = append(p.Contacts[c.UserID], c)
	}
	for _, r := range ruleset.Read[alert.Route](all, alert.KindRoute, r.Logger) {
		p.Routes = append(p.Routes, r)
	}
	for _, s := range ruleset.Read[alert.Silence](all, alert.KindSilence, r.Logger) {
		p.Silences = append(p.Silences, s)
	}
	for _, s := range all {
		if s.Kind == alert.KindChannel && s.Enabled {
			kind := typeOf(s.Document)
			p.Channels[s.ID], p.ChannelIDs[s.Name] = s.Group, s.ID
			p.Programs[s.ID] = kind == alert.ChannelWebhook || kind == alert.ChannelAlertmanager
			if r.Reach != nil {
				p.Reach[s.ID] = r.Reach(kind)
			}
		}
	}
	return p, nil
}

// typeOf is the type of a channel of this document.
func typeOf(document string) alert.ChannelType {
	var c struct {
		Type alert.ChannelType `json:"type"`
	}
	_ = json.Unmarshal([]byte(document), &c) // what cannot be read has the bound of people
	return c.Type
}

// addShortRules adds to a policy the rules that the jobs of alerts carry themselves.
func (r *Planner) addShortRules(ctx context.Context, p *policy.Policy, due []*alert.Alert) error {
	short, err := ruleset.OfJobs(ctx, r.Alerts, due)
	for id, rule := range short {
		p.Rules[id] = alerting.Named(rule, p.ChannelIDs)
	}
	return err
}
