package storecopy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// tableSum is the number of rows, and a sum over their hashes that does not
// depend on their order, because the stores need not agree on it.
type tableSum struct {
	rows int64
	sum  [4]uint64
}

func (s *tableSum) add(row []any) {
	var buf []byte
	for _, v := range row {
		buf = appendValue(buf, v)
	}
	hash := sha256.Sum256(buf)
	for i := range s.sum {
		s.sum[i] += binary.BigEndian.Uint64(hash[8*i:])
	}
	s.rows++
}

// text is the sum as it is shown, and written into a backup.
func (s *tableSum) text() string {
	return fmt.Sprintf("%016x%016x%016x%016x", s.sum[0], s.sum[1], s.sum[2], s.sum[3])
}

// verify reads a table that was copied, and compares it with what was read of its source.
func (t *table) verify(ctx context.Context, to reader) error {
	target, err := t.sum(ctx, to)
	if err != nil {
		return fmt.Errorf("check the copy of %s: %w", t.name, err)
	}
	if t.read != target {
		return t.differs(target)
	}
	return nil
}

// compare is verify for a SQLite copy. It returns the sum of the rows as the file holds them, by which it is known
// again.
func (t *table) compare(ctx context.Context, to reader, p *pace) (plain tableSum, err error) {
	var stored tableSum
	size := 0
	row := make([]any, len(t.columns))
	file := t.plain()
	err = file.each(ctx, to, "", func(held []any) (err error) {
		for i, v := range held {
			if row[i], err = t.value(i, v); err != nil {
				return fmt.Errorf("column %s: %w", t.columns[i], err)
			}
		}
		plain.add(held)
		stored.add(row)
		for _, v := range held {
			size += lengthOf(v)
		}
		if stored.rows%copyRows == 0 || size >= copyBytes {
			size = 0
			return p.wait(ctx)
		}
		return nil
	})
	if err == nil && stored != t.read {
		err = t.differs(stored)
	}
	return plain, err
}

// plain is the table as its SQLite file holds it.
func (t *table) plain() *table { return &table{name: t.name, key: t.key, columns: t.columns} }

func (t *table) differs(target tableSum) error {
	return fmt.Errorf("%s differs after the copy: %d rows with the sum %s instead of %d with %s", t.name, target.rows,
		target.text(), t.read.rows, t.read.text())
}

// sound has SQLite check the pages and indexes of a table.
func (t *table) sound(ctx context.Context, db reader) error {
	found, err := sqlvalue.Texts(ctx, db, "PRAGMA integrity_check("+t.name+")")
	if err == nil && (len(found) != 1 || found[0] != "ok") {
		err = fmt.Errorf("SQLite finds %q", found)
	}
	if err != nil {
		return fmt.Errorf("check %s: %w", t.name, err)
	}
	return nil
}

func (t *table) sum(ctx context.Context, db reader) (s tableSum, err error) {
	return s, t.each(ctx, db, "", func(row []any) error {
		s.add(row)
		return ctx.Err()
	})
}

// appendValue writes a value with its length, so that no two rows read alike.
func appendValue(buf []byte, v any) []byte {
	var text string
	switch value := v.(type) {
	case nil:
		return binary.BigEndian.AppendUint32(buf, 0)
	case string:
		text = value
	case []byte:
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(value))+1)
		return append(buf, value...)
	case int64:
		text = strconv.FormatInt(value, 10)
	default:
		text = fmt.Sprint(value)
	}
	buf = binary.BigEndian.AppendUint32(buf, uint32(len(text))+1)
	return append(buf, text...)
}
