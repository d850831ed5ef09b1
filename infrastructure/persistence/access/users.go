package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Users keeps users and sessions: repository.Users and repository.Sessions.
type Users struct{ s *sqldb.Core }

// userRow is a row of scheduler_user.
type userRow struct {
	ID   string `gorm:"column:id;primaryKey"`
	Name string
	// NameKey is Name in lower case; NULL where a former release made the user.
	NameKey      *string
	PasswordHash string
	Role         string
	// JobGroups is a JSON object of group and role; NULL is every group.
	JobGroups *string
	Commands  bool
	Secrets   bool
	// MustChangePassword stays as it is where a former release changes the password.
	MustChangePassword bool
	CreateTime         sqlvalue.DBTime
	UpdateTime         sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (userRow) TableName() string { return "scheduler_user" }

func (r userRow) entity() (entity.User, error) {
	u := entity.User{
		ID: r.ID, Name: r.Name, PasswordHash: r.PasswordHash, Role: entity.Role(r.Role),
		MustChangePassword: r.MustChangePassword, CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
	}
	u.Commands, u.Secrets = r.Commands, r.Secrets
	if r.JobGroups == nil {
		return u, nil
	}
	// Groups that cannot be read must not widen what the user sees.
	u.Groups = map[string]entity.Role{}
	if err := json.Unmarshal([]byte(*r.JobGroups), &u.Groups); err != nil {
		return entity.User{}, fmt.Errorf("read the groups of user %s: %w", r.ID, err)
	}
	return u, nil
}

// groupsJSON writes the groups of a user; nil is NULL.
func groupsJSON(groups map[string]entity.Role) (*string, error) {
	if groups == nil {
		return nil, nil
	}
	b, err := json.Marshal(groups)
	text := string(b)
	return &text, err
}

// AddUser implements repository.Users.
func (r *Users) AddUser(ctx context.Context, u entity.User) error {
	groups, err := groupsJSON(u.Groups)
	if err != nil {
		return fmt.Errorf("write the groups of user %s: %w", u.ID, err)
	}
	key := strings.ToLower(u.Name)
	err = r.s.Change(ctx, repository.LaneAPI, "user-add", func(ctx context.Context, c *sqldb.Conn) error {
		// A user made by a former release has no key to collide with.
		alike, err := sqldb.Collect(ctx, c, "user.alike", "SELECT 1 FROM scheduler_user WHERE LOWER(name) = ? LIMIT 1",
			[]any{key}, sqlvalue.ScanInt)
		if err != nil {
			return err
		}
		if len(alike) > 0 {
			return repository.ErrDuplicateID
		}
		return c.GORM(ctx, "user.insert").Create(&userRow{
			ID: u.ID, Name: u.Name, NameKey: &key, PasswordHash: u.PasswordHash, Role: string(u.Role), JobGroups: groups,
			Commands: u.Commands, Secrets: u.Secrets, MustChangePassword: u.MustChangePassword,
			CreateTime: sqlvalue.DBTime(u.CreateTime), UpdateTime: sqlvalue.DBTime(u.UpdateTime),
		}).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) {
		return apperror.Conflict("name_taken", "a user with the name %q exists; small and capital letters count as the same",
			u.Name)
	}
	return err
}

// UserByName implements repository.Users. Names are compared byte for byte.
func (r *Users) UserByName(ctx context.Context, name string) (entity.User, error) {
	u, err := r.one(ctx, "user.by-name", "name = ?", name)
	if err == nil && u.Name != name { // MySQL ignores trailing spaces when it compares
		return entity.User{}, apperror.NotFound("user", name)
	}
	return u, err
}

// UserByID implements repository.Users.
func (r *Users) UserByID(ctx context.Context, id string) (entity.User, error) {
	if !sqlvalue.IsASCIIID(id) {
		return entity.User{}, apperror.NotFound("user", id)
	}
	return r.one(ctx, "user.by-id", "id = ?", id)
}

func (r *Users) one(ctx context.Context, statement, where, key string) (entity.User, error) {
	var row userRow
	err := r.s.Pool.GORM(ctx, statement).Where(where, key).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return entity.User{}, apperror.NotFound("user", key)
	}
	if err != nil {
		return entity.User{}, err
	}
	return row.entity()
}

// SetPassword implements repository.Users.
func (r *Users) SetPassword(ctx context.Context, userID string, p repository.NewPassword) error {
	return r.s.Change(ctx, repository.LaneAPI, "user-password", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "user.set-password",
			"UPDATE scheduler_user SET password_hash = ?, must_change_password = ?, update_time = ? WHERE id = ?",
			p.Hash, sqlvalue.Flag(p.MustChange), sqlvalue.TimeArg(p.At), userID)
		if err != nil {
			return err
		}
		if n == 0 {
			return apperror.NotFound("user", userID)
		}
		if _, err = c.Exec(ctx, "session.drop-all", "DELETE FROM scheduler_session WHERE user_id = ?", userID); err != nil {
			return err
		}
		if p.Session != nil {
			if err := insertSession(ctx, c, *p.Session); err != nil {
				return err
			}
		}
		if p.KeepTokens {
			return nil
		}
		_, err = c.Exec(ctx, "token.drop-all", "DELETE FROM scheduler_api_token WHERE user_id = ?", userID)
		return err
	})
}

// CountUsers implements repository.Users.
func (r *Users) CountUsers(ctx context.Context) (int, error) {
	return r.s.Pool.Number(ctx, "user.count", "SELECT COUNT(*) FROM scheduler_user")
}

// sessionRow is a row of scheduler_session.
type sessionRow struct {
	TokenHash  string `gorm:"column:token_hash;primaryKey"`
	UserID     string
	ExpiresAt  sqlvalue.DBTime
	CreateTime sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (sessionRow) TableName() string { return "scheduler_session" }

func insertSession(ctx context.Context, c *sqldb.Conn, v entity.Session) error {
	return c.GORM(ctx, "session.insert").
		Create(&sessionRow{v.TokenHash, v.UserID, sqlvalue.DBTime(v.ExpiresAt), sqlvalue.DBTime(v.CreateTime)}).Error
}

// AddSession implements repository.Sessions.
func (r *Users) AddSession(ctx context.Context, v entity.Session, most int) error {
	return r.s.Change(ctx, repository.LaneAPI, "session-add", func(ctx context.Context, c *sqldb.Conn) error {
		if err := insertSession(ctx, c, v); err != nil {
			return err
		}
		old, err := sqldb.Collect(ctx, c, "session.beyond",
			"SELECT token_hash FROM scheduler_session WHERE user_id = ? ORDER BY create_time DESC, token_hash LIMIT ? OFFSET ?",
			[]any{v.UserID, c.Dialect.MaxRows, most}, sqlvalue.ScanText)
		if err != nil || len(old) == 0 {
			return err
		}
		in, args := c.Dialect.In("token_hash", old)
		_, err = c.Exec(ctx, "session.drop-beyond", "DELETE FROM scheduler_session WHERE "+in, args...)
		return err
	})
}

// SessionByHash implements repository.Sessions.
func (r *Users) SessionByHash(ctx context.Context, hash string, now time.Time) (entity.Session, error) {
	var row sessionRow
	if err := takeValid(ctx, r.s.Pool, "session", hash, now, &row); err != nil {
		return entity.Session{}, err
	}
	return entity.Session{
		TokenHash: row.TokenHash, UserID: row.UserID, ExpiresAt: row.ExpiresAt.Time(),
		CreateTime: row.CreateTime.Time(),
	}, nil
}

// sessionsAtOnce bounds the sessions of one statement.
const sessionsAtOnce = 500

// SessionUsers implements repository.Sessions.
func (r *Users) SessionUsers(ctx context.Context, hashes []string, now time.Time) (map[string]entity.User, error) {
	users := make(map[string]entity.User, len(hashes))
	for part := range slices.Chunk(hashes, sessionsAtOnce) {
		var rows []struct {
			TokenHash string
			User      userRow `gorm:"embedded"`
		}
		in, args := r.s.Dialect.In("s.token_hash", part)
		err := r.s.Pool.GORM(ctx, "session.users").Table("scheduler_session s").Select("s.token_hash, u.*").
			Joins("JOIN scheduler_user u ON u.id = s.user_id").
			Where(in+" AND s.expires_at > ?", append(args, sqlvalue.TimeText(now))...).Find(&rows).Error
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if user, err := row.User.entity(); err == nil {
				users[row.TokenHash] = user
			}
		}
	}
	return users, nil
}

// DropSession implements repository.Sessions. An unknown one is no error.
func (r *Users) DropSession(ctx context.Context, hash string) error {
	return r.s.Change(ctx, repository.LaneAPI, "session-drop", func(ctx context.Context, c *sqldb.Conn) error {
		_, err := c.Exec(ctx, "session.drop", "DELETE FROM scheduler_session WHERE token_hash = ?", hash)
		return err
	})
}
