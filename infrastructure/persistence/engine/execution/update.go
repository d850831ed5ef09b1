package execution

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// RepeatedAlready implements repository.ExecutionWriter.
func (w *executionWriter) RepeatedAlready(ctx context.Context, root, run, except string) (bool, error) {
	n, err := w.c.Number(ctx, "execution.repeated", "SELECT COUNT(*) FROM scheduler_execution_replay r JOIN "+
		"scheduler_job_execution e ON e.id = r.execution_id WHERE r.root_id = ? AND r.execution_id > ? AND "+
		"r.execution_id <> ? AND e.status NOT IN (?, ?)", root, run, except, string(entity.StatusSkipped),
		string(entity.StatusCancelled))
	return n > 0, err
}

// Lock implements repository.ExecutionWriter.
func (w *executionWriter) Lock(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	return w.lock(ctx, ids, w.c.Dialect.ForUpdate)
}

// TryLock implements repository.ExecutionWriter.
func (w *executionWriter) TryLock(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	return w.lock(ctx, ids, w.c.Dialect.SkipLocked)
}

func (w *executionWriter) lock(ctx context.Context, ids []string, how string) ([]*entity.Execution, error) {
	ids = sqlvalue.LockOrder(sqlvalue.OnlyASCIIIDs(ids))
	return sqldb.CollectIn(ctx, w.c, "execution.lock", SelectExecutions+w.c.Dialect.ByPrimary+
		" WHERE {in} ORDER BY id"+how, "id", ids, ScanExecution)
}

// TryLockAt implements repository.ExecutionWriter.
func (w *executionWriter) TryLockAt(ctx context.Context, keys []entity.ClaimKey) ([]*entity.Execution, error) {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = string(key)
	}
	return sqldb.CollectIn(ctx, w.c, "execution.lock-at", SelectExecutions+w.c.Dialect.ByClaim+
		" WHERE {in} ORDER BY id"+w.c.Dialect.SkipLocked, "claim_key", sqlvalue.LockOrder(texts), ScanExecution)
}

// LiveOf implements repository.ExecutionWriter. It searches what is live and not
// the job's history, which may be millions of runs.
func (w *executionWriter) LiveOf(ctx context.Context, jobID string, limit int,
	wanted func(*entity.Execution) bool,
) (rows []*entity.Execution, more bool, err error) {
	all := entity.AllClaims()
	heads, err := sqldb.Collect(ctx, w.c, "execution.live-of",
		"SELECT id, fire_key, claim_key FROM scheduler_job_execution"+w.c.Dialect.ByClaim+
			" WHERE claim_key >= ? AND claim_key < ? AND job_id = ?", []any{string(all.Lo), string(all.Hi), jobID},
		func(rows *sql.Rows) (*entity.Execution, error) {
			e := &entity.Execution{JobID: jobID}
			return e, rows.Scan(&e.ID, &e.FireKey, &e.Claim)
		})
	if err != nil {
		return nil, false, err
	}
	heads = slices.DeleteFunc(heads, func(e *entity.Execution) bool { return !wanted(e) })
	if len(heads) > limit {
		return nil, true, nil
	}
	ids := make([]string, len(heads))
	for i, e := range heads {
		ids[i] = e.ID
	}
	rows, err = w.Lock(ctx, ids)
	return slices.DeleteFunc(rows, func(e *entity.Execution) bool { return e.Status.Final() || !wanted(e) }), false, err
}

// Requeue implements repository.ExecutionWriter.
func (w *executionWriter) Requeue(ctx context.Context, rows []*entity.Execution) error {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if w.c.Dialect.IsSQLite() {
			err := w.c.ExecEach(ctx, "execution.requeue", len(part), func(i int) (string, []any) {
				return "UPDATE scheduler_job_execution SET claim_key = ?, update_time = ? WHERE id = ? AND status = 'WAITING'",
					[]any{string(part[i].Claim), sqlvalue.TimeArg(part[i].UpdateTime), part[i].ID}
			}, func(int, int64) error { return nil })
			if err != nil {
				return err
			}
			continue
		}
		v := bulk.NewUpdate(len(part), func(i int) any { return part[i].ID })
		query, args := v.Statement(w.c.Dialect, "scheduler_job_execution",
			"t.claim_key = "+v.Expr(bulk.AsIs, func(i int) any { return string(part[i].Claim) })+
				", t.update_time = "+v.Expr(bulk.AsTime, func(i int) any {
				return sqlvalue.TimeArg(part[i].UpdateTime)
			}), "t.status = 'WAITING'")
		if _, err := w.c.Exec(ctx, "execution.requeue", query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Update implements repository.ExecutionWriter.
func (w *executionWriter) Update(ctx context.Context, e *entity.Execution, from entity.Status, token int64) error {
	if err := checkExecution(e); err != nil {
		return err
	}
	n, err := w.c.Exec(ctx, "execution.update",
		`UPDATE scheduler_job_execution SET node_id = ?, status = ?, start_time = ?, end_time = ?, duration = ?,
		retry_count = ?, error_message = ?, result = ?, update_time = ?, due_time = ?, job_version = ?, priority = ?, reason = ?, epoch = ?, token = ?,
		job_fence = ?, attempt = ?, node_losses = ?, claim_key = ?, start_deadline = ?, cancel_requested = ?, progress = ?, checkpoint = ?
		WHERE id = ? AND status = ? AND token = ?`,
		e.NodeID, string(e.Status), sqlvalue.TimeArg(e.StartTime), sqlvalue.TimeArg(e.EndTime),
		sqlvalue.OrNull(e.Duration.Milliseconds()),
		e.RetryCount, sqlvalue.TextOrNull(e.ErrorMessage), sqlvalue.TextOrNull(e.Result), sqlvalue.TimeArg(e.UpdateTime),
		sqlvalue.TimeArg(e.DueTime), e.JobVersion, e.Priority, sqlvalue.TextOrNull(e.Reason), e.Epoch, e.Token,
		sqlvalue.OrNull(e.JobFence), e.Attempt, sqlvalue.OrNull(e.NodeLosses), sqlvalue.TextOrNull(e.Claim),
		sqlvalue.TimeArg(e.StartDeadline), flagOrNull(e.CancelRequested), sqlvalue.OrNull(e.Progress),
		sqlvalue.TextOrNull(e.Checkpoint),
		e.ID, string(from), token)
	if err != nil {
		return err
	}
	if n == 0 {
		return apperror.Conflict("stale_token", "execution %s is not %s under token %d any more", e.ID, from, token)
	}
	return nil
}
