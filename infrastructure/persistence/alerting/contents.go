package alerting

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// fromContents are the alerts of a notification.
const fromContents = " FROM scheduler_notification_alert t JOIN scheduler_alert a ON a.id = t.alert_id WHERE " +
	"t.notification_id = ?"

// Contents implements repository.Notifications.
func (r *Notifications) Contents(ctx context.Context, id string, limit int) (alert.Contents, error) {
	sums, err := sqldb.Collect(ctx, r.s.Pool, "notification.told-sum",
		"SELECT COUNT(*), COALESCE(SUM(t.firing), 0), COALESCE(SUM(a.alert_level = ?), 0), "+
			"COALESCE(SUM(a.alert_level = ?), 0)"+fromContents,
		[]any{string(alert.Critical), string(alert.Warning), id}, func(rows *sql.Rows) (told alert.Contents, err error) {
			var critical, warning int
			err = rows.Scan(&told.Total, &told.Firing, &critical, &warning)
			switch {
			case critical > 0:
				told.Level = alert.Critical
			case warning > 0:
				told.Level = alert.Warning
			default:
				told.Level = alert.Info
			}
			return told, err
		})
	if err != nil || len(sums) == 0 || sums[0].Total == 0 {
		return alert.Contents{}, err
	}
	told := sums[0]
	if told.Alerts, err = r.first(ctx, id, limit); err != nil || told.Total <= alert.FewAlerts {
		return told, err
	}
	told.Newest, err = sqldb.Collect(ctx, r.s.Pool, "notification.told-newest",
		"SELECT a.alert_type, a.group_name, a.details"+fromContents+" ORDER BY t.alert_id DESC LIMIT ?",
		[]any{id, alert.MaxCounted}, func(rows *sql.Rows) (c alert.CountedAlert, err error) {
			var details text
			err = rows.Scan(&c.Type, &c.Group, &details)
			var unread []entity.Unread
			known := sqlvalue.ReadJSON[map[string]string]("details", string(details), &unread)
			c.Reason, c.Error = known["reason"], known["message"]
			return c, err
		})
	return told, err
}

// first are the alerts that a message names first. Their order is found by ids alone: a message may be
// about very many.
func (r *Notifications) first(ctx context.Context, id string, limit int) ([]alert.ListedAlert, error) {
	told, err := sqldb.Collect(ctx, r.s.Pool, "notification.told-first",
		"SELECT a.id, t.firing"+fromContents+" ORDER BY CASE a.alert_level WHEN ? THEN 0 WHEN ? THEN 1 ELSE 2 END, "+
			"CASE WHEN a.job_id IS NULL THEN 0 ELSE 1 END, t.alert_id DESC LIMIT ?",
		[]any{id, string(alert.Critical), string(alert.Warning), limit},
		func(rows *sql.Rows) (a alert.NotifiedAlert, err error) { return a, rows.Scan(&a.AlertID, &a.Firing) })
	if err != nil || len(told) == 0 {
		return nil, err
	}
	ids := convert.All(told, func(t alert.NotifiedAlert) string { return t.AlertID })
	in, args := r.s.Dialect.In("id", ids)
	alerts, err := sqldb.Collect(ctx, r.s.Pool, "notification.told-alerts",
		"SELECT "+alertColumns+" FROM scheduler_alert WHERE "+in+" ORDER BY id", args, scanAlert)
	if err != nil {
		return nil, err
	}
	out := make([]alert.ListedAlert, 0, len(alerts))
	for _, t := range told {
		// One that was deleted in between is left out.
		if i, found := slices.BinarySearchFunc(alerts, t.AlertID, func(a *alert.Alert, id string) int {
			return strings.Compare(a.ID, id)
		}); found {
			out = append(out, alert.ListedAlert{Alert: alerts[i], AsFiring: t.Firing})
		}
	}
	return out, nil
}

// UnnamedCritical implements repository.AlertWriter.
func (w *writer) UnnamedCritical(ctx context.Context, id string, limit int) ([]alert.NotifiedAlert, error) {
	return sqldb.Collect(ctx, w.c, "notification.unnamed", "SELECT t.alert_id, t.seq, t.firing"+fromContents+
		" AND t.listed IS NULL AND a.alert_level = ? AND a.job_id IS NULL ORDER BY t.alert_id DESC LIMIT ?",
		[]any{id, string(alert.Critical), limit}, func(rows *sql.Rows) (a alert.NotifiedAlert, err error) {
			return a, rows.Scan(&a.AlertID, &a.Seq, &a.Firing)
		})
}

// listed records which alerts a message that was sent has named.
func (w *writer) listed(ctx context.Context, d alert.Delivery) error {
	if d.Result != alert.ResultSent || len(d.Named) == 0 {
		return nil
	}
	in, args := w.c.Dialect.In("alert_id", sqlvalue.LockOrder(d.Named))
	_, err := w.c.Exec(ctx, "notification.listed",
		"UPDATE scheduler_notification_alert SET listed = 1 WHERE notification_id = ? AND "+in,
		append([]any{d.NotificationID}, args...)...)
	return err
}

// namedBy is how many alerts a message that was sent has named, as a column holds it.
func namedBy(d alert.Delivery) any {
	if d.Result != alert.ResultSent {
		return nil
	}
	return len(d.Named)
}

// namingOf says whether a message named an alert. Of one that a former release sent nothing is known.
func namingOf(listed, named sql.NullInt64) alert.Naming {
	switch {
	case !named.Valid:
		return ""
	case listed.Valid:
		return alert.Named
	}
	return alert.Counted
}
