package running

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/internal/faillog"
)

// flushInterval is how often the log of runs that still run is stored.
const flushInterval = 500 * time.Millisecond

func (t *TaskManager) flushLoop(ctx context.Context) {
	timer := t.Clock.NewTimer(flushInterval)
	defer timer.Stop()
	trouble := faillog.OfTask("flush-logs", t.Clock, t.Logger)
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		err := t.FlushLogs(ctx)
		if ctx.Err() != nil {
			return
		}
		trouble.Observe(err)
		timer.Reset(flushInterval)
	}
}

// flushBytes bounds the lines that one transaction stores: a store with one
// writer has fires to write meanwhile (engine rule 31).
const flushBytes = 256 << 10

// FlushLogs stores what the runs of this node have said since the last call:
// their lines, and how far they are, which the next attempt starts from. What
// could not be stored is kept for the next call.
func (t *TaskManager) FlushLogs(ctx context.Context) error {
	t.mu.Lock()
	journals := make([]*logBuffer, 0, len(t.runs))
	for _, a := range t.runs {
		journals = append(journals, a.logBuffer)
	}
	t.mu.Unlock()
	var f flush
	for _, j := range journals {
		if j.ended() {
			continue // its end takes the rest along
		}
		f.add(j)
		if f.bytes >= flushBytes {
			if err := f.store(ctx, t.Store); err != nil {
				return err
			}
			f = flush{}
		}
	}
	return f.store(ctx, t.Store)
}

// flush is what some runs have said, on its way into the store.
type flush struct {
	bytes  int
	chunks []entity.LogChunk
	notes  []repository.ProgressUpdate
	logs   []pendingLogs
	noted  []*logBuffer
}

func (f *flush) add(j *logBuffer) {
	if note, ok := j.progressUpdate(); ok {
		f.notes, f.noted = append(f.notes, note), append(f.noted, j)
		f.bytes += len(note.Checkpoint)
	}
	chunks := j.pending()
	if len(chunks) == 0 {
		return
	}
	f.logs, f.chunks = append(f.logs, pendingLogs{j, chunks}), append(f.chunks, chunks...)
	for i := range chunks {
		f.bytes += len(chunks[i].Content)
	}
}

// store writes it all in one transaction; what fails is offered again.
func (f *flush) store(ctx context.Context, s repository.Store) error {
	if len(f.chunks)+len(f.notes) == 0 {
		return nil
	}
	err := s.Write(ctx, repository.LaneLogs, "logs", func(ctx context.Context, tx repository.Tx) error {
		if err := tx.Executions.UpdateProgress(ctx, f.notes); err != nil {
			return err
		}
		return tx.Records.AddLogs(ctx, f.chunks)
	})
	if err != nil {
		for _, j := range f.noted {
			j.markDirty()
		}
		return err
	}
	dropStored(f.logs)
	return nil
}
