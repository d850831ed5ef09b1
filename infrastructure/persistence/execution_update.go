package persistence

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
)

// Lock implements repository.ExecutionWriter.
func (w *executionWriter) Lock(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	var out []*entity.Execution
	for _, part := range chunks(sorted(plainOnly(ids)), w.c.d.maxRows) {
		in, args := w.c.d.in("id", part)
		rows, err := collect(ctx, w.c, "execution.lock", selectExecutions+w.c.d.byPrimary+" WHERE "+in+" ORDER BY id"+w.c.d.forUpdate, args, scanExecution)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Update implements repository.ExecutionWriter.
func (w *executionWriter) Update(ctx context.Context, e *entity.Execution, from entity.Status, token int64) error {
	if err := checkExecution(e); err != nil {
		return err
	}
	n, err := w.c.exec(ctx, "execution.update", `UPDATE scheduler_job_execution SET node_id = ?, status = ?, start_time = ?, end_time = ?, duration = ?,
		retry_count = ?, error_message = ?, result = ?, update_time = ?, due_time = ?, job_version = ?, priority = ?, reason = ?, epoch = ?, token = ?,
		job_fence = ?, attempt = ?, node_losses = ?, claim_key = ?, start_deadline = ?, cancel_requested = ?, progress = ?, checkpoint = ?
		WHERE id = ? AND status = ? AND token = ?`,
		e.NodeID, string(e.Status), text(e.StartTime), text(e.EndTime), orNull(e.Duration.Milliseconds()),
		e.RetryCount, textOrNull(e.ErrorMessage), textOrNull(e.Result), text(e.UpdateTime), text(e.DueTime), e.JobVersion, e.Priority, textOrNull(e.Reason), e.Epoch, e.Token,
		orNull(e.JobFence), e.Attempt, orNull(e.NodeLosses), textOrNull(e.Claim), text(e.StartDeadline), flagOrNull(e.CancelRequested), orNull(e.Progress), textOrNull(e.Checkpoint),
		e.ID, string(from), token)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.Conflict("stale_token", "execution %s is not %s under token %d any more", e.ID, from, token)
	}
	return nil
}
