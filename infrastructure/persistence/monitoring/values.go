package monitoring

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// millis is a moment as it is stored; 0 is none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// idSize is the length of a stored id.
const idSize = len(repository.BinaryID{})

// idScanner reads an id of 16 bytes.
type idScanner struct{ to *repository.BinaryID }

func scanID(to *repository.BinaryID) idScanner { return idScanner{to} }

// Scan implements sql.Scanner.
func (s idScanner) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != idSize {
		return fmt.Errorf("an id is a %T of %d bytes, not 16 bytes", src, len(b))
	}
	copy(s.to[:], b)
	return nil
}

func bytesOfID(id repository.BinaryID) []byte { return id[:] }

// joined writes ids one behind the other.
func joined(ids []repository.BinaryID) []byte {
	out := make([]byte, 0, len(ids)*idSize)
	for _, id := range ids {
		out = append(out, id[:]...)
	}
	return out
}

func divided(b []byte) ([]repository.BinaryID, error) {
	if len(b)%idSize != 0 {
		return nil, fmt.Errorf("the batch of the fold has %d bytes of ids, no multiple of 16", len(b))
	}
	ids := make([]repository.BinaryID, 0, len(b)/idSize)
	for ; len(b) > 0; b = b[idSize:] {
		ids = append(ids, repository.BinaryID(b[:idSize]))
	}
	return ids, nil
}

// inBytes renders "column IN (…)" for bytes. SQLite gets one JSON argument, so that the
// statement's text stays prepared for any number.
func inBytes[T any](d *dialect.Dialect, column string, values []T, bytes func(T) []byte) (string, []any) {
	if d.IsSQLite() {
		texts := convert.All(values, func(v T) string { return hex.EncodeToString(bytes(v)) })
		list, _ := json.Marshal(texts) // a slice of strings always marshals
		return column + " IN (SELECT unhex(value) FROM json_each(?))", []any{string(list)}
	}
	args := convert.All(values, func(v T) any { return bytes(v) })
	return column + " IN (" + dialect.Marks(len(values)) + ")", args
}
