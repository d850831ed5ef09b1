package monitoring

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// NoteEnds implements repository.StatisticsWriter. A print has 8 bytes.
func (w *writer) NoteEnds(ctx context.Context, n repository.NotedEnds) error {
	data := make([]byte, 0, 8*len(n.Prints))
	for _, p := range n.Prints {
		data = binary.BigEndian.AppendUint64(data, p)
	}
	_, err := w.c.Exec(ctx, "note.insert", "INSERT INTO scheduler_noted_end (seq, prints) VALUES (?, ?)", n.Seq, data)
	return err
}

// DropNotes implements repository.StatisticsWriter.
func (w *writer) DropNotes(ctx context.Context, limit int) (int, error) {
	seqs, err := sqldb.Collect(ctx, w.c, "note.oldest", "SELECT seq FROM scheduler_noted_end ORDER BY seq LIMIT ?",
		[]any{limit}, func(rows *sql.Rows) (seq int64, err error) { err = rows.Scan(&seq); return seq, err })
	if err != nil || len(seqs) == 0 {
		return 0, err
	}
	_, err = w.c.Exec(ctx, "note.drop", "DELETE FROM scheduler_noted_end WHERE seq <= ?", seqs[len(seqs)-1])
	return len(seqs), err
}

// NotesAfter implements repository.EndsReader.
func (r *Reader) NotesAfter(ctx context.Context, seq int64, limit int) ([]repository.NotedEnds, error) {
	return sqldb.Collect(ctx, r.c, "note.read",
		"SELECT seq, prints FROM scheduler_noted_end WHERE seq > ? ORDER BY seq LIMIT ?", []any{seq, limit},
		func(rows *sql.Rows) (n repository.NotedEnds, err error) {
			var data []byte
			if err = rows.Scan(&n.Seq, &data); err != nil {
				return n, err
			}
			if len(data)%8 != 0 {
				return n, fmt.Errorf("the notes of batch %d have %d bytes, which is no multiple of 8", n.Seq, len(data))
			}
			for ; len(data) > 0; data = data[8:] {
				n.Prints = append(n.Prints, binary.BigEndian.Uint64(data))
			}
			return n, nil
		})
}
