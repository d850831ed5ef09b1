// Package night_test has the worst minute of a night: hundreds of jobs fail, and then a node dies.
package night_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

const console = "https://scheduler.example.com"

// night is a node with all default rules, and five channels that one route names.
type night struct {
	*alertingtest.Desk
	book     *book
	notifier *notifying.Notifier
	channels map[string]alert.ChannelType
}

type nobody struct{}

func (nobody) Delivered(string, string)                {}
func (nobody) NotificationDelay(string, time.Duration) {}
func (nobody) NotificationDead(string)                 {}

func newNight(t *testing.T) *night {
	t.Helper()
	n := &night{Desk: alertingtest.New(t), channels: map[string]alert.ChannelType{
		"mail": alert.ChannelEmail, "webhook": alert.ChannelWebhook, "dingtalk": "DINGTALK",
		"wecom": "WECOM", "feishu": "FEISHU",
	}}
	n.State = &alerting.State{Now: n.Clock.Now()}
	n.book = &book{now: n.Clock.Now}
	for _, r := range alerting.DefaultRules(n.Clock.Now()) {
		alertingtest.Set(n.Desk, alert.KindRule, &r)
	}
	open := notify.New(n.Clock, notify.Settings{Guard: notifytest.Loopback()})
	t.Cleanup(open.Close)
	opened := map[string]*noted{}
	route := &alert.Route{Head: alertingtest.Head("all")}
	for name, kind := range n.channels {
		var config string
		var given func() (string, string)
		switch kind {
		case alert.ChannelEmail:
			config, given = post(t)
		case alert.ChannelWebhook:
			var url string
			url, given = robot(t)
			config = fmt.Sprintf(`{"url":%q}`, url)
		default:
			var url string
			url, given = robot(t)
			config = fmt.Sprintf(`{"webhook":%q}`, url)
		}
		channel, err := open.Open(kind, alert.ChannelConfig(config))
		require.NoError(t, err, name)
		opened[name] = &noted{Channel: channel, book: n.book, name: name, given: given}
		alertingtest.Set(n.Desk, alert.KindChannel, &alert.Channel{Head: alertingtest.Head(name), Type: kind, Language: "zh"})
		route.ChannelIDs = append(route.ChannelIDs, name)
	}
	alertingtest.Set(n.Desk, alert.KindRoute, route)
	zone, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	renderer, err := template.New(n.Clock, zone, notify.DialectOf)
	require.NoError(t, err)
	n.notifier = notifying.New(notifying.Deps{
		Store: n.Store, Notifications: n.Store, Settings: n.Store,
		Open: func(_ alert.ChannelType, config alert.ChannelConfig) (notifying.Channel, error) {
			return opened[string(config)], nil
		},
		Config:   func(s alert.Setting) (alert.ChannelConfig, error) { return alert.ChannelConfig(s.ID), nil },
		Renderer: renderer, PublicURL: console, Clock: n.Clock, StoreClock: storeclock.New(n.Clock, nil), NodeID: "node-1",
		Random: func() float64 { return 0 }, Metrics: nobody{}, Raised: func() {}, Note: func(error) {},
		Logger: slog.New(slog.DiscardHandler),
	})
	return n
}

// pass lets time go by, in which the leader evaluates and plans, and a node sends.
func (n *night) pass(d time.Duration) {
	n.T.Helper()
	for range int(d / time.Second) {
		for range 3 { // a turn takes 200 events
			n.Evaluate()
		}
		n.State.Now = n.Clock.Now()
		n.LookAtLevels()
		n.Plan()
		for range 3 { // a look finds some messages of each channel
			require.NoError(n.T, n.notifier.RunOnce(n.T.Context()))
		}
		n.Clock.Advance(time.Second)
	}
}

// storm has all jobs fail, three times within 14 seconds, and then a node die. It returns when that was.
func (n *night) storm(jobs, groups int) time.Time {
	n.T.Helper()
	var all []*entity.Job
	for i := range jobs {
		all = append(all, n.Add(n.T, enginetest.Job(fmt.Sprintf("对账 %d", i), func(j *entity.Job) {
			j.Group = fmt.Sprintf("team-%02d", i%groups)
		})))
	}
	for _, wait := range []time.Duration{7 * time.Second, 5 * time.Second, 2 * time.Second} {
		for _, j := range all {
			n.End(j, entity.StatusFailed, func(e *entity.Execution) {
				e.Reason, e.ErrorMessage = "HTTP_STATUS", "status 500 Internal Server Error is not among the expected 200-299"
			})
		}
		n.pass(wait)
	}
	died := n.Clock.Now()
	n.State.Nodes = []entity.Node{{ID: "node-3", Status: entity.NodeDown}}
	return died
}

// named are the alerts that a body leads to, in its order; each of its links is followed by other letters.
func named(r receipt) (ids []string) {
	for _, found := range regexp.MustCompile(regexp.QuoteMeta(console)+`/alerts/([0-9a-f-]{32,36})`).
		FindAllStringSubmatch(r.body+r.html, -1) {
		if !slices.Contains(ids, found[1]) {
			ids = append(ids, found[1])
		}
	}
	return ids
}

// A storm hides no node: each channel names it within seconds and its first two messages, no alert is recorded as named
// that was not, and the most urgent come first.
func TestAStormHidesNoNode(t *testing.T) {
	n := newNight(t)
	died := n.storm(300, 40)
	n.pass(2 * time.Minute)
	alerts := map[string]*alert.Alert{}
	var down *alert.Alert
	rows := n.Alerts()
	for _, a := range rows {
		alerts[a.ID] = a
		if a.Type == alert.NodeDown {
			down = a
		}
	}
	require.NotNil(t, down)
	require.Len(t, rows, 601, "300 failures, 300 failures in a row, and the node")

	for channel := range n.channels {
		first, since := -1, 0
		for _, r := range n.book.of(channel) {
			if r.at.Before(died) {
				continue
			}
			if since++; slices.Contains(named(r), down.ID) {
				first = since
				require.Less(t, r.at.Sub(died), 5*time.Second, "%s: it waits behind no failure", channel)
				break
			}
		}
		require.Contains(t, []int{1, 2}, first, "%s names the node that died", channel)
		if n.channels[channel] != alert.ChannelWebhook { // a program may get one for each alert
			require.LessOrEqual(t, len(n.book.of(channel)), 40, channel)
		}
	}
	n.record(t, rows)
	ordered(t, n, alerts)
	n.pictures(t, down.ID)
}

// record compares what the store says that messages named with their bodies.
func (n *night) record(t *testing.T, rows []*alert.Alert) {
	t.Helper()
	bodies := map[string][]string{}
	for channel := range n.channels {
		for _, r := range n.book.of(channel) {
			bodies[r.message] = named(r)
		}
	}
	said, counted := map[string][]string{}, 0
	for _, a := range rows {
		found, err := n.Store.DeliveriesOf(t.Context(), a.ID, 100)
		require.NoError(t, err)
		for _, d := range found {
			switch {
			case d.State == alert.NotificationSent && d.Naming == alert.Named:
				said[d.Notification.ID] = append(said[d.Notification.ID], a.ID)
				require.Contains(t, bodies[d.Notification.ID], a.ID, "the alert %s is said to be named by a message to %s", a.ID,
					d.ChannelID)
			case d.State == alert.NotificationSent:
				counted++
			}
		}
	}
	for message, ids := range bodies {
		slices.Sort(ids)
		slices.Sort(said[message])
		require.Equal(t, said[message], ids, "a message names what the store says, and no more")
	}
	require.Greater(t, counted, 300, "the storm had more than there was room for")
}

// ordered: within a message, by level, those of no job first, the newest first.
func ordered(t *testing.T, n *night, alerts map[string]*alert.Alert) {
	t.Helper()
	rank := map[alert.Level]int{alert.Critical: 0, alert.Warning: 1, alert.Info: 2}
	long := 0
	for channel := range n.channels {
		for _, r := range n.book.of(channel) {
			ids := named(r)
			if len(ids) > 3 {
				long++
			}
			for i := 1; i < len(ids); i++ {
				a, b := alerts[ids[i-1]], alerts[ids[i]]
				job := func(a *alert.Alert) int { return min(len(a.JobID), 1) }
				require.LessOrEqual(t, cmp.Or(cmp.Compare(rank[a.Level], rank[b.Level]), cmp.Compare(job(a), job(b)),
					strings.Compare(b.ID, a.ID)), 0, "%s: %s stands before %s", channel, a.ID, b.ID)
			}
		}
	}
	require.GreaterOrEqual(t, long, 4, "messages about many")
}
