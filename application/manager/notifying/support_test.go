package notifying_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

var noon = enginetest.Noon

// sent is a message that a channel saw.
type sent struct {
	channel string
	alert.Message
}

// post is a store with notifications, and channels that do what the test says.
type post struct {
	t     *testing.T
	store *persistence.Store
	// faults is the store as the notifiers see it.
	faults *enginetest.Faults
	clock  *clocktest.Manual

	mu     sync.Mutex
	sent   []sent
	answer func(channel string, m alert.Message) alert.SendResult
	dead   int
	raised int
	errors []error
	// told is called before the alerts of a notification are read.
	told func()
	// leased is called when a lease is in the store, and its node does not know yet.
	leased func()
	// url is the address of the console.
	url string
}

func newPost(t *testing.T, cfg persistence.Config) *post {
	t.Helper()
	p := &post{t: t, clock: clocktest.NewManual(noon)}
	cfg.Clock = p.clock
	p.store = dbtest.Open(t, cfg)
	p.faults = enginetest.NewFaults(p.store)
	p.answers(func(string, alert.Message) alert.SendResult { return alert.SendResult{Result: alert.ResultSent} })
	return p
}

func (p *post) answers(f func(channel string, m alert.Message) alert.SendResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = f
}

func always(r alert.SendResult) func(string, alert.Message) alert.SendResult {
	return func(string, alert.Message) alert.SendResult { return r }
}

// seen is the store of a notifier, which tells when alerts are read.
type seen struct {
	*persistence.Store
	p *post
}

func (s seen) Contents(ctx context.Context, id string, limit int) (alert.Contents, error) {
	if s.p.told != nil {
		s.p.told()
	}
	return s.Store.Contents(ctx, id, limit)
}

func (s seen) BeginDelivery(ctx context.Context, read alert.Notification, node string, now time.Time) (
	alert.Notification, bool, error,
) {
	n, ok, err := s.Store.BeginDelivery(ctx, read, node, now)
	if s.p.leased != nil {
		s.p.leased()
	}
	return n, ok, err
}

// line is a channel of a test; its configuration is its name.
type line struct {
	p    *post
	name string
}

func (l line) Send(_ context.Context, m alert.Message) alert.SendResult {
	l.p.mu.Lock()
	l.p.sent = append(l.p.sent, sent{l.name, m})
	answer := l.p.answer
	l.p.mu.Unlock()
	return answer(l.name, m)
}

func (p *post) Delivered(string, string) {}

func (p *post) NotificationDelay(string, time.Duration) {}

func (p *post) NotificationDead(string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead++
}

// node is a notifier without a past.
func (p *post) node(id string) *notifying.Notifier {
	p.t.Helper()
	renderer, err := template.New(p.clock, time.UTC, notify.DialectOf)
	require.NoError(p.t, err)
	return notifying.New(notifying.Deps{
		Store: p.faults, Notifications: seen{p.store, p}, Settings: p.store,
		Open: func(_ alert.ChannelType, config alert.ChannelConfig) (notifying.Channel, error) {
			return line{p, string(config)}, nil
		},
		Config:   func(s alert.Setting) (alert.ChannelConfig, error) { return alert.ChannelConfig(s.Sealed), nil },
		Renderer: renderer, PublicURL: p.url, Clock: p.clock, StoreClock: storeclock.New(p.clock, nil), NodeID: id,
		Random: func() float64 { return 0 }, Metrics: p,
		Raised: func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.raised++
		},
		Note: func(err error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.errors = append(p.errors, err)
		},
		Logger: slog.New(slog.DiscardHandler),
	})
}

// once has a notifier send what is due.
func (p *post) once(n *notifying.Notifier) {
	p.t.Helper()
	require.NoError(p.t, n.RunOnce(p.t.Context()))
}

func (p *post) wait(d time.Duration) { p.clock.Advance(d) }

// overtake has a notifier send what another one holds, whose lease is over.
func (p *post) overtake(n *notifying.Notifier) {
	p.t.Helper()
	p.wait(alert.LeaseTime)
	p.once(n)
	p.wait(alert.LeaseTime)
	p.once(n)
}

func head(id string) alert.Head {
	return alert.Head{ID: id, Name: id, Enabled: true, Version: 1, CreateTime: noon, UpdateTime: noon}
}

func keep[T any, P alert.Defined[T]](p *post, kind alert.Kind, v P,
) {
	p.t.Helper()
	s, err := alert.SettingOf[T, P](kind, v)
	require.NoError(p.t, err)
	if kind == alert.KindChannel {
		s.Sealed = []byte(s.Name)
	}
	require.NoError(p.t, p.store.AddAlertSetting(p.t.Context(), s))
}

func (p *post) channel(ids ...string) {
	p.t.Helper()
	for _, id := range ids {
		keep(p, alert.KindChannel, &alert.Channel{Head: head(id), Type: alert.ChannelWebhook})
	}
}

// rule adds the default rule about channels.
func (p *post) rule() {
	p.t.Helper()
	keep(p, alert.KindRule, &alert.Rule{
		Head: head("delivery"), Type: alert.DeliveryFailed, Level: alert.Critical, Notify: alert.NotifyFirst,
	})
}

// fire stores an alert that fires.
func (p *post) fire(id string, change func(a *alert.Alert)) *alert.Alert {
	p.t.Helper()
	a := &alert.Alert{
		ID: fmt.Sprintf("%032s", id), Fingerprint: "f-" + id, Held: true, Type: alert.JobFailed, Level: alert.Warning,
		Status: alert.Firing, RuleID: "r", RuleVersion: 1, Group: "risk", JobID: "job-" + id, Content: "it failed",
		Labels: map[string]string{"alertname": "JOB_FAILED", "job": "settle_" + id, "group": "risk"}, Count: 1,
		PendingSince: noon, StartTime: noon, LastTime: noon, CreateTime: noon, UpdateTime: noon, Seq: 1,
	}
	if change != nil {
		change(a)
	}
	p.write(func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.AddAlerts(ctx, []*alert.Alert{a})
		return err
	})
	return a
}

func (p *post) write(fn func(ctx context.Context, tx repository.Tx) error) {
	p.t.Helper()
	require.NoError(p.t, p.store.Write(p.t.Context(), repository.LaneAPI, "test", fn))
}

// plan adds the n-th notification of a group key and returns its id.
func (p *post) plan(key, channel string, n int, of ...*alert.Alert) string {
	p.t.Helper()
	now := p.clock.Now()
	out := &alert.Notification{
		ID: policy.NotificationID(key, channel, n), GroupKey: key, ChannelID: channel, Number: n,
		State: alert.NotificationOpen, NextTry: now, CreateTime: now, UpdateTime: now,
	}
	for _, a := range of {
		out.Alerts = append(out.Alerts, alert.NotifiedAlert{AlertID: a.ID, Seq: a.Seq, Firing: a.Status != alert.Resolved})
	}
	p.write(func(ctx context.Context, tx repository.Tx) error {
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{out})
	})
	return out.ID
}

// known are the notifications of an alert with their attempts, such as "OPEN: n1 FAILED http_503".
func (p *post) known(a *alert.Alert) (out []string) {
	p.t.Helper()
	notifications, deliveries, err := p.store.NotificationsOf(p.t.Context(), a.ID, 100)
	require.NoError(p.t, err)
	for _, n := range notifications {
		text := string(n.State)
		of := slices.DeleteFunc(slices.Clone(deliveries), func(d alert.Delivery) bool { return d.NotificationID != n.ID })
		slices.SortFunc(of, func(a, b alert.Delivery) int { return a.Attempt - b.Attempt })
		for _, d := range of {
			text += fmt.Sprintf(" %s:%s", d.NodeID, d.Result)
			if d.Code != "" {
				text += ":" + d.Code
			}
		}
		out = append(out, text)
	}
	return out
}

func (p *post) why(a *alert.Alert) string {
	p.t.Helper()
	notifications, _, err := p.store.NotificationsOf(p.t.Context(), a.ID, 100)
	require.NoError(p.t, err)
	require.NotEmpty(p.t, notifications)
	return notifications[0].Why
}

func (p *post) calls() []sent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// each runs a test on both stores.
func each(t *testing.T, test func(t *testing.T, p *post)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		synctest.Test(t, func(t *testing.T) { test(t, newPost(t, cfg)) })
	})
}
