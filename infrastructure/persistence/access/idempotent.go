package access

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// IdempotentCalls keeps answers by key: repository.IdempotentCalls.
type IdempotentCalls struct{ s *sqldb.Core }

// errCallGone: the call that was in the way was abandoned before it was read.
var errCallGone = errors.New("the other call is gone")

// beginTries bounds the repetitions after errCallGone.
const beginTries = 5

// Begin implements repository.IdempotentCalls. Of two at once, the primary key
// lets one through.
func (r *IdempotentCalls) Begin(ctx context.Context, c entity.IdempotentCall,
	ttl time.Duration,
) (existing entity.IdempotentCall, ok bool, err error) {
	for range beginTries {
		existing, ok, err = r.begin(ctx, c, ttl)
		if !errors.Is(err, errCallGone) {
			return existing, ok, err
		}
	}
	return existing, false, apperror.Conflict("in_progress", "calls with this Idempotency-Key come and go; try again")
}

func (r *IdempotentCalls) begin(ctx context.Context, c entity.IdempotentCall,
	ttl time.Duration,
) (entity.IdempotentCall, bool, error) {
	err := r.s.Change(ctx, repository.LaneAPI, "idempotency-begin", func(ctx context.Context, tx *sqldb.Conn) error {
		_, err := tx.Exec(ctx, "idempotency.expire",
			"DELETE FROM scheduler_idempotency_key WHERE scope = ? AND idem_key = ? AND create_time < ?",
			c.Scope, c.Key, sqlvalue.TimeText(c.CreateTime.Add(-ttl)))
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "idempotency.begin",
			"INSERT INTO scheduler_idempotency_key (scope, idem_key, body_hash, status, body, create_time) VALUES (?, ?, ?, "+
				"0, NULL, ?)",
			c.Scope, c.Key, c.BodyHash, sqlvalue.TimeText(c.CreateTime))
		return err
	})
	if err == nil {
		return entity.IdempotentCall{}, true, nil
	}
	if !errors.Is(err, repository.ErrDuplicateID) {
		return entity.IdempotentCall{}, false, err
	}
	found, err := sqldb.One(ctx, r.s.Pool, "idempotency.get",
		"SELECT scope, idem_key, body_hash, status, COALESCE(body, ''), create_time FROM scheduler_idempotency_key WHERE "+
			"scope = ? AND idem_key = ?",
		[]any{c.Scope, c.Key}, func(rows *sql.Rows) (v entity.IdempotentCall, err error) {
			var created sqlvalue.DBTime
			err = rows.Scan(&v.Scope, &v.Key, &v.BodyHash, &v.Status, &v.Body, &created)
			v.CreateTime = created.Time()
			return v, err
		}, errCallGone)
	return found, false, err
}

// Complete implements repository.IdempotentCalls.
func (r *IdempotentCalls) Complete(ctx context.Context, c entity.IdempotentCall) error {
	return r.s.Change(ctx, repository.LaneAPI, "idempotency-complete", func(ctx context.Context, tx *sqldb.Conn) error {
		_, err := tx.Exec(ctx, "idempotency.complete",
			"UPDATE scheduler_idempotency_key SET status = ?, body = ? WHERE scope = ? AND idem_key = ? AND create_time = ?",
			c.Status, c.Body, c.Scope, c.Key, sqlvalue.TimeText(c.CreateTime))
		return err
	})
}

// Abandon implements repository.IdempotentCalls. Only a call in progress is
// forgotten; a kept answer stays.
func (r *IdempotentCalls) Abandon(ctx context.Context, c entity.IdempotentCall) error {
	return r.s.Change(ctx, repository.LaneAPI, "idempotency-abandon", func(ctx context.Context, tx *sqldb.Conn) error {
		_, err := tx.Exec(ctx, "idempotency.abandon",
			"DELETE FROM scheduler_idempotency_key WHERE scope = ? AND idem_key = ? AND status = 0 AND create_time = ?",
			c.Scope, c.Key, sqlvalue.TimeText(c.CreateTime))
		return err
	})
}
