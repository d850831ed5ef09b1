package execution

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const noteRow = "UPDATE scheduler_job_execution SET progress = ?, checkpoint = ?" + StillRunning

// UpdateProgress implements repository.ExecutionWriter.
func (w *executionWriter) UpdateProgress(ctx context.Context, notes []repository.ProgressUpdate) error {
	if len(notes) == 0 {
		return nil
	}
	notes = slices.Clone(notes)
	slices.SortFunc(notes, func(a, b repository.ProgressUpdate) int {
		return strings.Compare(a.ID, b.ID)
	}) // as everybody locks
	for _, n := range notes {
		if err := sqlvalue.CheckTexts(n.ID, "", "", n.Checkpoint); err != nil {
			return err
		}
	}
	return w.c.ExecEach(ctx, "execution.note", len(notes), func(i int) (string, []any) {
		n := notes[i]
		return noteRow, []any{n.Progress, sqlvalue.TextOrNull(n.Checkpoint), n.ID, n.NodeID, n.Epoch, n.Token}
	}, func(int, int64) error { return nil })
}
