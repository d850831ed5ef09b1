package registry

import (
	"context"
	"database/sql"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// stateID is the id of the only row.
const stateID = 1

// StoreStates is repository.StoreStates. Safe for concurrent use.
type StoreStates struct{ s *sqldb.Core }

// NewStoreStates gives the repository over the connections of s.
func NewStoreStates(s *sqldb.Core) *StoreStates { return &StoreStates{s: s} }

// StoreState implements repository.StoreStates.
func (r *StoreStates) StoreState(ctx context.Context) (entity.StoreState, error) {
	v, ok, err := sqldb.First(ctx, r.s.Pool, "store.state",
		"SELECT mode, reason, changed_by, since, mark FROM scheduler_store_state WHERE id = ?", []any{stateID},
		func(rows *sql.Rows) (v entity.StoreState, err error) {
			var since, mark sqlvalue.DBTime
			err = rows.Scan(&v.Mode, &v.Reason, &v.By, &since, &mark)
			v.Since, v.Mark = since.Time(), mark.Time()
			return v, err
		})
	if !ok {
		v.Mode = entity.StoreActive
	}
	return v, err
}

// SetStoreMode implements repository.StoreStates. The demand on programs stays raised when the standby ends: the next
// standby may come at any time.
func (r *StoreStates) SetStoreMode(ctx context.Context, v entity.StoreState) error {
	if err := checkState(v); err != nil {
		return err
	}
	return r.s.Change(ctx, repository.LaneAPI, "store-mode", func(ctx context.Context, c *sqldb.Conn) error {
		if v.Mode == entity.StoreStandby {
			if err := demand(ctx, c); err != nil {
				return err
			}
		}
		if err := addState(ctx, c); err != nil {
			return err
		}
		now, at := c.Now()
		_, err := c.Exec(ctx, "store.mode",
			"UPDATE scheduler_store_state SET mode = ?, reason = ?, changed_by = ?, since = "+now+" WHERE id = ?",
			append(append([]any{string(v.Mode), v.Reason, v.By}, at...), stateID)...)
		if err != nil || v.Mode != entity.StoreActive {
			return err
		}
		return forgetAddresses(ctx, c)
	})
}

// silentFor is the silence after which an activated store's nodes no longer ask a node.
const silentFor = time.Minute

// forgetAddresses takes the address away from nodes that do not beat: they are nodes of the
// original, perhaps, of which this store is a copy that is to work by itself. A node that
// starts here writes its address anew.
func forgetAddresses(ctx context.Context, c *sqldb.Conn) error {
	now, err := c.StoreTime(ctx)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "node.forget-addresses",
		"UPDATE scheduler_node_registry SET node_port = 0 WHERE last_heartbeat < ?", sqlvalue.TimeArg(now.Add(-silentFor)))
	return err
}

// demand makes the schema refuse programs that do not know standby.
func demand(ctx context.Context, c *sqldb.Conn) error {
	_, err := c.DemandSchema(ctx, entity.StandbySchema)
	return err
}

// addState makes the row, active, where there is none.
func addState(ctx context.Context, c *sqldb.Conn) error {
	_, err := c.Exec(ctx, "store.state.add",
		"INSERT INTO scheduler_store_state (id, mode) VALUES (?, ?)"+c.Dialect.OnDuplicateKeep("id"),
		stateID, string(entity.StoreActive))
	return err
}

func checkState(v entity.StoreState) error {
	var fields []apperror.Field
	if v.Mode != entity.StoreActive && v.Mode != entity.StoreStandby {
		fields = append(fields, apperror.Field{
			Field: "mode", Code: "invalid",
			Message: fmt.Sprintf("must be %s or %s", entity.StoreActive, entity.StoreStandby),
		})
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"reason", v.Reason, entity.MaxStoreReason}, {"by", v.By, entity.MaxStoreBy}} {
		if utf8.RuneCountInString(text.value) > text.most || !utf8.ValidString(text.value) {
			fields = append(fields, apperror.Field{
				Field: text.field, Code: "too_long", Message: fmt.Sprintf("must be UTF-8 of at most %d characters", text.most),
			})
		}
	}
	return apperror.Invalid(fields)
}

// MoveStoreMark implements repository.StoreStates.
func (r *StoreStates) MoveStoreMark(ctx context.Context, from, to time.Time) (ok bool, err error) {
	const set = "UPDATE scheduler_store_state SET mark = ? WHERE id = ? AND mark "
	found := int64(0)
	if !from.IsZero() {
		found, err = r.s.ExecAtOnce(ctx, repository.LaneAPI, "store.mark", set+"= ?", sqlvalue.TimeArg(to), stateID,
			sqlvalue.TimeArg(from))
		return found == 1 && err == nil, err
	}
	err = r.s.Change(ctx, repository.LaneAPI, "store-mark", func(ctx context.Context, c *sqldb.Conn) (err error) {
		if err = addState(ctx, c); err == nil {
			found, err = c.Exec(ctx, "store.mark", set+"IS NULL", sqlvalue.TimeArg(to), stateID)
		}
		return err
	})
	return found == 1 && err == nil, err
}
