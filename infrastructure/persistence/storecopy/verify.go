package storecopy

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
)

// tableSum is the number of rows, and a sum over their hashes that does not
// depend on their order, because the stores need not agree on it.
type tableSum struct {
	rows int64
	sum  [4]uint64
}

// verify reads a table on both sides and compares.
func (t *table) verify(ctx context.Context, from, to *sql.DB) error {
	source, err := t.sum(ctx, from)
	if err != nil {
		return fmt.Errorf("check %s in the source: %w", t.name, err)
	}
	target, err := t.sum(ctx, to)
	if err != nil {
		return fmt.Errorf("check %s in the target: %w", t.name, err)
	}
	if source != target {
		return fmt.Errorf("%s differs after the copy: %d rows with the sum %x instead of %d with %x", t.name, target.rows,
			target.sum, source.rows, source.sum)
	}
	return nil
}

func (t *table) sum(ctx context.Context, db *sql.DB) (s tableSum, err error) {
	var buf []byte
	err = t.each(ctx, db, "", func(row []any) error {
		buf = buf[:0]
		for _, v := range row {
			buf = appendValue(buf, v)
		}
		hash := sha256.Sum256(buf)
		for i := range s.sum {
			s.sum[i] += binary.BigEndian.Uint64(hash[8*i:])
		}
		s.rows++
		return nil
	})
	return s, err
}

// appendValue writes a value with its length, so that no two rows read alike.
func appendValue(buf []byte, v any) []byte {
	switch value := v.(type) {
	case string:
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(value))+1)
		return append(buf, value...)
	case []byte:
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(value))+1)
		return append(buf, value...)
	}
	return binary.BigEndian.AppendUint32(buf, 0) // NULL
}
