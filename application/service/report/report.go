// Package report makes the weekly report.
package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/application/manager/cluster/periodic"
	"github.com/platform-scheduler/platform-scheduler/domain/bounds"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
	"github.com/platform-scheduler/platform-scheduler/domain/service/civil"
)

// Interval is how often the leader looks whether a report is due.
const Interval = time.Minute

const (
	// firstFor is how long after its moment a first report is made: who sets it up on another
	// day waits for the next one. lateFor holds for the reports after it.
	firstFor = time.Hour
	lateFor  = 6 * 24 * time.Hour
)

// Plan says to whom the report goes, and when.
type Plan struct {
	// Channel is the name of a channel of type EMAIL.
	Channel string
	Weekday time.Weekday
	Hour    int
	Zone    *time.Location
	// Language is en or zh.
	Language string
}

// due is the latest moment of a report that is not after now, and its number, which grows by
// one a week.
func (p Plan) due(now time.Time) (at time.Time, number int) {
	local := now.In(p.Zone)
	since := int(local.Weekday()-p.Weekday+7) % 7
	day := civil.Date(local.Year(), local.Month(), local.Day()-since, p.Hour, 0, 0)
	if at = day.In(p.Zone); at.After(now) {
		day = day.AddDays(-7)
		at = day.In(p.Zone)
	}
	return at, int(day.UTC().Unix() / (7 * 24 * 3600))
}

// Deps are the parts of a Reporter.
type Deps struct {
	Plan     Plan
	Store    repository.Store
	Channels repository.AlertSettings
	Sums     repository.StatisticsReader
	Usual    repository.BaselineReader
	Jobs     repository.JobReader
	Groups   repository.Groups
	Alerts   repository.Alerts
	Letters  repository.RecordReader
	// Render makes the texts.
	Render func(w alert.WeeklyReport, language string) (alert.Content, error)
	// Clock is the store's. Zone is that in which days of statistics are stored.
	Clock clock.StoreClock
	Zone  *time.Location
	// URL leads to the console; may be empty.
	URL string
	// Wake tells those who send that there is something new. It must not wait.
	Wake   func()
	Logger *slog.Logger
}

// Reporter makes the weekly report. It is a task of the leader; two at once make one report,
// because its number is that of the week. Safe for concurrent use.
type Reporter struct {
	Deps
	// made is the number of the latest report that is known to be stored. The store decides;
	// this saves a look each minute.
	made atomic.Int64
	// wrong is what is the matter with the channel, as the latest look found it.
	wrong atomic.Pointer[finding]
}

// finding is what a look found at a moment.
type finding struct {
	text string
	at   time.Time
}

// troubleFor is how long after the latest look its finding counts: another node may lead.
const troubleFor = 5 * Interval

// Trouble is why no report comes: the channel is not there, or cannot carry it. It says
// nothing on a node that does not look.
func (r *Reporter) Trouble() (reason string, blocks bool) {
	if w := r.wrong.Load(); w != nil && r.Clock.Now().Sub(w.at).Abs() < troubleFor {
		return w.text, false
	}
	return "", false
}

// note keeps what is the matter with the channel, and logs once that it is, and that it is not.
func (r *Reporter) note(wrong string) {
	var now *finding
	if wrong != "" {
		now = &finding{wrong, r.Clock.Now()}
	}
	switch former := r.wrong.Swap(now); {
	case now != nil && (former == nil || former.text != wrong):
		r.Logger.Warn("the weekly report has no channel and does not come", "reason", wrong)
	case now == nil && former != nil:
		r.Logger.Info("the weekly report has its channel", "channel", r.Plan.Channel)
	}
}

// New wires the parts.
func New(d Deps) *Reporter { return &Reporter{Deps: d} }

// RunOnce makes the report of this week, once, when its moment has come. It goes the way of
// messages about alerts.
func (r *Reporter) RunOnce(ctx context.Context) error {
	now := r.Clock.Now()
	due, number := r.Plan.due(now)
	if r.made.Load() >= int64(number) {
		return periodic.ErrIdle
	}
	channel, wrong, err := r.channel(ctx)
	if err != nil {
		return err
	}
	r.note(wrong)
	if wrong != "" {
		return periodic.ErrIdle // it is a setting of people, and no task that fails
	}
	last, err := r.last(ctx, channel)
	if err != nil {
		return err
	}
	most := lateFor
	if last == 0 {
		most = firstFor
	}
	if last >= number || now.Sub(due) > most {
		r.made.Store(int64(number))
		return periodic.ErrIdle
	}
	week, err := r.week(ctx, due)
	if err != nil {
		return err
	}
	body, err := r.Render(week, r.Plan.Language)
	if err != nil {
		return fmt.Errorf("write the weekly report: %w", err)
	}
	n := &alert.Notification{
		ID: policy.NotificationID(policy.ReportKey(), channel, number), GroupKey: policy.ReportKey(),
		ChannelID: channel, Number: number, State: alert.NotificationOpen, NextTry: now, Body: body, CreateTime: now,
		UpdateTime: now,
	}
	err = r.Store.Write(ctx, repository.LaneAPI, "weekly-report", func(ctx context.Context, tx repository.Tx) error {
		return tx.Alerts.AddNotifications(ctx, []*alert.Notification{n})
	})
	if err == nil || errors.Is(err, repository.ErrCommitUnknown) {
		r.Wake()
	}
	if err != nil {
		return fmt.Errorf("store the weekly report: %w", err)
	}
	r.made.Store(int64(number))
	return nil
}

// last is the number of the latest report; 0: there was none.
func (r *Reporter) last(ctx context.Context, channel string) (number int, err error) {
	err = r.Store.Write(ctx, repository.LaneAPI, "weekly-report-last", func(ctx context.Context, tx repository.Tx) error {
		n, _, err := tx.Alerts.LastNotification(ctx, policy.ReportKey(), channel)
		number = n.Number
		return err
	})
	return number, err
}

// channel is the id of the channel of the plan, or what is wrong with it, and how to mend that.
func (r *Reporter) channel(ctx context.Context) (id, wrong string, err error) {
	all, err := r.Channels.AlertSettings(ctx, []alert.Kind{alert.KindChannel}, bounds.Settings)
	if err != nil {
		return "", "", fmt.Errorf("read the channels: %w", err)
	}
	const field = "monitoring.weeklyReport.channel: "
	for _, s := range all {
		if s.Name != r.Plan.Channel {
			continue
		}
		var c struct {
			Type alert.ChannelType `json:"type"`
		}
		_ = json.Unmarshal([]byte(s.Document), &c) // a channel that cannot be read is none of mail
		switch {
		case c.Type != alert.ChannelEmail:
			return "", field + fmt.Sprintf("the channel %q is not of type EMAIL; name one that is", s.Name), nil
		case s.Group != "":
			return "", field + fmt.Sprintf("the channel %q is bound to the group %q, and the report tells of all groups; "+
				"name another one", s.Name, s.Group), nil
		case !s.Enabled:
			return "", field + fmt.Sprintf("the channel %q is switched off; switch it on, or name another one", s.Name), nil
		}
		return s.ID, "", nil
	}
	return "", field + fmt.Sprintf("no alert channel has the name %q; make one of type EMAIL, or name another "+
		"one", r.Plan.Channel), nil
}
