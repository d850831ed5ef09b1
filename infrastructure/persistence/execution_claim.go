package persistence

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
)

// afterReady is the first key after those of runs that may start now.
const afterReady = "W+"

// Claim implements repository.ExecutionWriter. Rows that another claimer holds
// are skipped rather than waited for.
func (w *executionWriter) Claim(ctx context.Context, r repository.ClaimRequest) ([]*entity.Execution, error) {
	if r.Limit <= 0 {
		return nil, nil
	}
	now := stampText(r.Now)
	rows, err := collect(ctx, w.c, "execution.claim-select", selectExecutions+w.c.d.byClaim+
		" WHERE claim_key >= ? AND claim_key < ? AND status = 'WAITING' AND (start_deadline IS NULL OR start_deadline > ?) ORDER BY claim_key, id LIMIT ?"+w.c.d.skipLocked,
		[]any{entity.ClaimReadyPrefix, afterReady, now, r.Limit}, scanExecution)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	key := entity.RunningKey(r.NodeID)
	ids := make([]string, len(rows))
	for i, e := range rows {
		ids[i] = e.ID
	}
	slices.Sort(ids)
	for _, part := range chunks(ids, w.c.d.maxRows) {
		in, args := w.c.d.in("id", part)
		args = append([]any{r.NodeID, r.Epoch, string(key), now, now}, args...)
		_, err := w.c.exec(ctx, "execution.claim", "UPDATE scheduler_job_execution"+w.c.d.byPrimary+
			` SET status = 'RUNNING', node_id = ?, epoch = ?, attempt = attempt + 1, token = token + 1, claim_key = ?, start_time = ?, update_time = ? WHERE `+in, args...)
		if err != nil {
			return nil, err
		}
	}
	at := parseStamp(now)
	for _, e := range rows {
		e.Status, e.NodeID, e.Epoch, e.Claim = entity.StatusRunning, r.NodeID, r.Epoch, key
		e.Attempt++
		e.Token++
		e.StartTime, e.UpdateTime = at, at
	}
	_ = failpoint.Hit(w.c.tx, "claimed")
	return rows, nil
}

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
