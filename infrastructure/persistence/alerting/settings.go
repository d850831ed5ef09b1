package alerting

import (
	"context"
	"database/sql"
	"errors"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Settings keeps what people define for alerting: repository.AlertSettings.
type Settings struct{ s *sqldb.Core }

const (
	settingColumns = "id, kind, name, group_name, enabled, document, key_id, sealed, version, create_time, update_time"
	settingWidth   = 11
)

func settingArgs(args []any, s alert.Setting) []any {
	return append(args, s.ID, string(s.Kind), s.Name, s.Group, sqlvalue.Flag(s.Enabled), s.Document, s.KeyID, s.Sealed,
		s.Version, sqlvalue.TimeArg(s.CreateTime), sqlvalue.TimeArg(s.UpdateTime))
}

func scanSetting(rows *sql.Rows) (s alert.Setting, err error) {
	var created, updated sqlvalue.DBTime
	err = rows.Scan(&s.ID, &s.Kind, &s.Name, &s.Group, &s.Enabled, &s.Document, &s.KeyID, &s.Sealed, &s.Version,
		&created, &updated)
	s.CreateTime, s.UpdateTime = created.Time(), updated.Time()
	if len(s.Sealed) == 0 {
		s.Sealed = nil
	}
	return s, err
}

// AddAlertSetting implements repository.AlertSettings.
func (r *Settings) AddAlertSetting(ctx context.Context, s alert.Setting) error {
	err := r.s.Change(ctx, repository.LaneAPI, "alert-setting-add", func(ctx context.Context, c *sqldb.Conn) error {
		return bulk.Insert(ctx, c, "alert-setting.insert", "scheduler_alert_setting ("+settingColumns+")", settingWidth, "",
			[]alert.Setting{s}, settingArgs)
	})
	return taken(err, s)
}

func taken(err error, s alert.Setting) error {
	if errors.Is(err, repository.ErrDuplicateID) {
		return apperror.Conflict("name_taken", "the name %q is taken; choose another one", s.Name)
	}
	return err
}

// AddMissingAlertSettings implements repository.AlertSettings.
func (r *Settings) AddMissingAlertSettings(ctx context.Context, settings []alert.Setting) error {
	return r.s.Change(ctx, repository.LaneAPI, "alert-setting-add", func(ctx context.Context, c *sqldb.Conn) error {
		return bulk.Insert(ctx, c, "alert-setting.insert", "scheduler_alert_setting ("+settingColumns+")", settingWidth,
			c.Dialect.OnDuplicateKeep("id"), settings, settingArgs)
	})
}

// ReplaceAlertSetting implements repository.AlertSettings.
func (r *Settings) ReplaceAlertSetting(ctx context.Context, s alert.Setting) error {
	set, args := "", []any{s.Name, s.Group, sqlvalue.Flag(s.Enabled), s.Document}
	if len(s.Sealed) > 0 {
		set, args = ", key_id = ?, sealed = ?", append(args, s.KeyID, s.Sealed)
	}
	args = append(args, s.Version, sqlvalue.TimeArg(s.UpdateTime), s.ID, string(s.Kind), s.Version-1)
	err := r.s.Change(ctx, repository.LaneAPI, "alert-setting-replace", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "alert-setting.replace",
			"UPDATE scheduler_alert_setting SET name = ?, group_name = ?, enabled = ?, document = ?"+set+
				", version = ?, update_time = ? WHERE id = ? AND kind = ? AND version = ?", args...)
		if err != nil || n == 1 {
			return err
		}
		return settingAt(ctx, c, s.Kind, s.ID, s.Version-1)
	})
	return taken(err, s)
}

// ResealAlertSetting implements repository.AlertSettings.
func (r *Settings) ResealAlertSetting(ctx context.Context, s alert.Setting, former string) (ok bool, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "alert-setting-reseal", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "alert-setting.reseal",
			"UPDATE scheduler_alert_setting SET key_id = ?, sealed = ? WHERE id = ? AND kind = ? AND version = ? AND key_id = ?",
			s.KeyID, s.Sealed, s.ID, string(s.Kind), s.Version, former)
		ok = n == 1
		return err
	})
	return ok, err
}

// settingAt says why a setting is not at a version.
func settingAt(ctx context.Context, c *sqldb.Conn, kind alert.Kind, id string, version int) error {
	now, err := sqldb.One(ctx, c, "alert-setting.version",
		"SELECT version FROM scheduler_alert_setting WHERE id = ? AND kind = ?", []any{id, string(kind)}, sqlvalue.ScanInt,
		apperror.NotFound(kind.Noun(), id))
	if err != nil {
		return err
	}
	return apperror.Conflict("stale_version", "the %s is at version %d, not %d: read it again and repeat the edit",
		kind.Noun(), now, version)
}

// DropAlertSetting implements repository.AlertSettings.
func (r *Settings) DropAlertSetting(ctx context.Context, kind alert.Kind, id string, version int) error {
	if !sqlvalue.IsASCIIID(id) {
		return apperror.NotFound(kind.Noun(), id)
	}
	return r.s.Change(ctx, repository.LaneAPI, "alert-setting-drop", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "alert-setting.drop",
			"DELETE FROM scheduler_alert_setting WHERE id = ? AND kind = ? AND version = ?", id, string(kind), version)
		if err != nil || n == 1 {
			return err
		}
		return settingAt(ctx, c, kind, id, version)
	})
}

// AlertSetting implements repository.AlertSettings.
func (r *Settings) AlertSetting(ctx context.Context, kind alert.Kind, id string) (s alert.Setting, err error) {
	if !sqlvalue.IsASCIIID(id) {
		return s, apperror.NotFound(kind.Noun(), id)
	}
	return sqldb.One(ctx, r.s.Pool, "alert-setting.get",
		"SELECT "+settingColumns+" FROM scheduler_alert_setting WHERE id = ? AND kind = ?", []any{id, string(kind)},
		scanSetting, apperror.NotFound(kind.Noun(), id))
}

// ListAlertSettings implements repository.AlertSettings.
func (r *Settings) ListAlertSettings(ctx context.Context, kind alert.Kind, groups []string,
	p repository.Page,
) ([]alert.Setting, string, error) {
	after, err := listing.ReadNameCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	conditions := []listing.Condition{
		listing.Equals("kind", string(kind)), {Text: "name > ?", Args: []any{after}},
	}
	if groups != nil {
		in, args := r.s.Dialect.InAny("group_name", groups)
		conditions = append(conditions, listing.Condition{Text: "(group_name = '' OR " + in + ")", Args: args})
	}
	where, args := listing.JoinConditions(conditions...)
	limit := listing.PageSize(p.Limit)
	found, err := sqldb.Collect(ctx, r.s.Pool, "alert-setting.list",
		"SELECT "+settingColumns+" FROM scheduler_alert_setting"+where+" ORDER BY name LIMIT ?", append(args, limit+1),
		scanSetting)
	if err != nil {
		return nil, "", err
	}
	page, next := listing.CutPage(found, limit, func(s alert.Setting) string { return s.Name })
	return page, next, nil
}

// AlertSettings implements repository.AlertSettings.
func (r *Settings) AlertSettings(ctx context.Context, kinds []alert.Kind, limit int) ([]alert.Setting, error) {
	names := convert.All(kinds, func(kind alert.Kind) string { return string(kind) })
	in, args := r.s.Dialect.InAny("kind", names)
	return sqldb.Collect(ctx, r.s.Pool, "alert-setting.all",
		"SELECT "+settingColumns+" FROM scheduler_alert_setting WHERE "+in+" ORDER BY kind, name LIMIT ?",
		append(args, limit), scanSetting)
}

// CountAlertSettings implements repository.AlertSettings.
func (r *Settings) CountAlertSettings(ctx context.Context, kind alert.Kind) (int, error) {
	return r.s.Pool.Number(ctx, "alert-setting.count",
		"SELECT COUNT(*) FROM scheduler_alert_setting WHERE kind = ?", string(kind))
}
