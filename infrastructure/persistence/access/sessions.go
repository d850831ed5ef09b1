package access

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// SessionsOf implements repository.Sessions. AddSession bounds how many a user has.
func (r *Users) SessionsOf(ctx context.Context, userID string, now time.Time) ([]entity.Session, error) {
	return sqldb.Collect(ctx, r.s.Pool, "session.of-user",
		`SELECT token_hash, user_id, expires_at, create_time FROM scheduler_session
		WHERE user_id = ? AND expires_at > ? ORDER BY create_time DESC, token_hash`,
		[]any{userID, sqlvalue.TimeArg(now)}, func(rows *sql.Rows) (v entity.Session, err error) {
			var expires, created sqlvalue.DBTime
			err = rows.Scan(&v.TokenHash, &v.UserID, &expires, &created)
			v.ExpiresAt, v.CreateTime = expires.Time(), created.Time()
			return v, err
		})
}

// DropSessions implements repository.Sessions.
func (r *Users) DropSessions(ctx context.Context, userID, keep string) (ended int, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "session-drop-others", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "session.drop-others", "DELETE FROM scheduler_session WHERE user_id = ? AND token_hash <> ?",
			userID, keep)
		ended = int(n)
		return err
	})
	return ended, err
}
