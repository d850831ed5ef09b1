package simulate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/app/datafolder"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/test/delivery"
	"github.com/platform-scheduler/platform-scheduler/test/history"
)

// told is the label of jobs of whose failures a rule tells.
const told = "told"

// alerting makes a channel to the receiver and a rule about single failures.
func (w *world) alerting(ctx context.Context, l *life) error {
	channel := &alert.Channel{
		Head: alert.Head{Name: "receiver", Enabled: true}, Type: alert.ChannelWebhook,
		Config: `{"url":"http://127.0.0.1/"}`,
	}
	if _, err := l.Alerting.Channels.Create(ctx, channel); err != nil {
		return fmt.Errorf("make a channel: %w", err)
	}
	rule := &alert.Rule{
		Head: alert.Head{Name: "single failures", Enabled: true}, Type: alert.JobFailed, Level: alert.Critical,
		Notify: alert.NotifyFirst, ChannelIDs: []string{channel.ID},
		Scope: alert.Scope{Labels: map[string]string{told: "yes"}},
	}
	if _, err := l.Alerting.Rules.Create(ctx, rule); err != nil {
		return fmt.Errorf("make a rule: %w", err)
	}
	w.rule, w.channel = rule.ID, channel.ID
	return nil
}

// openStore opens the store beside the nodes, to read what no API tells.
func (w *world) openStore() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.Join(w.dir, first, datafolder.DatabaseFile)+"?mode=ro")
}

// settled waits until no event, no alert and no message is left to do; the checker finds what is left at the bound.
func (w *world) settled(ctx context.Context, db *sql.DB) error {
	for until := time.Now().Add(quiet); time.Now().Before(until); time.Sleep(time.Second) {
		left := 0
		for _, query := range []string{
			"SELECT COUNT(*) FROM scheduler_notification WHERE state = 'OPEN'",
			"SELECT COUNT(*) FROM scheduler_outbox WHERE for_rules = 1",
			"SELECT COUNT(*) FROM scheduler_alert WHERE notify_due IS NOT NULL",
		} {
			n := 0
			if err := db.QueryRowContext(ctx, query).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			left += n
		}
		if left == 0 {
			return nil
		}
	}
	return nil
}

// places waits until no fire holds a place, and returns those that still do.
func (w *world) places(ctx context.Context, db *sql.DB) (left []history.Leftover, err error) {
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		left = nil
		for of, table := range map[string]string{"job": "scheduler_live_fire", "group": "scheduler_group_place"} {
			err := each(ctx, db, "SELECT job_id, fire_key FROM "+table, func(rows *sql.Rows) error {
				l := history.Leftover{Of: of}
				left = append(left, l)
				return rows.Scan(&left[len(left)-1].Job, &left[len(left)-1].Fire)
			})
			if err != nil {
				return nil, err
			}
		}
		if len(left) == 0 || time.Now().After(until) {
			return left, nil
		}
	}
}

func each(ctx context.Context, db *sql.DB, query string, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
	}
	return rows.Err()
}

// stored is how SQLite stores moments.
const stored = "2006-01-02 15:04:05.000"

func at(text sql.NullString) time.Time {
	t, _ := time.Parse(stored, text.String)
	return t
}

// deliveries reads what the store says of alerts and messages.
func (w *world) deliveries(ctx context.Context, db *sql.DB) (*delivery.History, error) {
	h := &delivery.History{Receipts: w.receiver.all(), Failed: map[string]int{}}
	labelled := map[string]bool{}
	for _, j := range w.jobs {
		labelled[j.ID] = j.definition.Labels[told] != ""
	}
	for _, r := range w.h.Rows {
		if labelled[r.JobID] && (r.Status == "FAILED" || r.Status == "TIMEOUT" || r.Status == "DEAD") {
			h.Failed[r.JobID]++
		}
	}
	for _, f := range w.faults {
		d := delivery.Fault{Kind: f.Kind, From: f.From, Until: f.Until}
		for _, s := range w.steps {
			if f.Kind == string(StoreStep) && s.From.Equal(f.From) {
				d.Step = s.By.Abs()
			}
		}
		h.Faults = append(h.Faults, d)
	}
	alerts := map[string][]string{}
	return h, errors.Join(
		each(ctx, db, "SELECT notification_id, alert_id FROM scheduler_notification_alert", func(rows *sql.Rows) error {
			var message, about string
			err := rows.Scan(&message, &about)
			alerts[message] = append(alerts[message], about)
			return err
		}),
		each(ctx, db, "SELECT id, group_key, channel_id, number, state FROM scheduler_notification",
			func(rows *sql.Rows) error {
				var m delivery.Message
				err := rows.Scan(&m.ID, &m.Group, &m.Channel, &m.Number, &m.State)
				m.Channel, m.Alerts = delivery.Webhook, alerts[m.ID]
				h.Messages = append(h.Messages, m)
				return err
			}),
		each(ctx, db, "SELECT id, fingerprint, rule_id, job_id, status, evidence_count, start_time, last_time "+
			"FROM scheduler_alert WHERE rule_id = '"+w.rule+"'", func(rows *sql.Rows) error {
			a := delivery.Alert{Each: true, Channels: []string{delivery.Webhook}}
			var start, last sql.NullString
			err := rows.Scan(&a.ID, &a.Fingerprint, &a.Rule, &a.Job, &a.Status, &a.Count, &start, &last)
			a.Start, a.Last, a.Fired = at(start), at(last), a.Status != "PENDING"
			h.Alerts = append(h.Alerts, a)
			return err
		}),
		each(ctx, db, "SELECT notification_id, attempt, COALESCE(result, ''), start_time, end_time "+
			"FROM scheduler_alert_delivery ORDER BY notification_id, attempt", func(rows *sql.Rows) error {
			var a delivery.Attempt
			var start, end sql.NullString
			err := rows.Scan(&a.Message, &a.Number, &a.Result, &start, &end)
			a.Start, a.End = at(start), at(end)
			h.Deliveries = append(h.Deliveries, a)
			return err
		}))
}
