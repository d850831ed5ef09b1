package report_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/report"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/statistics"
)

// office is a node with what reporters read; each call of leader is a new one.
type office struct {
	*enginetest.Node
	t        *testing.T
	rendered []alert.WeeklyReport
	fail     error
	woken    int
	log      bytes.Buffer
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{Node: enginetest.New(t, enginetest.Options{}), t: t}
	o.channel("mail", alert.ChannelEmail, "", true)
	return o
}

func (o *office) channel(name string, kind alert.ChannelType, group string, enabled bool) {
	o.t.Helper()
	require.NoError(o.t, o.Store.AddAlertSetting(o.t.Context(), alert.Setting{
		Head: alert.Head{
			ID: "c-" + name, Name: name, Group: group, Enabled: enabled, Version: 1, CreateTime: enginetest.Noon,
			UpdateTime: enginetest.Noon,
		},
		Kind: alert.KindChannel, Document: `{"type":"` + string(kind) + `"}`,
	}))
}

// leader makes reports on Monday at 8 in Shanghai.
func (o *office) leader(store repository.Store, channel string) *report.Reporter {
	zone, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(o.t, err)
	return report.New(report.Deps{
		Plan:  report.Plan{Channel: channel, Weekday: time.Monday, Hour: 8, Zone: zone, Language: "en"},
		Store: store, Channels: o.Store, Sums: o.Store.Statistics, Usual: o.Store.Statistics, Jobs: o.Store.Jobs,
		Groups: o.Store, Alerts: o.Store, Letters: o.Store, Clock: o.Clock, Zone: time.UTC, Wake: func() { o.woken++ },
		Logger: slog.New(slog.NewTextHandler(&o.log, nil)),
		Render: func(w alert.WeeklyReport, _ string) (alert.Content, error) {
			o.rendered = append(o.rendered, w)
			return alert.Content{Title: "week", Text: w.To.UTC().Format(time.RFC3339)}, o.fail
		},
	})
}

// reports are the stored ones, as their texts.
func (o *office) reports() (out []string) {
	o.t.Helper()
	due, err := o.Store.DueNotifications(o.t.Context(), o.Clock.Now(), nil, 10)
	require.NoError(o.t, err)
	for _, n := range due {
		require.Equal(o.t, policy.ReportKey(), n.GroupKey)
		out = append(out, n.Body.Text)
	}
	return out
}

// to moves the clock to a moment.
func (o *office) to(at time.Time) { o.Clock.Advance(at.Sub(o.Clock.Now())) }

// moment is the first Monday at 8 in Shanghai, which is midnight in UTC, after noon.
func moment() time.Time {
	at := enginetest.Noon.Truncate(24*time.Hour).AddDate(0, 0, 1)
	for at.Weekday() != time.Monday {
		at = at.AddDate(0, 0, 1)
	}
	return at
}

func TestTheReportIsMadeOnceAWeek(t *testing.T) {
	o := newOffice(t)
	first := moment()
	turn := func() error { return o.leader(o.Store, "mail").RunOnce(t.Context()) }
	o.to(first.Add(-time.Second))
	require.ErrorIs(t, turn(), periodic.ErrIdle, "who sets it up on another day waits")
	o.to(first)
	o.fail = errors.New("a template")
	require.Error(t, turn())
	require.Empty(t, o.reports())
	o.fail = nil
	require.NoError(t, turn())
	require.Equal(t, []string{first.Format(time.RFC3339)}, o.reports())
	require.Equal(t, 1, o.woken)
	for range 3 { // other leaders
		require.ErrorIs(t, turn(), periodic.ErrIdle)
		o.Clock.Advance(time.Hour)
	}
	require.Len(t, o.reports(), 1)
	o.send()
	o.to(first.AddDate(0, 0, 9)) // the cluster stood still on the day
	require.NoError(t, turn())
	require.Equal(t, []string{first.AddDate(0, 0, 7).Format(time.RFC3339)}, o.reports())
}

// send ends the report that waits.
func (o *office) send() {
	o.t.Helper()
	due, err := o.Store.DueNotifications(o.t.Context(), o.Clock.Now(), nil, 10)
	require.NoError(o.t, err)
	n, ok, err := o.Store.BeginDelivery(o.t.Context(), due[0], "n1", o.Clock.Now())
	require.NoError(o.t, err)
	require.True(o.t, ok)
	n.Conclude(alert.ResultSent, "", 0, o.Clock.Now(), 0)
	o.Write(o.t, func(ctx context.Context, tx repository.Tx) error {
		_, err := tx.Alerts.EndDelivery(ctx, n, alert.Delivery{
			NotificationID: n.ID, Attempt: 1, EndTime: o.Clock.Now(), Result: alert.ResultSent, NodeID: "n1",
		})
		return err
	})
}

func TestAReportIsMadeOnceWhateverBecomesOfTheCommit(t *testing.T) {
	for name, fault := range map[string]enginetest.Fault{
		"the reply is lost": enginetest.LostReply, "the commit is lost": enginetest.LostCommit,
	} {
		o := newOffice(t)
		o.to(moment())
		o.Faults.Next("weekly-report", fault)
		_ = o.leader(o.Faults, "mail").RunOnce(t.Context())
		_ = o.leader(o.Faults, "mail").RunOnce(t.Context())
		require.Len(t, o.reports(), 1, name)
	}
}

func TestAChannelThatCannotCarryTheReportIsTold(t *testing.T) {
	o := newOffice(t)
	o.channel("chat", "SLACK", "", true)
	o.channel("team", alert.ChannelEmail, "pay", true)
	o.channel("off", alert.ChannelEmail, "", false)
	o.to(moment())
	for name, want := range map[string]string{
		"chat": "not of type EMAIL", "team": `bound to the group "pay"`, "off": "switched off", "gone": "no alert channel",
	} {
		r := o.leader(o.Store, name)
		require.ErrorIs(t, r.RunOnce(t.Context()), periodic.ErrIdle, "a setting is no task that fails")
		why, blocks := r.Trouble()
		require.Contains(t, why, "monitoring.weeklyReport.channel")
		require.Contains(t, why, want)
		require.False(t, blocks)
	}
}

// A missing channel is a warning, once, and the report comes as soon as its channel is there.
func TestTheReportComesOnceItsChannelIsThere(t *testing.T) {
	o := newOffice(t)
	r := o.leader(o.Store, "late")
	o.to(moment())
	for range 3 {
		require.ErrorIs(t, r.RunOnce(t.Context()), periodic.ErrIdle)
		o.Clock.Advance(time.Minute)
	}
	require.Equal(t, 1, strings.Count(o.log.String(), "WARN"), o.log.String())
	require.NotContains(t, o.log.String(), "ERROR")
	o.channel("late", alert.ChannelEmail, "", true)
	require.NoError(t, r.RunOnce(t.Context()))
	require.Len(t, o.reports(), 1)
	why, _ := r.Trouble()
	require.Empty(t, why)
	require.Contains(t, o.log.String(), "has its channel")
	other := o.leader(o.Store, "gone")
	_ = other.RunOnce(t.Context())
	o.Clock.Advance(time.Hour)
	why, _ = other.Trouble()
	require.Empty(t, why, "another node leads meanwhile")
}

func TestTheFiguresOfAWeek(t *testing.T) {
	o := newOffice(t)
	job := o.Add(t, enginetest.Job("settle", nil))
	id, ok := identity.Bytes(job.ID)
	require.True(t, ok)
	at := moment()
	row := func(success, failed int64) *statistics.StoredRow {
		return &statistics.StoredRow{Row: statistics.Row{
			Runs: success + failed, Success: success, Failed: failed, DurationMs: 1000 * (success + failed),
		}}
	}
	day := func(ago int) int64 { return at.AddDate(0, 0, -ago).UnixMilli() }
	rows := map[repository.SumKey]*statistics.StoredRow{
		{Period: statistics.Day, Start: day(2), Kind: statistics.KindCluster}:                row(8, 2),
		{Period: statistics.Day, Start: day(9), Kind: statistics.KindCluster}:                row(20, 0),
		{Period: statistics.Day, Start: day(20), Kind: statistics.KindCluster}:               row(500, 0),
		{Period: statistics.Day, Start: day(2), Kind: statistics.KindGroup, Name: job.Group}: row(8, 2),
		{Period: statistics.Day, Start: day(2), Job: id}:                                     row(8, 2),
	}
	var keys []repository.SumKey
	for key := range rows {
		keys = append(keys, key)
	}
	o.Write(t, func(ctx context.Context, tx repository.Tx) error { return tx.Statistics.PutSums(ctx, keys, rows) })
	o.to(at)
	require.NoError(t, o.leader(o.Store, "mail").RunOnce(t.Context()))
	w := o.rendered[0]
	require.Equal(t, alert.ReportSums{Runs: 10, Success: 8, Failures: 2}, w.Total)
	require.Equal(t, alert.ReportSums{Runs: 20, Success: 20}, w.Before)
	require.Equal(t, []alert.ReportGroup{{Name: job.Group, Total: w.Total}}, w.Groups)
	require.Equal(t, []alert.ReportJob{{Name: "settle", Group: job.Group, Runs: 10, Failures: 2}}, w.Failing)
	require.Empty(t, w.Slow, "nothing is usual yet")
}
