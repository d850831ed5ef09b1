package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Outbox is what the relay reads: repository.Outbox.
type Outbox struct{ s *sqldb.Core }

// NewOutbox gives the repository over the connections of s.
func NewOutbox(s *sqldb.Core) *Outbox { return &Outbox{s} }

// PendingEvents implements repository.Outbox.
func (o *Outbox) PendingEvents(ctx context.Context, limit int) ([]entity.Event, error) {
	return sqldb.Collect(ctx, o.s.Pool, "outbox.pending",
		"SELECT event_id, topic, event_key, event_type, payload, create_time FROM scheduler_outbox ORDER BY id LIMIT ?",
		[]any{limit}, func(rows *sql.Rows) (e entity.Event, err error) {
			var created sqlvalue.DBTime
			err = rows.Scan(&e.ID, &e.Topic, &e.Key, &e.Type, &e.Payload, &created)
			e.CreateTime = created.Time()
			return e, err
		})
}

// DropEvents implements repository.Outbox. It deletes by primary key, in
// order, so that it meets no inserter's locks on the way.
func (o *Outbox) DropEvents(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return o.s.Change(ctx, repository.LaneComplete, "outbox-drop", func(ctx context.Context, c *sqldb.Conn) error {
		for part := range slices.Chunk(ids, c.Dialect.MaxRows) {
			in, args := c.Dialect.In("event_id", part)
			keys, err := sqldb.Collect(ctx, c, "outbox.find", "SELECT id FROM scheduler_outbox WHERE "+in, args,
				sqlvalue.ScanInt)
			if err != nil {
				return err
			}
			slices.Sort(keys)
			if err := deleteByNumber(ctx, c, "outbox.drop", "scheduler_outbox", keys); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteByNumber deletes rows by their numeric id.
func deleteByNumber(ctx context.Context, c *sqldb.Conn, name, table string, keys []int64) error {
	if len(keys) == 0 {
		return nil
	}
	args := make([]any, len(keys))
	for i, k := range keys {
		args[i] = k
	}
	if _, err := c.Exec(ctx, name, fmt.Sprintf("DELETE FROM %s WHERE id IN (%s)", table, dialect.Marks(len(keys))),
		args...); err != nil {
		return err
	}
	return nil
}
