package access

import (
	"context"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/alert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// ListUsers implements repository.UserAdmin.
func (r *Users) ListUsers(ctx context.Context, p repository.Page) ([]entity.User, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	var rows []userRow
	if err := r.s.Pool.GORM(ctx, "user.list").Where("id > ?", after).Order("id").Limit(limit + 1).Find(&rows).
		Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(r userRow) string { return r.ID })
	users := make([]entity.User, len(rows))
	for i, row := range rows {
		if users[i], err = row.entity(); err != nil {
			return nil, "", err
		}
	}
	return users, next, nil
}

// SetRole implements repository.UserAdmin.
func (r *Users) SetRole(ctx context.Context, userID string, role entity.Role, rights entity.Rights,
	at time.Time,
) error {
	groups, err := groupsJSON(rights.Groups)
	if err != nil {
		return fmt.Errorf("write the groups of user %s: %w", userID, err)
	}
	return r.s.Change(ctx, repository.LaneAPI, "user-role", func(ctx context.Context, c *sqldb.Conn) error {
		if err := ensureNotLastAdmin(ctx, c, userID, role); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, "user.set-role",
			"UPDATE scheduler_user SET role = ?, job_groups = ?, commands = ?, secrets = ?, update_time = ? WHERE id = ?",
			string(role), groups, sqlvalue.Flag(rights.Commands), sqlvalue.Flag(rights.Secrets), sqlvalue.TimeArg(at),
			userID); err != nil {
			return err
		}
		_, err := c.Exec(ctx, "session.drop-all", "DELETE FROM scheduler_session WHERE user_id = ?", userID)
		return err
	})
}

// DropUser implements repository.UserAdmin.
func (r *Users) DropUser(ctx context.Context, id string) error {
	return r.s.Change(ctx, repository.LaneAPI, "user-drop", func(ctx context.Context, c *sqldb.Conn) error {
		if err := ensureNotLastAdmin(ctx, c, id, entity.RoleDisabled); err != nil {
			return err
		}
		for _, d := range [...]struct{ name, query, arg string }{
			{"session.drop-all", "DELETE FROM scheduler_session WHERE user_id = ?", id},
			{"token.drop-all", "DELETE FROM scheduler_api_token WHERE user_id = ?", id},
			// Nobody who is gone gets mail. A quote within a text of a document is escaped.
			{"contact.drop-of-user", "DELETE FROM scheduler_alert_setting WHERE kind = '" + string(alert.KindContact) +
				"' AND INSTR(document, ?) > 0", `"userId":"` + id + `"`},
			{"user.drop", "DELETE FROM scheduler_user WHERE id = ?", id},
		} {
			if _, err := c.Exec(ctx, d.name, d.query, d.arg); err != nil {
				return err
			}
		}
		return nil
	})
}

// ensureNotLastAdmin locks the admins, so that two who are made less at once do
// not both find the other, and refuses to leave none. It also finds whether
// there is such a user.
func ensureNotLastAdmin(ctx context.Context, c *sqldb.Conn, userID string, next entity.Role) error {
	if !sqlvalue.IsASCIIID(userID) {
		return apperror.NotFound("user", userID)
	}
	admins, err := sqldb.Collect(ctx, c, "user.lock-admins",
		"SELECT id FROM scheduler_user WHERE role = 'admin' ORDER BY id"+c.Dialect.ForUpdate, nil, sqlvalue.ScanText)
	if err != nil {
		return err
	}
	found, err := sqldb.Collect(ctx, c, "user.exists", "SELECT id FROM scheduler_user WHERE id = ?", []any{userID},
		sqlvalue.ScanText)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return apperror.NotFound("user", userID)
	case next != entity.RoleAdmin && len(admins) == 1 && admins[0] == userID:
		return apperror.Conflict("last_admin", "this is the last admin: make another user admin first")
	}
	return nil
}
