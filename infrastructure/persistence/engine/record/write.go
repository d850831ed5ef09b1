package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// recordWriter implements repository.RecordWriter.
type recordWriter struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.RecordWriter { return &recordWriter{c} }

// AddAttempts implements repository.RecordWriter.
func (w *recordWriter) AddAttempts(ctx context.Context, attempts []entity.Attempt) error {
	for _, a := range attempts {
		if err := sqlvalue.CheckTexts(a.ExecutionID, a.ErrorMessage, a.Result); err != nil {
			return err
		}
	}
	return bulk.Insert(ctx, w.c, "attempt.insert",
		"scheduler_execution_attempt (execution_id, attempt, status, reason, node_id, start_time, end_time, error_message, "+
			"result, progress, exit_code)", 11, w.c.Dialect.OnDuplicateKeep("attempt"),
		attempts, func(args []any, a entity.Attempt) []any {
			return append(args, a.ExecutionID, a.Attempt, string(a.Status), sqlvalue.TextOrNull(a.Reason), a.NodeID,
				sqlvalue.TimeArg(a.StartTime), sqlvalue.TimeArg(a.EndTime),
				sqlvalue.TextOrNull(a.ErrorMessage), sqlvalue.TextOrNull(a.Result), sqlvalue.OrNull(a.Progress),
				sqlvalue.PointerOrNull(a.ExitCode))
		})
}

// AddUsages implements repository.RecordWriter.
func (w *recordWriter) AddUsages(ctx context.Context, usages []entity.AttemptUsage) error {
	return bulk.Insert(ctx, w.c, "usage.insert", "scheduler_execution_usage (execution, attempt, cpu_ms, peak_kb)", 4,
		w.c.Dialect.OnDuplicateKeep("attempt"), usages, func(args []any, u entity.AttemptUsage) []any {
			return append(args, u.ExecutionID, u.Attempt, u.CPUMs, u.PeakKb)
		})
}

// AddHolds implements repository.RecordWriter.
func (w *recordWriter) AddHolds(ctx context.Context, holds []entity.Hold) error {
	add := " ON DUPLICATE KEY UPDATE holds = holds + VALUES(holds), held_ms = held_ms + VALUES(held_ms)"
	if w.c.Dialect.IsSQLite() {
		add = " ON CONFLICT (execution, attempt) DO UPDATE SET holds = holds + excluded.holds, " +
			"held_ms = held_ms + excluded.held_ms"
	}
	return bulk.Insert(ctx, w.c, "hold.insert", "scheduler_execution_hold (execution, attempt, holds, held_ms)", 4, add,
		holds, func(args []any, h entity.Hold) []any {
			return append(args, h.ExecutionID, h.Attempt, h.Count, h.For.Milliseconds())
		})
}

// AddDeadLetters implements repository.RecordWriter.
func (w *recordWriter) AddDeadLetters(ctx context.Context, letters []entity.DeadLetter) error {
	for _, l := range letters {
		if err := sqlvalue.CheckTexts(l.ExecutionID, l.Message, ""); err != nil {
			return err
		}
	}
	return bulk.Insert(ctx, w.c, "dead-letter.insert",
		"scheduler_dead_letter (execution_id, job_id, reason, message, replayed_as, create_time)", 6,
		w.c.Dialect.OnDuplicateKeep("execution_id"),
		letters, func(args []any, l entity.DeadLetter) []any {
			return append(args, l.ExecutionID, l.JobID, string(l.Reason), sqlvalue.TextOrNull(l.Message),
				sqlvalue.TextOrNull(l.ReplayedAs), sqlvalue.TimeArg(l.CreateTime))
		})
}

// MarkReplayed implements repository.RecordWriter.
func (w *recordWriter) MarkReplayed(ctx context.Context, executionID, replayID string) error {
	n, err := w.c.Exec(ctx, "dead-letter.mark-replayed",
		"UPDATE scheduler_dead_letter SET replayed_as = ? WHERE execution_id = ? AND replayed_as IS NULL", replayID,
		executionID)
	if err != nil || n == 1 {
		return err
	}
	return w.notWaiting(ctx, executionID)
}

// DropDeadLetter implements repository.RecordWriter.
func (w *recordWriter) DropDeadLetter(ctx context.Context, executionID string) error {
	if !sqlvalue.IsASCIIID(executionID) {
		return apperror.NotFound("dead letter", executionID)
	}
	n, err := w.c.Exec(ctx, "dead-letter.drop",
		"DELETE FROM scheduler_dead_letter WHERE execution_id = ? AND replayed_as IS NULL", executionID)
	if err != nil || n == 1 {
		return err
	}
	return w.notWaiting(ctx, executionID)
}

// notWaiting says why a letter was not found among those that wait.
func (w *recordWriter) notWaiting(ctx context.Context, executionID string) error {
	found, err := w.c.Number(ctx, "dead-letter.exists",
		"SELECT COUNT(*) FROM scheduler_dead_letter WHERE execution_id = ?", executionID)
	if err != nil {
		return err
	}
	if found == 0 {
		return apperror.NotFound("dead letter", executionID)
	}
	return apperror.Conflict("already_replayed", "the dead letter of execution %s was replayed before", executionID)
}

// maxLogBytes bounds the content of one log row, so that a batch of rows stays
// below the packet limit of a server.
const maxLogBytes = 1 << 20

// AddLogs implements repository.RecordWriter. A chunk without an id gets one of
// the moment of its lines: retention goes by the ids.
func (w *recordWriter) AddLogs(ctx context.Context, logs []entity.LogChunk) error {
	logs = slices.Clone(logs)
	for i := range logs {
		l := &logs[i]
		if len(l.Content) > maxLogBytes {
			return &repository.PoisonError{Err: fmt.Errorf("a log row of execution %s has %d bytes; %d is the limit",
				l.ExecutionID, len(l.Content), maxLogBytes)}
		}
		if err := sqlvalue.CheckTexts(l.ExecutionID, "", "", l.Content); err != nil {
			return err
		}
		if l.ID == "" {
			l.ID = identity.RandomID(l.CreateTime)
		}
	}
	for _, part := range bySize(logs, 4*maxLogBytes) {
		err := bulk.Insert(ctx, w.c, "log.insert",
			"scheduler_job_log (id, job_id, execution_id, log_type, content, create_time, attempt, seq_from, seq_to, truncated)",
			10, w.c.Dialect.OnDuplicateKeep("id"),
			part, func(args []any, l entity.LogChunk) []any {
				return append(args, l.ID, l.JobID, l.ExecutionID, string(l.Type), l.Content, sqlvalue.TimeArg(l.CreateTime),
					l.Attempt, l.SeqFrom, l.SeqTo, sqlvalue.Flag(l.Truncated))
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// bySize cuts log rows into pieces of at most size bytes of content.
func bySize(logs []entity.LogChunk, size int) [][]entity.LogChunk {
	var out [][]entity.LogChunk
	from, sum := 0, 0
	for i, l := range logs {
		if sum+len(l.Content) > size && i > from {
			out = append(out, logs[from:i])
			from, sum = i, 0
		}
		sum += len(l.Content)
	}
	if from < len(logs) {
		out = append(out, logs[from:])
	}
	return out
}
