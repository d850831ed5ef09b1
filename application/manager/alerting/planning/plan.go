// Package planning decides who is told of alerts, and when. It keeps nothing between two
// turns.
package planning

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/episode"
	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/ruleset"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
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
	Settings ruleset.Settings
	Clock    clock.StoreClock
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
	var d *desk
	for {
		due, err := r.Alerts.NotifyDue(ctx, r.Clock.Now(), planBatch)
		if err != nil {
			return total, fmt.Errorf("read alerts to notify: %w", err)
		}
		if len(due) == 0 {
			return total, nil
		}
		if d == nil {
			if d, err = r.desk(ctx); err != nil {
				return total, err
			}
		}
		if err := r.carry(ctx, d.policy, due); err != nil {
			return total, err
		}
		planned, err := r.planSome(ctx, d, due)
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

// desk is what a turn plans by, read once.
type desk struct {
	policy *policy.Policy
	causes policy.Causes
}

func (r *Planner) desk(ctx context.Context) (*desk, error) {
	p, err := r.policy(ctx)
	if err != nil {
		return nil, err
	}
	held, err := episode.Held(ctx, r.Alerts, &r.forPlans)
	if err != nil {
		return nil, err
	}
	return &desk{policy: p, causes: policy.CausesAmong(held)}, nil
}

// planSome plans for some alerts in one transaction, and returns for how many: those that
// somebody else has changed meanwhile are left out.
func (r *Planner) planSome(ctx context.Context, d *desk, due []*alert.Alert) (planned int, err error) {
	ids := make([]string, len(due))
	for i, a := range due {
		ids[i] = a.ID
	}
	for range episode.MaxTries {
		err = r.Store.Write(ctx, repository.LaneAPI, "alert-plan", func(ctx context.Context, tx repository.Tx) error {
			planned = 0
			told, err := tx.Alerts.Told(ctx, ids)
			if err != nil {
				return err
			}
			w := &outbox{tx: tx, now: r.Clock.Now(), policy: d.policy, last: map[place]*draft{}, given: map[string]int{}}
			for _, a := range due {
				t := turn{desk: d, now: w.now, told: toldOf(told, a.ID)}
				ok, err := t.plan(ctx, w, a)
				if err != nil {
					return err
				}
				if ok {
					planned++
				}
			}
			return w.flush(ctx)
		})
		if !errors.Is(err, episode.ErrOvertaken) {
			break
		}
	}
	return planned, err
}

// policy reads what decides where alerts are told.
func (r *Planner) policy(ctx context.Context) (*policy.Policy, error) {
	all, err := r.Settings.AlertSettings(ctx, alert.Kinds(), ruleset.MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("read the settings of alerting: %w", err)
	}
	p := &policy.Policy{
		Rules:    ruleset.Read[alert.Rule](all, alert.KindRule, r.Logger),
		Teams:    ruleset.Read[alert.Team](all, alert.KindTeam, r.Logger),
		OnCall:   ruleset.Read[alert.OnCall](all, alert.KindOnCall, r.Logger),
		Channels: map[string]string{}, ChannelIDs: map[string]string{},
		Programs: map[string]bool{}, Mail: map[string]bool{}, Contacts: map[string][]*alert.Contact{},
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
			p.Mail[s.ID] = kind == alert.ChannelEmail
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

// carry adds to a policy the rules that the jobs of alerts carry themselves.
func (r *Planner) carry(ctx context.Context, p *policy.Policy, due []*alert.Alert) error {
	short, err := ruleset.OfJobs(ctx, r.Alerts, due)
	for id, rule := range short {
		p.Rules[id] = alerting.Named(rule, p.ChannelIDs)
	}
	return err
}
