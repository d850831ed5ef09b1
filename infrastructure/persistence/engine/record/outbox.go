package record

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Outbox implements repository.Outbox.
type Outbox struct{ s *sqldb.Core }

// NewOutbox gives the repository over the connections of s.
func NewOutbox(s *sqldb.Core) *Outbox { return &Outbox{s} }

// marks are the columns that say who has not read a row: 1, or NULL.
type marks struct{ own, other string }

func marksOf(reader entity.EventReader) (marks, error) {
	switch reader {
	case entity.ReaderRules:
		return marks{own: "for_rules", other: "for_kafka"}, nil
	case entity.ReaderKafka:
		return marks{own: "for_kafka", other: "for_rules"}, nil
	}
	return marks{}, fmt.Errorf("the outbox has no reader %q", reader)
}

// AddEvents implements repository.RecordWriter.
func (w *recordWriter) AddEvents(ctx context.Context, events []entity.Event) error {
	read := make([]entity.Event, 0, len(events))
	for _, e := range events {
		if !e.Readers.Nobody() {
			read = append(read, e)
		}
	}
	w.c.EventsAdded = w.c.EventsAdded || len(read) > 0
	return bulk.Insert(ctx, w.c, "outbox.insert",
		"scheduler_outbox (event_id, topic, event_key, event_type, payload, create_time, for_rules, for_kafka)", 8,
		w.c.Dialect.OnDuplicateKeep("event_id"), read, func(args []any, e entity.Event) []any {
			return append(args, e.ID, e.Topic, e.Key, e.Type, e.Payload, sqlvalue.TimeArg(e.CreateTime),
				sqlvalue.OrNull(sqlvalue.Flag(e.Readers.Rules)), sqlvalue.OrNull(sqlvalue.Flag(e.Readers.Kafka)))
		})
}

// ClearEvents implements repository.RecordWriter.
func (w *recordWriter) ClearEvents(ctx context.Context, reader entity.EventReader, ids []string) error {
	m, err := marksOf(reader)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(ids, w.c.Dialect.MaxRows) {
		in, args := w.c.Dialect.In("event_id", part)
		if _, err := m.clear(ctx, w.c, in, args); err != nil {
			return err
		}
	}
	return nil
}

// TakeEvents implements repository.RecordWriter.
func (w *recordWriter) TakeEvents(ctx context.Context, reader entity.EventReader,
	ids []string,
) (taken []string, err error) {
	m, err := marksOf(reader)
	if err != nil {
		return nil, err
	}
	taken, err = sqldb.CollectIn(ctx, w.c, "outbox.lock", "SELECT event_id FROM scheduler_outbox WHERE {in} AND "+m.own+
		" = 1 ORDER BY id"+w.c.Dialect.ForUpdate, "event_id", ids, sqlvalue.ScanText)
	if err != nil {
		return nil, err
	}
	return taken, w.ClearEvents(ctx, reader, taken)
}

// PendingEvents implements repository.Outbox.
func (o *Outbox) PendingEvents(ctx context.Context, reader entity.EventReader, after int64, limit int,
) ([]entity.Event, error) {
	m, err := marksOf(reader)
	if err != nil {
		return nil, err
	}
	return sqldb.Collect(ctx, o.s.Pool, "outbox.pending",
		"SELECT id, event_id, topic, event_key, event_type, payload, create_time, for_rules, for_kafka "+
			"FROM scheduler_outbox WHERE "+m.own+" = 1 AND id > ? ORDER BY id LIMIT ?",
		[]any{after, limit}, func(rows *sql.Rows) (e entity.Event, err error) {
			var created sqlvalue.DBTime
			var rules, kafka sql.NullInt64
			err = rows.Scan(&e.Seq, &e.ID, &e.Topic, &e.Key, &e.Type, &e.Payload, &created, &rules, &kafka)
			e.CreateTime = created.Time()
			e.Readers = entity.EventReaders{Rules: rules.Int64 == 1, Kafka: kafka.Int64 == 1}
			return e, err
		})
}

// ClearEvents implements repository.Outbox.
func (o *Outbox) ClearEvents(ctx context.Context, reader entity.EventReader, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return o.s.Change(ctx, repository.LaneComplete, "outbox-clear", func(ctx context.Context, c *sqldb.Conn) error {
		return NewWriter(c).ClearEvents(ctx, reader, ids)
	})
}

// CountEvents returns how many events wait for a reader, at most limit.
func (o *Outbox) CountEvents(ctx context.Context, reader entity.EventReader, limit int) (int, error) {
	m, err := marksOf(reader)
	if err != nil {
		return 0, err
	}
	return o.s.Pool.Number(ctx, "outbox.count",
		"SELECT COUNT(*) FROM (SELECT 1 FROM scheduler_outbox WHERE "+m.own+" = 1 LIMIT ?) w", limit)
}

// DropOldest implements repository.Outbox. The least and the greatest number, which the
// index holds, bound the count of the rows: while they are near, nothing is counted.
func (o *Outbox) DropOldest(ctx context.Context, reader entity.EventReader, keep, limit int) (dropped int, err error) {
	m, err := marksOf(reader)
	if err != nil {
		return 0, err
	}
	const from = " FROM scheduler_outbox WHERE "
	span, err := o.s.Pool.Number(ctx, "outbox.span",
		"SELECT COALESCE((SELECT id"+from+m.own+" = 1 ORDER BY id DESC LIMIT 1) - "+
			"(SELECT id"+from+m.own+" = 1 ORDER BY id LIMIT 1) + 1, 0)")
	if err != nil || span <= keep {
		return 0, err
	}
	last, ok, err := sqldb.First(ctx, o.s.Pool, "outbox.excess",
		"SELECT id"+from+m.own+" = 1 ORDER BY id DESC LIMIT 1 OFFSET ?", []any{keep}, sqlvalue.ScanInt)
	if err != nil || !ok {
		return 0, err
	}
	keys, err := sqldb.Collect(ctx, o.s.Pool, "outbox.oldest",
		"SELECT id"+from+m.own+" = 1 AND id <= ? ORDER BY id LIMIT ?", []any{last, limit}, sqlvalue.ScanInt)
	if err != nil {
		return 0, err
	}
	return o.drop(ctx, m, keys)
}

// DropOlder implements repository.Outbox. The order of the numbers is nearly that of time,
// which no index holds: it reads the first one, and the others only where that is too old.
func (o *Outbox) DropOlder(ctx context.Context, reader entity.EventReader, before time.Time, limit int,
) (dropped int, err error) {
	m, err := marksOf(reader)
	if err != nil {
		return 0, err
	}
	var keys []int64
	for _, count := range []int{1, limit} {
		young := false
		_, err := sqldb.Collect(ctx, o.s.Pool, "outbox.aged",
			"SELECT id, create_time FROM scheduler_outbox WHERE "+m.own+" = 1 ORDER BY id LIMIT ?", []any{count},
			func(rows *sql.Rows) (key int64, err error) {
				var created sqlvalue.DBTime
				err = rows.Scan(&key, &created)
				if young = young || !created.Time().Before(before); !young {
					keys = append(keys, key)
				}
				return key, err
			})
		if err != nil || len(keys) == 0 {
			return 0, err
		}
		if count == 1 {
			keys = nil
		}
	}
	return o.drop(ctx, m, keys)
}

// drop clears a reader's mark from rows, and returns from how many.
func (o *Outbox) drop(ctx context.Context, m marks, keys []int64) (dropped int, err error) {
	for part := range slices.Chunk(keys, o.s.Dialect.MaxRows) {
		cleared := 0
		err := o.s.Change(ctx, repository.LaneComplete, "outbox-drop", func(ctx context.Context, c *sqldb.Conn) (err error) {
			cleared, err = m.clear(ctx, c, "id IN ("+dialect.Marks(len(part))+")", arguments(part))
			return err
		})
		if err != nil {
			return dropped, err
		}
		dropped += cleared
	}
	return dropped, nil
}

// clear takes a reader's mark from rows, and deletes those without the other's. It locks
// the rows first: of two readers that end at once, the second sees what the first did.
// It asks by their keys alone, so that no other row is locked, however many wait. It
// returns how many rows had the mark.
func (m marks) clear(ctx context.Context, c *sqldb.Conn, in string, args []any) (cleared int, err error) {
	var read, last []int64
	_, err = sqldb.Collect(ctx, c, "outbox.lock",
		"SELECT id, "+m.own+", "+m.other+" FROM scheduler_outbox WHERE "+in+c.Dialect.ForUpdate, args,
		func(rows *sql.Rows) (key int64, err error) {
			var own, other sql.NullInt64
			switch err = rows.Scan(&key, &own, &other); {
			case other.Valid && own.Valid:
				read = append(read, key)
			case !other.Valid:
				last = append(last, key)
			}
			return key, err
		})
	if err != nil {
		return 0, err
	}
	slices.Sort(read)
	slices.Sort(last)
	for _, change := range []struct {
		name, statement string
		keys            []int64
	}{
		{"outbox.clear", "UPDATE scheduler_outbox SET " + m.own + " = NULL WHERE id IN (%s)", read},
		{"outbox.delete", "DELETE FROM scheduler_outbox WHERE id IN (%s)", last},
	} {
		if len(change.keys) == 0 {
			continue
		}
		statement := fmt.Sprintf(change.statement, dialect.Marks(len(change.keys)))
		if _, err := c.Exec(ctx, change.name, statement, arguments(change.keys)...); err != nil {
			return 0, err
		}
	}
	return len(read) + len(last), nil
}

func arguments(keys []int64) []any {
	return convert.All(keys, func(k int64) any { return k })
}
