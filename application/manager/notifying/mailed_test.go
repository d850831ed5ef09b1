package notifying_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/alerting/alertingtest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/storeclock"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/manager/notifying"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/template"
)

// letter is a mail that has arrived.
type letter struct {
	to      []string
	header  mail.Header
	subject string
	text    string
	html    string
}

// office is a node with rules, a planner and a notifier whose mails go to a real server.
type office struct {
	*alertingtest.Desk
	port     int
	channels *notify.Channels
	notifier *notifying.Notifier

	mu      sync.Mutex
	letters []letter
}

// visit is one connection to the mail server.
type visit struct {
	o  *office
	to []string
}

func (v *visit) Mail(string, *smtp.MailOptions) error { return nil }
func (v *visit) Reset()                               { v.to = nil }
func (v *visit) Logout() error                        { return nil }

func (v *visit) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.to = append(v.to, to)
	return nil
}

func (v *visit) Data(r io.Reader) error {
	l, err := read(r)
	if err != nil {
		return err
	}
	l.to = v.to
	v.o.mu.Lock()
	defer v.o.mu.Unlock()
	v.o.letters = append(v.o.letters, l)
	return nil
}

func read(r io.Reader) (l letter, err error) {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return l, err
	}
	l.header = m.Header
	if l.subject, err = new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject")); err != nil {
		return l, err
	}
	_, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return l, err
	}
	parts := multipart.NewReader(m.Body, parameters["boundary"])
	for _, text := range []*string{&l.text, &l.html} {
		part, err := parts.NextPart()
		if err != nil {
			return l, err
		}
		body, err := io.ReadAll(part)
		if err != nil {
			return l, err
		}
		*text = string(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	}
	return l, nil
}

// Delivered and NotificationDead implement notifying.Metrics.
func (*office) Delivered(string, string) {}

func (*office) NotificationDelay(string, time.Duration) {}
func (*office) NotificationDead(string)                 {}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{Desk: alertingtest.New(t)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &visit{o: o}, nil }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // Close knows no listener that Serve has not taken yet
		<-done
	})
	o.port = l.Addr().(*net.TCPAddr).Port
	o.channels = notify.New(o.Clock, notify.Settings{Guard: notifytest.Loopback(), Timeout: 30 * time.Second})
	t.Cleanup(o.channels.Close)
	renderer, err := template.New(o.Clock, time.UTC, notify.DialectOf)
	require.NoError(t, err)
	o.notifier = notifying.New(notifying.Deps{
		Store: o.Store, Notifications: o.Store, Settings: o.Store,
		Open: func(kind alert.ChannelType, config alert.ChannelConfig) (notifying.Channel, error) {
			return o.channels.Open(kind, config)
		},
		Config:   func(s alert.Setting) (alert.ChannelConfig, error) { return alert.ChannelConfig(s.Sealed), nil },
		Renderer: renderer, Clock: o.Clock, StoreClock: storeclock.New(o.Clock, nil), NodeID: "n1",
		Random: func() float64 { return 0 }, Metrics: o, Raised: func() {},
		Note: func(error) {}, Logger: slog.New(slog.DiscardHandler),
	})
	return o
}

// mailbox adds a channel that sends to its own name.
func (o *office) mailbox(name string) {
	o.T.Helper()
	s, err := alert.SettingOf(alert.KindChannel, &alert.Channel{
		Head: alertingtest.Head(name), Type: alert.ChannelEmail, Language: "en",
	})
	require.NoError(o.T, err)
	s.Sealed = fmt.Appendf(nil,
		`{"host":"127.0.0.1","port":%d,"tls":"NONE","from":"ops@example.com","to":["%s@example.com"]}`, o.port, name)
	require.NoError(o.T, o.Store.AddAlertSetting(o.T.Context(), s))
}

func (o *office) route(change func(r *alert.Route)) {
	o.T.Helper()
	r := &alert.Route{Head: alertingtest.Head("route"), ChannelIDs: []string{"ops"}}
	change(r)
	alertingtest.Set(o.Desk, alert.KindRoute, r)
}

// turn lets the time pass, evaluates, plans and sends, and returns what has arrived.
func (o *office) turn(d time.Duration) []letter {
	o.T.Helper()
	o.Clock.Advance(d)
	ctx := o.T.Context()
	leader := o.Leader(o.Store)
	_, _, err := leader.RunOnce(ctx)
	require.NoError(o.T, err)
	_, err = leader.Deadlines(ctx)
	require.NoError(o.T, err)
	o.LookAtLevels()
	o.Plan()
	o.mu.Lock()
	before := len(o.letters)
	o.mu.Unlock()
	require.NoError(o.T, o.notifier.RunOnce(ctx))
	o.mu.Lock()
	defer o.mu.Unlock()
	out := slices.Clone(o.letters[before:])
	slices.SortFunc(out, func(a, b letter) int { return strings.Compare(a.key(), b.key()) })
	return out
}

func (l letter) key() string { return strings.Join(l.to, ",") + ": " + l.subject }

// keys are the receivers and subjects of mails.
func keys(letters []letter) (out []string) {
	for _, l := range letters {
		out = append(out, l.key())
	}
	return out
}

// An alert that nobody acknowledges goes to the next people, once; an acknowledgement keeps it from them. That
// it is over belongs to the same thread, for all who were told.
func TestAMailEscalatesUnlessSomebodyAcknowledges(t *testing.T) {
	o := newOffice(t)
	o.Rule(alert.JobFailed, nil)
	o.mailbox("ops")
	o.mailbox("boss")
	o.route(func(r *alert.Route) { r.EscalateAfterSec, r.EscalateTo = 300, []string{"boss"} })
	settle, other := o.Add(t, enginetest.Job("settle", nil)), o.Add(t, enginetest.Job("close", nil))
	o.End(settle, entity.StatusFailed)
	o.End(other, entity.StatusFailed)
	first := o.turn(0)
	require.Len(t, first, 2)
	for i, name := range []string{"close", "settle"} {
		require.Equal(t, []string{"ops@example.com"}, first[i].to)
		require.Contains(t, first[i].subject, name)
	}
	for _, a := range o.Alerts() {
		if a.JobID == other.ID {
			seq := a.Seq
			require.NoError(t, a.Acknowledge("ann", o.Clock.Now()))
			o.Put(a, seq)
		}
	}
	require.Empty(t, o.turn(299*time.Second))
	escalated := o.turn(time.Second)
	require.Len(t, escalated, 1)
	require.Equal(t, []string{"boss@example.com"}, escalated[0].to)
	require.Contains(t, escalated[0].subject, "settle")
	require.Empty(t, o.turn(time.Hour), "once")

	for _, a := range o.Alerts() {
		o.Resolve(a)
	}
	over := o.turn(time.Second)
	require.Len(t, over, 3)
	require.Equal(t, []string{"boss@example.com"}, over[0].to)
	thread := map[string]string{"close": first[0].header.Get("References"), "settle": first[1].header.Get("References")}
	require.NotEqual(t, thread["close"], thread["settle"])
	ids := map[string]bool{}
	for _, l := range slices.Concat(first, escalated, over) {
		name := "settle"
		if strings.Contains(l.subject, "close") {
			name = "close"
		}
		require.Contains(t, l.subject, name)
		require.Regexp(t, `^<alert-[0-9a-zA-Z-]+@example\.com>$`, thread[name])
		require.Equal(t, thread[name], l.header.Get("References"))
		require.Equal(t, thread[name], l.header.Get("In-Reply-To"))
		ids[l.header.Get("Message-ID")] = true
	}
	require.Len(t, ids, 6, "each is a mail of its own")
	require.NotEqual(t, first[1].subject, over[2].subject, "it says that it is over")
}

// The mail about a missed deadline goes where the job says, and names what stands there.
func TestAMissedDeadlineIsMailed(t *testing.T) {
	o := newOffice(t)
	o.mailbox("ops")
	job := o.Add(t, enginetest.Job("settle", func(j *entity.Job) {
		j.Deadline = entity.JobDeadline{At: "13:00", TimeZone: "UTC", OnMiss: entity.MissAlert}
		j.Alerts.OnLate = []string{"ops"}
	}))
	now := o.Clock.Now()
	e := &entity.Execution{
		ID: identity.ExecutionID(now, job.ID, identity.FireKey(now), 0), JobID: job.ID, FireKey: identity.FireKey(now),
		ScheduledTime: now, DueTime: now, Trigger: entity.TriggerSchedule, ShardTotal: 1, JobVersion: 1, Priority: 5,
		Status: entity.StatusRunning, Attempt: 1, StartTime: now, CreateTime: now, UpdateTime: now,
	}
	o.Write(t, func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.Insert(ctx, []*entity.Execution{e}); err != nil {
			return err
		}
		return tx.Alerts.AddDeadlines(ctx, []entity.Deadline{{
			Moment: now.Add(time.Hour), JobID: job.ID, FireKey: e.FireKey, ScheduledTime: now,
		}})
	})
	require.Empty(t, o.turn(time.Hour-time.Second))
	var missed []letter
	for range 12 { // it is judged some seconds after its moment
		missed = append(missed, o.turn(5*time.Second)...)
	}
	require.Len(t, missed, 1)
	require.Equal(t, []string{"ops@example.com"}, missed[0].to)
	require.Contains(t, missed[0].subject, "settle")
	require.Contains(t, missed[0].text, "alerts.onLate")
	require.NotContains(t, missed[0].text, "onMissed")
	require.Contains(t, missed[0].html, "alerts.onLate")
}

// A mail goes to who is on call at that moment: members take turns, and outside the hours of the plan those of
// the channel are told.
func TestAMailGoesToWhoIsOnCallThen(t *testing.T) {
	o := newOffice(t)
	o.Rule(alert.JobFailed, nil)
	o.mailbox("ops")
	for _, user := range []string{"ann", "bob"} {
		alertingtest.Set(o.Desk, alert.KindContact, &alert.Contact{
			Head: alertingtest.Head("c-" + user), UserID: user, Email: user + "@example.com",
		})
	}
	alertingtest.Set(o.Desk, alert.KindTeam, &alert.Team{
		Head: alertingtest.Head("team"), Members: []string{"ann", "bob"},
	})
	alertingtest.Set(o.Desk, alert.KindOnCall, &alert.OnCall{
		Head: alertingtest.Head("plan"), TimeZone: "Asia/Shanghai", // noon is 20:00 there
		Shifts: []alert.Shift{{
			TeamID: "team", Days: []time.Weekday{time.Friday, time.Saturday}, FromMin: 20 * 60, ToMin: 8 * 60, RotateDays: 1,
			RotateFrom: "2026-11-20",
		}},
	})
	o.route(func(r *alert.Route) { r.OnCallID = "plan" })
	for i, c := range []struct {
		at time.Duration
		to string
	}{
		{0, "ann"},
		{11*time.Hour + 59*time.Minute, "ann"},
		{12 * time.Hour, "ops"},
		{24 * time.Hour, "bob"},
		{36*time.Hour - time.Second, "bob"},
		{36 * time.Hour, "ops"},
		{48 * time.Hour, "ops"},
	} {
		name := fmt.Sprint("job", i)
		job := o.Add(t, enginetest.Job(name, nil))
		require.Empty(t, o.turn(enginetest.Noon.Add(c.at).Sub(o.Clock.Now())))
		o.End(job, entity.StatusFailed)
		got := o.turn(0)
		require.Len(t, got, 1, "%s: %v", c.at, keys(got))
		require.Equal(t, []string{c.to + "@example.com"}, got[0].to, c.at)
		require.Contains(t, got[0].subject, name)
		alerts := o.Alerts()
		o.Resolve(alerts[len(alerts)-1])
		over := o.turn(0)
		require.Len(t, over, 1)
		require.Equal(t, got[0].to, over[0].to)
	}
}
