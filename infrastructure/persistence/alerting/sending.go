package alerting

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// EndDelivery implements repository.AlertWriter.
func (w *writer) EndDelivery(ctx context.Context, n alert.Notification, d alert.Delivery) (held bool, err error) {
	if _, err := w.c.Exec(ctx, "delivery.end",
		"UPDATE scheduler_alert_delivery SET end_time = ?, result = ?, code = ?, message = ? WHERE notification_id = ? AND "+
			"attempt = ? AND node_id = ?", sqlvalue.TimeArg(d.EndTime), string(d.Result), sqlvalue.TextOrNull(cut(d.Code)),
		sqlvalue.TextOrNull(cut(d.Message)), n.ID, d.Attempt, d.NodeID); err != nil {
		return false, err
	}
	found, err := w.c.Exec(ctx, "notification.conclude",
		"UPDATE scheduler_notification SET state = ?, next_try = ?, lease_node = NULL, lease_until = NULL, why = ?, "+
			"update_time = ?, named = ? WHERE id = ? AND state = ? AND lease_node = ? AND attempts = ?", string(n.State),
		sqlvalue.TimeArg(n.NextTry), sqlvalue.TextOrNull(cut(n.Why)), sqlvalue.TimeArg(n.UpdateTime), namedBy(d), n.ID,
		string(alert.NotificationOpen), d.NodeID, d.Attempt)
	if err != nil || found != 1 {
		return false, err
	}
	return true, w.listed(ctx, d)
}

// CloseNotification implements repository.AlertWriter.
func (w *writer) CloseNotification(ctx context.Context, n alert.Notification) (bool, error) {
	now := sqlvalue.TimeArg(n.UpdateTime)
	found, err := w.c.Exec(ctx, "notification.close",
		"UPDATE scheduler_notification SET state = ?, lease_node = NULL, lease_until = NULL, why = ?, update_time = ? "+
			"WHERE id = ? AND state = ? AND (lease_until IS NULL OR lease_until <= ?)", string(n.State),
		sqlvalue.TextOrNull(cut(n.Why)), now, n.ID, string(alert.NotificationOpen), now)
	if err != nil || found == 0 {
		return false, err
	}
	_, err = w.c.Exec(ctx, "delivery.give-up",
		"UPDATE scheduler_alert_delivery SET result = ?, end_time = ? WHERE notification_id = ? AND result IS NULL",
		string(alert.ResultUnknown), now, n.ID)
	return true, err
}
