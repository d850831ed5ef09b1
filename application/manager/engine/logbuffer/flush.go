package logbuffer

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Lines are the lines of some buffers in one transaction.
type Lines struct {
	// Chunks are what the transaction stores.
	Chunks []entity.LogChunk
	taken  []taken
}

// taken are the chunks of one buffer.
type taken struct {
	from   *Buffer
	chunks []entity.LogChunk
}

// Add takes what the buffer holds, and returns how many bytes that is.
func (l *Lines) Add(b *Buffer) (bytes int) {
	chunks := b.pending()
	if len(chunks) == 0 {
		return 0
	}
	l.taken, l.Chunks = append(l.taken, taken{b, chunks}), append(l.Chunks, chunks...)
	for i := range chunks {
		bytes += len(chunks[i].Content)
	}
	return bytes
}

// Committed drops the lines from their buffers, because the store has them.
func (l *Lines) Committed() {
	for _, t := range l.taken {
		t.from.stored(t.chunks)
	}
}

// flushBytes bounds the lines that one transaction stores: a store with one
// writer has fires to write meanwhile (engine rule 31).
const flushBytes = 256 << 10

// Flush stores what the attempts of the buffers have said since the last call: their
// lines, and how far they are, which the next attempt starts from. It leaves out
// attempts that have ended: their ends take the rest along. Lines that could not be
// stored are kept for the next call.
func Flush(ctx context.Context, s repository.Store, buffers []*Buffer) error {
	var f flush
	for _, b := range buffers {
		if b.ended() {
			continue
		}
		f.add(b)
		if f.bytes >= flushBytes {
			if err := f.store(ctx, s); err != nil {
				return err
			}
			f = flush{}
		}
	}
	return f.store(ctx, s)
}

// flush is what some attempts have said, on its way into the store.
type flush struct {
	bytes   int
	lines   Lines
	updates []repository.ProgressUpdate
	updated []*Buffer
}

func (f *flush) add(b *Buffer) {
	if update, ok := b.progressUpdate(); ok {
		f.updates, f.updated = append(f.updates, update), append(f.updated, b)
		f.bytes += len(update.Checkpoint)
	}
	f.bytes += f.lines.Add(b)
}

// store writes it all in one transaction. Lines that fail stay in the buffers.
func (f *flush) store(ctx context.Context, s repository.Store) error {
	if len(f.lines.Chunks)+len(f.updates) == 0 {
		return nil
	}
	err := s.Write(ctx, repository.LaneLogs, "logs", func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.UpdateProgress(ctx, f.updates); err != nil {
			return err
		}
		return tx.Records.AddLogs(ctx, f.lines.Chunks)
	})
	if err != nil {
		for _, b := range f.updated {
			b.markDirty()
		}
		return err
	}
	f.lines.Committed()
	return nil
}
