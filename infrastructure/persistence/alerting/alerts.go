package alerting

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/alerting/policy"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Alerts reads alerts: repository.Alerts.
type Alerts struct{ s *sqldb.Core }

// Alert implements repository.Alerts.
func (r *Alerts) Alert(ctx context.Context, id string) (*alert.Alert, error) {
	if !sqlvalue.IsASCIIID(id) {
		return nil, apperror.NotFound("alert", id)
	}
	return sqldb.One(ctx, r.s.Pool, "alert.get", "SELECT "+alertColumns+" FROM scheduler_alert WHERE id = ?",
		[]any{id}, scanAlert, apperror.NotFound("alert", id))
}

// HeldAlerts implements repository.Alerts. open_key is the fingerprint of who holds it.
func (r *Alerts) HeldAlerts(ctx context.Context, after string, limit int) ([]*alert.Alert, error) {
	return sqldb.Collect(ctx, r.s.Pool, "alert.held",
		"SELECT "+alertColumns+" FROM scheduler_alert WHERE open_key > ? ORDER BY open_key LIMIT ?", []any{after, limit},
		scanAlert)
}

// HeldLevels implements repository.Alerts.
func (r *Alerts) HeldLevels(ctx context.Context, after string, limit int) ([]*alert.Alert, error) {
	var types []string
	for _, t := range alert.RuleTypes() {
		if t.IsLevel() {
			types = append(types, string(t))
		}
	}
	in, args := r.s.Dialect.In("alert_type", types)
	return sqldb.Collect(ctx, r.s.Pool, "alert.held-levels",
		"SELECT "+alertColumns+" FROM scheduler_alert WHERE open_key > ? AND "+in+" ORDER BY open_key LIMIT ?",
		append(append([]any{after}, args...), limit), scanAlert)
}

// AlertCount says how many open alerts have a level and a status.
type AlertCount struct {
	Level  alert.Level
	Status alert.Status
	Alerts int
}

// CountAlerts counts the open alerts by level and status, of at most limit that hold their fingerprints.
func (r *Alerts) CountAlerts(ctx context.Context, limit int) ([]AlertCount, error) {
	return sqldb.Collect(ctx, r.s.Pool, "alert.count",
		"SELECT alert_level, status, COUNT(*) FROM (SELECT alert_level, status FROM scheduler_alert WHERE open_key > '' "+
			"ORDER BY open_key LIMIT ?) w WHERE status <> ? GROUP BY alert_level, status", []any{limit, string(alert.Resolved)},
		func(rows *sql.Rows) (c AlertCount, err error) {
			err = rows.Scan(&c.Level, &c.Status, &c.Alerts)
			return c, err
		})
}

// NotifyDue implements repository.Alerts.
func (r *Alerts) NotifyDue(ctx context.Context, now time.Time, limit int) ([]*alert.Alert, error) {
	return sqldb.Collect(ctx, r.s.Pool, "alert.notify-due",
		"SELECT "+alertColumns+" FROM scheduler_alert WHERE notify_due <= ? ORDER BY notify_due, id LIMIT ?",
		[]any{sqlvalue.TimeArg(now), limit}, scanAlert)
}

// PlanAgain implements repository.Alerts.
func (r *Alerts) PlanAgain(ctx context.Context, ids []string, now time.Time) error {
	return r.s.Change(ctx, repository.LaneAPI, "alert-plan-again", func(ctx context.Context, c *sqldb.Conn) error {
		in, args := c.Dialect.InAny("id", sqlvalue.LockOrder(ids))
		_, err := c.Exec(ctx, "alert.plan-again", "UPDATE scheduler_alert SET notify_due = ? WHERE "+in+" AND status = ? AND "+
			"(notify_due IS NULL OR notify_due > ?)",
			append(append([]any{sqlvalue.TimeArg(now)}, args...), string(alert.Firing), sqlvalue.TimeArg(now))...)
		return err
	})
}

// AlertsBetween implements repository.Alerts.
func (r *Alerts) AlertsBetween(ctx context.Context, from, to time.Time) ([]alert.AlertCount, error) {
	return sqldb.Collect(ctx, r.s.Pool, "alert.count",
		"SELECT alert_type, alert_level, COUNT(*) FROM scheduler_alert WHERE id >= ? AND id < ? GROUP BY 1, 2 ORDER BY 3 "+
			"DESC, 1, 2",
		[]any{identity.FloorID(from), identity.FloorID(to)}, func(rows *sql.Rows) (c alert.AlertCount, err error) {
			return c, rows.Scan(&c.Type, &c.Level, &c.Count)
		})
}

// PurgeAlerts implements repository.Alerts.
func (r *Alerts) PurgeAlerts(ctx context.Context, before time.Time, limit int) (p repository.Purged, err error) {
	err = r.s.Change(ctx, repository.LaneRetention, "alert-purge", func(ctx context.Context, c *sqldb.Conn) error {
		p = repository.Purged{}
		ids, err := sqldb.Collect(ctx, c, "alert.old",
			"SELECT id FROM scheduler_alert WHERE id < ? AND status = ? AND open_key IS NULL AND end_time < ? "+
				"ORDER BY id LIMIT ?",
			[]any{identity.FloorID(before), string(alert.Resolved), sqlvalue.TimeArg(before), limit}, sqlvalue.ScanText)
		if err != nil || len(ids) == 0 {
			return err
		}
		for part := range slices.Chunk(ids, c.Dialect.MaxRows) {
			if err := purge(ctx, c, part); err != nil {
				return err
			}
		}
		p = repository.Purged{Deleted: len(ids), More: len(ids) == limit}
		return nil
	})
	return p, err
}

// purge deletes alerts with the notifications that tell of nothing else.
func purge(ctx context.Context, c *sqldb.Conn, alerts []string) error {
	in, args := c.Dialect.In("alert_id", alerts)
	told, err := sqldb.Collect(ctx, c, "notification.of-old",
		"SELECT DISTINCT notification_id FROM scheduler_notification_alert WHERE "+in+" ORDER BY notification_id", args,
		sqlvalue.ScanText)
	if err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "notification.purge-alerts", "DELETE FROM scheduler_notification_alert WHERE "+in,
		args...); err != nil {
		return err
	}
	for part := range slices.Chunk(told, c.Dialect.MaxRows) {
		in, args := c.Dialect.In("notification_id", part)
		kept, err := sqldb.Collect(ctx, c, "notification.kept",
			"SELECT DISTINCT notification_id FROM scheduler_notification_alert WHERE "+in, args, sqlvalue.ScanText)
		if err != nil {
			return err
		}
		keep := make(map[string]bool, len(kept))
		for _, id := range kept {
			keep[id] = true
		}
		for _, id := range part {
			if keep[id] {
				continue
			}
			if err := purgeNotification(ctx, c, id); err != nil {
				return err
			}
		}
	}
	in, args = c.Dialect.In("alert_id", alerts)
	if _, err := c.Exec(ctx, "alert-action.purge", "DELETE FROM scheduler_alert_action WHERE "+in, args...); err != nil {
		return err
	}
	in, args = c.Dialect.In("id", alerts)
	_, err = c.Exec(ctx, "alert.purge", "DELETE FROM scheduler_alert WHERE "+in, args...)
	return err
}

// purgeNotification deletes a notification with its deliveries.
func purgeNotification(ctx context.Context, c *sqldb.Conn, id string) error {
	if _, err := c.Exec(ctx, "delivery.purge", "DELETE FROM scheduler_alert_delivery WHERE notification_id = ?",
		id); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "notification.purge", "DELETE FROM scheduler_notification WHERE id = ?", id)
	return err
}

// PurgeReports implements repository.Alerts.
func (r *Alerts) PurgeReports(ctx context.Context, before time.Time, limit int) (p repository.Purged, err error) {
	err = r.s.Change(ctx, repository.LaneRetention, "report-purge", func(ctx context.Context, c *sqldb.Conn) error {
		p = repository.Purged{}
		ids, err := sqldb.Collect(ctx, c, "notification.old-reports",
			"SELECT id FROM scheduler_notification WHERE group_key = ? AND state <> ? AND create_time < ? ORDER BY id LIMIT ?",
			[]any{policy.ReportKey(), string(alert.NotificationOpen), sqlvalue.TimeArg(before), limit}, sqlvalue.ScanText)
		for _, id := range ids {
			if err := purgeNotification(ctx, c, id); err != nil {
				return err
			}
		}
		p = repository.Purged{Deleted: len(ids), More: len(ids) == limit}
		return err
	})
	return p, err
}
