package alerting

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// writer implements repository.AlertWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.AlertWriter { return &writer{c} }

// LatestEpisodes implements repository.AlertWriter. Ids sort by first evidence. The one that holds
// its fingerprint is the latest, also where another has a later id, because the store's clock was
// set back since.
func (w *writer) LatestEpisodes(ctx context.Context, fingerprints []string) (out []*alert.Alert, err error) {
	for part := range slices.Chunk(sqlvalue.LockOrder(fingerprints), w.c.Dialect.MaxRows/2) {
		in, args := w.c.Dialect.In("fingerprint", part)
		open, openArgs := w.c.Dialect.In("open_key", part)
		found, err := sqldb.Collect(ctx, w.c, "alert.latest",
			"SELECT "+alertColumns+" FROM scheduler_alert WHERE id IN (SELECT MAX(id) FROM scheduler_alert WHERE "+in+
				" GROUP BY fingerprint) UNION ALL SELECT "+alertColumns+" FROM scheduler_alert WHERE "+open,
			append(args, openArgs...), scanAlert)
		if err != nil {
			return nil, err
		}
		latest := make(map[string]*alert.Alert, len(found))
		for _, a := range found {
			if former := latest[a.Fingerprint]; former == nil || a.Held {
				latest[a.Fingerprint] = a
			}
		}
		for _, fingerprint := range part {
			if a := latest[fingerprint]; a != nil {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// AlertsByID implements repository.AlertWriter.
func (w *writer) AlertsByID(ctx context.Context, ids []string) (out []*alert.Alert, err error) {
	ids = sqlvalue.LockOrder(sqlvalue.OnlyASCIIIDs(ids))
	return sqldb.CollectIn(ctx, w.c, "alert.by-id", "SELECT "+alertColumns+
		" FROM scheduler_alert WHERE {in} ORDER BY id", "id", ids, scanAlert)
}

// AddAlerts implements repository.AlertWriter. It goes row by row: no answer to an
// INSERT of many says which of them were there.
func (w *writer) AddAlerts(ctx context.Context, alerts []*alert.Alert) (added []string, err error) {
	insert := "INSERT INTO scheduler_alert (" + alertColumns + ") VALUES (" + dialect.Marks(alertWidth) + ")"
	for _, a := range alerts {
		changing, err := changingArgs(a)
		if err != nil {
			return nil, err
		}
		_, err = w.c.Exec(ctx, "alert.insert", insert, append(fixedArgs(a), changing...)...)
		switch {
		case err == nil:
			added = append(added, a.ID)
		case !errors.Is(err, repository.ErrDuplicateID):
			return nil, err
		}
	}
	return added, nil
}

// UpdateAlert implements repository.AlertWriter.
func (w *writer) UpdateAlert(ctx context.Context, a *alert.Alert, seq int64) (bool, error) {
	args, err := changingArgs(a)
	if err != nil {
		return false, err
	}
	set := strings.ReplaceAll(alertChanging, ", ", " = ?, ") + " = ?"
	n, err := w.c.Exec(ctx, "alert.update", "UPDATE scheduler_alert SET "+set+" WHERE id = ? AND seq = ?",
		append(args, a.ID, seq)...)
	if errors.Is(err, repository.ErrDuplicateID) {
		return false, nil
	}
	return n == 1, err
}

// LastNotification implements repository.AlertWriter.
func (w *writer) LastNotification(ctx context.Context, groupKey, channelID string,
) (n alert.Notification, found bool, err error) {
	n, found, err = sqldb.First(ctx, w.c, "notification.last",
		"SELECT "+notificationColumns+" FROM scheduler_notification WHERE group_key = ? AND channel_id = ? "+
			"ORDER BY number DESC LIMIT 1", []any{groupKey, channelID}, scanOne)
	if err != nil || !found {
		return n, false, err
	}
	n.Alerts, err = alertsOf(ctx, w.c, n.ID)
	return n, err == nil, err
}

// JoinNotification implements repository.AlertWriter. The UPDATE locks the row, so that
// nobody begins to send it before the alerts are there.
func (w *writer) JoinNotification(ctx context.Context, id string, alerts []alert.NotifiedAlert) (bool, error) {
	found, err := w.c.Exec(ctx, "notification.join",
		"UPDATE scheduler_notification SET attempts = attempts WHERE id = ? AND state = ? AND attempts = 0", id,
		string(alert.NotificationOpen))
	if err != nil || found == 0 {
		return false, err
	}
	return true, w.link(ctx, []*alert.Notification{{ID: id, Alerts: alerts}})
}

// maxWhy bounds what is told of a notification or a delivery, in characters.
const maxWhy = 1000

// cut keeps the beginning of a text that its column can hold.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if runes := []rune(s); len(runes) > maxWhy {
		return string(runes[:maxWhy-1]) + "…"
	}
	return s
}

// AddNotifications implements repository.AlertWriter.
func (w *writer) AddNotifications(ctx context.Context, notifications []*alert.Notification) error {
	err := bulk.Insert(ctx, w.c, "notification.insert", "scheduler_notification ("+notificationColumns+")", 16,
		w.c.Dialect.OnDuplicateKeep("id"), notifications, func(args []any, n *alert.Notification) []any {
			return append(args, n.ID, n.GroupKey, n.ChannelID, n.Number, string(n.State), sqlvalue.TimeArg(n.NextTry),
				sqlvalue.TextOrNull(n.LeaseNode), sqlvalue.TimeArg(n.LeaseUntil), n.Attempts, sqlvalue.TextOrNull(cut(n.Why)),
				sqlvalue.TimeArg(n.CreateTime), sqlvalue.TimeArg(n.UpdateTime), n.TemplateID, listOrNull(n.To), bodyOrNull(n.Body),
				sqlvalue.TextOrNull(n.RouteID))
		})
	if err != nil {
		return err
	}
	return w.link(ctx, notifications)
}

// link says which alerts notifications tell of.
func (w *writer) link(ctx context.Context, notifications []*alert.Notification) error {
	type link struct {
		id string
		of alert.NotifiedAlert
	}
	var links []link
	for _, n := range notifications {
		for _, of := range n.Alerts {
			links = append(links, link{n.ID, of})
		}
	}
	later := " ON DUPLICATE KEY UPDATE firing = IF(VALUES(seq) >= seq, VALUES(firing), firing), " +
		"seq = GREATEST(seq, VALUES(seq))"
	if w.c.Dialect.IsSQLite() {
		later = " ON CONFLICT (notification_id, alert_id) DO UPDATE SET firing = CASE WHEN excluded.seq >= seq THEN " +
			"excluded.firing ELSE firing END, seq = MAX(seq, excluded.seq)"
	}
	return bulk.Insert(ctx, w.c, "notification.insert-alerts",
		"scheduler_notification_alert (notification_id, alert_id, seq, firing)", 4, later,
		links, func(args []any, l link) []any {
			return append(args, l.id, l.of.AlertID, l.of.Seq, sqlvalue.Flag(l.of.Firing))
		})
}

// listOrNull is a list of texts as a column holds it.
func listOrNull(list []string) any {
	if len(list) == 0 {
		return nil
	}
	data, _ := json.Marshal(list) // a list of texts always marshals
	return string(data)
}

// bodyOrNull is a body as a column holds it.
func bodyOrNull(body alert.Content) any {
	if body == (alert.Content{}) {
		return nil
	}
	data, _ := json.Marshal(body) // texts always marshal
	return string(data)
}

// PlanAlert implements repository.AlertWriter.
func (w *writer) PlanAlert(ctx context.Context, id string, seq int64, due, next time.Time) (bool, error) {
	n, err := w.c.Exec(ctx, "alert.plan",
		"UPDATE scheduler_alert SET notify_due = ?, planned = CASE WHEN status = ? THEN planned ELSE 1 END WHERE id = ? AND "+
			"seq = ? AND notify_due = ?", sqlvalue.TimeArg(next), string(alert.Resolved), id, seq, sqlvalue.TimeArg(due))
	return n == 1, err
}

// PlannedAlerts implements repository.AlertWriter.
func (w *writer) PlannedAlerts(ctx context.Context, ids []string) ([]string, error) {
	in, args := w.c.Dialect.InAny("id", ids)
	return sqldb.Collect(ctx, w.c, "alert.planned", "SELECT id FROM scheduler_alert WHERE "+in+" AND planned = 1 ORDER BY id",
		args, sqlvalue.ScanText)
}

// PlannedMessages implements repository.AlertWriter.
func (w *writer) PlannedMessages(ctx context.Context, alertIDs []string) (out []repository.PlannedMessage, err error) {
	return sqldb.CollectIn(ctx, w.c, "notification.told",
		"SELECT t.alert_id, t.channel_id, t.group_key, t.state, t.why, t.fresh, t.seq, t.told_at, l.recipients FROM "+
			"(SELECT a.alert_id, n.channel_id, n.group_key, n.state, CASE WHEN n.state = ? THEN n.why END AS why, "+
			"MIN(CASE WHEN n.state = ? AND n.attempts = 0 THEN 1 ELSE 0 END) AS fresh, MAX(a.seq) AS seq, "+
			"MAX(CASE WHEN n.state = ? THEN n.update_time ELSE n.next_try END) AS told_at, MAX(n.number) AS number "+
			"FROM scheduler_notification_alert a JOIN scheduler_notification n ON n.id = a.notification_id "+
			"WHERE {in} GROUP BY 1, 2, 3, 4, 5) t JOIN scheduler_notification l ON l.group_key = t.group_key AND "+
			"l.channel_id = t.channel_id AND l.number = t.number", "a.alert_id", sqlvalue.LockOrder(alertIDs),
		func(rows *sql.Rows) (t repository.PlannedMessage, err error) {
			var why, recipients text
			var at sqlvalue.DBTime
			err = rows.Scan(&t.AlertID, &t.ChannelID, &t.GroupKey, &t.State, &why, &t.Fresh, &t.Seq, &at, &recipients)
			t.Why, t.At, t.To = string(why), at.Time(), recipientsOf(recipients)
			return t, err
		}, string(alert.NotificationSuppressed), string(alert.NotificationOpen), string(alert.NotificationSent))
}

// CountNotifications implements repository.AlertWriter.
func (w *writer) CountNotifications(ctx context.Context, channelID string, since time.Time, limit int) (int, error) {
	return w.c.Number(ctx, "notification.count",
		"SELECT COUNT(*) FROM (SELECT 1 FROM scheduler_notification WHERE channel_id = ? AND create_time > ? AND "+
			"state <> ? LIMIT ?) c", channelID, sqlvalue.TimeArg(since), string(alert.NotificationSuppressed), limit)
}
