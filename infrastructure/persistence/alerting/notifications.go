package alerting

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Notifications is what those who send ask: repository.Notifications.
type Notifications struct{ s *sqldb.Core }

const (
	notificationColumns = "id, group_key, channel_id, number, state, next_try, lease_node, lease_until, attempts, why, " +
		"create_time, update_time, template_id, recipients, body, route_id"
	deliveryColumns = "notification_id, attempt, start_time, end_time, result, code, message, node_id"
)

// scanNotification reads a notification, and what stands behind its columns.
func scanNotification(rows *sql.Rows, behind ...any) (n alert.Notification, err error) {
	var node, why, recipients, body, route text
	var next, until, created, updated sqlvalue.DBTime
	err = rows.Scan(append([]any{
		&n.ID, &n.GroupKey, &n.ChannelID, &n.Number, &n.State, &next, &node, &until, &n.Attempts, &why, &created, &updated,
		&n.TemplateID, &recipients, &body, &route,
	}, behind...)...)
	var unread []entity.Unread
	n.To = recipientsOf(recipients)
	n.Body = sqlvalue.ReadJSON[alert.Content]("body", string(body), &unread)
	n.LeaseNode, n.Why, n.NextTry, n.LeaseUntil = string(node), string(why), next.Time(), until.Time()
	n.RouteID = string(route)
	n.CreateTime, n.UpdateTime = created.Time(), updated.Time()
	return n, err
}

// recipientsOf reads a column of mail addresses. A message without its addresses goes to
// those of its channel.
func recipientsOf(column text) []string {
	var unread []entity.Unread
	return sqlvalue.ReadJSON[[]string]("recipients", string(column), &unread)
}

func scanDelivery(rows *sql.Rows) (d alert.Delivery, err error) {
	var result, code, message text
	var start, end sqlvalue.DBTime
	err = rows.Scan(&d.NotificationID, &d.Attempt, &start, &end, &result, &code, &message, &d.NodeID)
	d.Result, d.Code, d.Message = alert.Result(result), string(code), string(message)
	d.StartTime, d.EndTime = start.Time(), end.Time()
	return d, err
}

const (
	// turnRows is how many notifications of a channel one look takes, beside as many that come with a lease,
	// and dueRows how many it parts into turns; channels that take no more are left out of these.
	turnRows = 8
	dueRows  = 1000
)

// DueNotifications implements repository.Notifications.
func (r *Notifications) DueNotifications(ctx context.Context, now time.Time, without []string,
	limit int,
) ([]alert.Notification, error) {
	args := []any{
		string(alert.NotificationOpen), sqlvalue.TimeArg(now), sqlvalue.TimeArg(now), string(alert.NotificationOpen),
	}
	others := ""
	if len(without) > 0 {
		in, of := r.s.Dialect.InAny("channel_id", without)
		others, args = "AND NOT ("+in+") ", append(args, of...)
	}
	columns := "n." + strings.ReplaceAll(notificationColumns, ", ", ", n.")
	return sqldb.Collect(ctx, r.s.Pool, "notification.due",
		"SELECT "+columns+", s.group_name FROM (SELECT id, next_try, ROW_NUMBER() OVER (PARTITION BY channel_id, "+
			"lease_until IS NULL ORDER BY next_try, id) AS turn FROM (SELECT id, channel_id, next_try, lease_until FROM scheduler_notification n WHERE state = ? AND "+
			"next_try <= ? AND (lease_until IS NULL OR lease_until <= ?) AND NOT EXISTS (SELECT 1 FROM scheduler_notification o "+
			"WHERE o.group_key = n.group_key AND o.channel_id = n.channel_id AND o.number < n.number AND o.state = ?) "+others+
			"ORDER BY next_try, id LIMIT ?) d) t JOIN scheduler_notification n ON n.id = t.id LEFT JOIN "+
			"scheduler_alert_setting s ON s.id = n.channel_id WHERE t.turn <= ? ORDER BY t.turn, t.next_try, n.id LIMIT ?",
		append(args, dueRows, turnRows, limit), scanDue)
}

// scanDue reads a notification with the group of its channel.
func scanDue(rows *sql.Rows) (alert.Notification, error) {
	var group text
	n, err := scanNotification(rows, &group)
	n.ChannelGroup = string(group)
	return n, err
}

// scanOne reads a notification alone.
func scanOne(rows *sql.Rows) (alert.Notification, error) { return scanNotification(rows) }

// OldNotifications implements repository.Notifications.
func (r *Notifications) OldNotifications(ctx context.Context, now, created time.Time,
	limit int,
) ([]alert.Notification, error) {
	return sqldb.Collect(ctx, r.s.Pool, "notification.old-open",
		"SELECT "+notificationColumns+" FROM scheduler_notification WHERE state = ? AND create_time <= ? AND "+
			"(lease_until IS NULL OR lease_until <= ?) ORDER BY create_time, id LIMIT ?",
		[]any{string(alert.NotificationOpen), sqlvalue.TimeArg(created), sqlvalue.TimeArg(now), limit}, scanOne)
}

// leftBatch bounds how many rows a call of EndLeasesOfTheDead changes.
const leftBatch = 500

// EndLeasesOfTheDead implements repository.Notifications. The rows of nodes are read apart from the
// change, which would lock them.
func (r *Notifications) EndLeasesOfTheDead(ctx context.Context, former string) error {
	left, err := sqldb.Collect(ctx, r.s.Pool, "notification.left",
		"SELECT "+notificationColumns+" FROM scheduler_notification n WHERE state = ? AND lease_until IS NOT NULL AND "+
			"(lease_node = ? OR EXISTS (SELECT 1 FROM scheduler_node_registry r WHERE r.id = n.lease_node AND r.status = ?)) "+
			"ORDER BY next_try, id LIMIT ?",
		[]any{string(alert.NotificationOpen), former, string(entity.NodeDown), leftBatch},
		scanOne)
	if err != nil || len(left) == 0 {
		return err
	}
	return r.s.Change(ctx, repository.LaneComplete, "delivery-leases", func(ctx context.Context, c *sqldb.Conn) error {
		for _, n := range left {
			if _, err := c.Exec(ctx, "notification.end-lease",
				"UPDATE scheduler_notification SET lease_until = NULL WHERE id = ? AND state = ? AND lease_node = ? AND "+
					"attempts = ?", n.ID, string(alert.NotificationOpen), n.LeaseNode, n.Attempts); err != nil {
				return err
			}
		}
		return nil
	})
}

// BeginDelivery implements repository.Notifications.
func (r *Notifications) BeginDelivery(ctx context.Context, read alert.Notification, node string,
	now time.Time,
) (n alert.Notification, ok bool, err error) {
	id, until := read.ID, now.Add(alert.LeaseTime)
	err = r.s.Change(ctx, repository.LaneComplete, "delivery-begin", func(ctx context.Context, c *sqldb.Conn) error {
		n, ok = alert.Notification{}, false
		found, err := c.Exec(ctx, "notification.take",
			"UPDATE scheduler_notification SET lease_node = ?, lease_until = ?, attempts = attempts + 1, update_time = ? "+
				"WHERE id = ? AND state = ? AND attempts = ? AND (lease_until IS NULL OR lease_until <= ?)",
			node, sqlvalue.TimeArg(until), sqlvalue.TimeArg(now), id, string(alert.NotificationOpen), read.Attempts,
			sqlvalue.TimeArg(now))
		if err != nil || found == 0 {
			return err
		}
		rows, err := sqldb.Collect(ctx, c, "notification.taken",
			"SELECT "+notificationColumns+" FROM scheduler_notification WHERE id = ?", []any{id}, scanOne)
		if err != nil || len(rows) == 0 {
			return err
		}
		n, ok = rows[0], true
		if _, err := c.Exec(ctx, "delivery.give-up",
			"UPDATE scheduler_alert_delivery SET result = ?, end_time = ? WHERE notification_id = ? AND result IS NULL",
			string(alert.ResultUnknown), sqlvalue.TimeArg(now), id); err != nil {
			return err
		}
		_, err = c.Exec(ctx, "delivery.begin",
			"INSERT INTO scheduler_alert_delivery (notification_id, attempt, start_time, node_id) VALUES (?, ?, ?, ?)",
			id, n.Attempts, sqlvalue.TimeArg(now), node)
		return err
	})
	return n, ok && err == nil, err
}

func alertsOf(ctx context.Context, c *sqldb.Conn, id string) ([]alert.NotifiedAlert, error) {
	return sqldb.Collect(ctx, c, "notification.alerts",
		"SELECT alert_id, seq, firing FROM scheduler_notification_alert WHERE notification_id = ? ORDER BY alert_id",
		[]any{id},
		func(rows *sql.Rows) (a alert.NotifiedAlert, err error) {
			return a, rows.Scan(&a.AlertID, &a.Seq, &a.Firing)
		})
}

// NotificationsOf implements repository.Notifications.
func (r *Notifications) NotificationsOf(ctx context.Context, alertID string,
	limit int,
) ([]alert.Notification, []alert.Delivery, error) {
	if !sqlvalue.IsASCIIID(alertID) {
		return nil, nil, nil
	}
	notifications, err := sqldb.Collect(ctx, r.s.Pool, "notification.of-alert",
		"SELECT "+notificationColumns+" FROM scheduler_notification WHERE id IN (SELECT notification_id FROM "+
			"scheduler_notification_alert WHERE alert_id = ?) ORDER BY create_time, id LIMIT ?", []any{alertID, limit},
		scanOne)
	if err != nil || len(notifications) == 0 {
		return nil, nil, err
	}
	ids := convert.All(notifications, func(n alert.Notification) string { return n.ID })
	in, args := r.s.Dialect.In("notification_id", ids)
	deliveries, err := sqldb.Collect(ctx, r.s.Pool, "delivery.of-alert",
		"SELECT "+deliveryColumns+" FROM scheduler_alert_delivery WHERE "+in+" ORDER BY start_time, notification_id, "+
			"attempt LIMIT ?", append(args, 10*limit), scanDelivery)
	return notifications, deliveries, err
}
