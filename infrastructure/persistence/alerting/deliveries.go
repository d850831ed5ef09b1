package alerting

import (
	"context"
	"database/sql"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Deliveries reads what became of messages about alerts: repository.AlertDeliveries.
type Deliveries struct{ s *sqldb.Core }

// shownColumns are what is shown of a notification and of an attempt to send it. The text of
// the message is not among them.
const shownColumns = "n.id, n.group_key, n.channel_id, n.number, n.state, n.next_try, n.lease_node, n.lease_until, " +
	"n.attempts, n.why, n.create_time, n.update_time, d.attempt, d.start_time, d.end_time, d.result, d.code, d.message, " +
	"d.node_id, s.name, n.named"

// shownDelivery is a row of a list of deliveries.
type shownDelivery struct {
	alertID string
	repository.AlertDelivery
}

func scanShown(rows *sql.Rows) (r shownDelivery, err error) {
	n, d := &r.Notification, &r.Delivery
	var lease, why, result, code, message, node, name text
	var attempt, listed, named sql.NullInt64
	var next, until, created, updated, start, end sqlvalue.DBTime
	err = rows.Scan(&r.alertID, &n.ID, &n.GroupKey, &n.ChannelID, &n.Number, &n.State, &next, &lease, &until, &n.Attempts,
		&why, &created, &updated, &attempt, &start, &end, &result, &code, &message, &node, &name,
		&named, &listed)
	r.Naming = namingOf(listed, named)
	n.LeaseNode, n.Why, n.NextTry, n.LeaseUntil = string(lease), string(why), next.Time(), until.Time()
	n.CreateTime, n.UpdateTime = created.Time(), updated.Time()
	d.Attempt, d.Result, d.Code, d.Message = int(attempt.Int64), alert.Result(result), string(code), string(message)
	r.ChannelName = string(name)
	d.NodeID, d.StartTime, d.EndTime, d.NotificationID = string(node), start.Time(), end.Time(), n.ID
	return r, err
}

// LatestDeliveries implements repository.AlertDeliveries.
func (r *Deliveries) LatestDeliveries(ctx context.Context, alertIDs []string,
	most int,
) (map[string][]repository.AlertDelivery, error) {
	out := map[string][]repository.AlertDelivery{}
	for ids := range slices.Chunk(sqlvalue.OnlyASCIIIDs(alertIDs), r.s.Dialect.MaxRows) {
		in, args := r.s.Dialect.In("a.alert_id", ids)
		found, err := sqldb.Collect(ctx, r.s.Pool, "delivery.latest",
			"SELECT t.alert_id, "+shownColumns+", t.listed FROM (SELECT a.alert_id, a.notification_id, a.listed, "+
				"ROW_NUMBER() OVER (PARTITION BY a.alert_id ORDER BY m.create_time DESC, m.id DESC) AS newest FROM scheduler_notification_alert a JOIN "+
				"scheduler_notification m ON m.id = a.notification_id WHERE "+in+") t JOIN scheduler_notification n ON "+
				"n.id = t.notification_id LEFT JOIN scheduler_alert_delivery d ON d.notification_id = n.id AND "+
				"d.attempt = n.attempts LEFT JOIN scheduler_alert_setting s ON s.id = n.channel_id WHERE t.newest <= ? ORDER BY "+
				"n.create_time, n.id", append(args, most), scanShown)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			out[row.alertID] = append(out[row.alertID], row.AlertDelivery)
		}
	}
	return out, nil
}

// DeliveriesOf implements repository.AlertDeliveries.
func (r *Deliveries) DeliveriesOf(ctx context.Context, alertID string, most int) ([]repository.AlertDelivery, error) {
	if !sqlvalue.IsASCIIID(alertID) {
		return nil, nil
	}
	found, err := sqldb.Collect(ctx, r.s.Pool, "delivery.of",
		"SELECT a.alert_id, "+shownColumns+", a.listed FROM scheduler_notification_alert a JOIN scheduler_notification n ON "+
			"n.id = a.notification_id LEFT JOIN scheduler_alert_delivery d ON d.notification_id = n.id "+
			"LEFT JOIN scheduler_alert_setting s ON s.id = n.channel_id WHERE a.alert_id = ? ORDER BY n.create_time DESC, "+
			"n.id DESC, d.attempt DESC LIMIT ?", []any{alertID, most}, scanShown)
	if err != nil {
		return nil, err
	}
	out := make([]repository.AlertDelivery, len(found))
	for i, row := range found {
		out[len(found)-1-i] = row.AlertDelivery
	}
	return out, nil
}

// ActionsOfAlerts implements repository.AlertDeliveries.
func (r *Deliveries) ActionsOfAlerts(ctx context.Context, alertIDs []string) (map[string][]alert.Action, error) {
	out := map[string][]alert.Action{}
	found, err := sqldb.CollectIn(ctx, r.s.Pool, "alert-action.of-alerts", "SELECT "+actionColumns+
		" FROM scheduler_alert_action WHERE {in} ORDER BY alert_id, position", "alert_id", sqlvalue.OnlyASCIIIDs(alertIDs),
		scanAction)
	for _, a := range found {
		out[a.AlertID] = append(out[a.AlertID], a)
	}
	return out, err
}
