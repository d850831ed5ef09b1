package monitoring

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

const stateColumns = "SELECT id, job_id, status, attempt, COALESCE(progress, 0), COALESCE(cancel_requested, 0) " +
	"FROM scheduler_job_execution WHERE "

func scanState(rows *sql.Rows) (s repository.ExecutionState, err error) {
	err = rows.Scan(&s.ID, &s.JobID, &s.Status, &s.Attempt, &s.Progress, &s.Stopping)
	return s, err
}

// ExecutionsAfter implements repository.Changes.
func (r *Reader) ExecutionsAfter(ctx context.Context, id string, limit int) ([]repository.ExecutionState, error) {
	return sqldb.Collect(ctx, r.c, "changes.executions", stateColumns+"id > ? ORDER BY id LIMIT ?", []any{id, limit},
		scanState)
}

// ExecutionStates implements repository.Changes.
func (r *Reader) ExecutionStates(ctx context.Context, ids []string) ([]repository.ExecutionState, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	in, args := r.c.Dialect.In("id", ids)
	return sqldb.Collect(ctx, r.c, "changes.states", stateColumns+in+" ORDER BY id", args, scanState)
}

// OpenApprovals implements repository.Changes.
func (r *Reader) OpenApprovals(ctx context.Context, limit int) ([]string, error) {
	open := entity.ApprovalSpan()
	return sqldb.Collect(ctx, r.c, "changes.approvals",
		"SELECT id FROM scheduler_job_execution WHERE claim_key >= ? AND claim_key < ? ORDER BY claim_key LIMIT ?",
		[]any{string(open.Lo), string(open.Hi), limit}, func(rows *sql.Rows) (id string, err error) {
			err = rows.Scan(&id)
			return id, err
		})
}

// RunSeqs implements repository.Changes.
func (r *Reader) RunSeqs(ctx context.Context, ids []string) ([]repository.RunSeq, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	in, args := r.c.Dialect.In("id", ids)
	return sqldb.Collect(ctx, r.c, "changes.workflow-runs", "SELECT id, seq FROM scheduler_workflow_run WHERE "+in+
		" ORDER BY id", args, func(rows *sql.Rows) (s repository.RunSeq, err error) {
		err = rows.Scan(&s.ID, &s.Seq)
		return s, err
	})
}

// DigestsAfter implements repository.Changes.
func (r *Reader) DigestsAfter(ctx context.Context, id repository.BinaryID, limit int) ([]repository.Digest, error) {
	return sqldb.Collect(ctx, r.c, "changes.digests",
		"SELECT id, time, data FROM scheduler_end_digest WHERE id > ? ORDER BY id LIMIT ?", []any{id[:], limit},
		func(rows *sql.Rows) (d repository.Digest, err error) {
			var at int64
			err = rows.Scan(scanID(&d.ID), &at, &d.Data)
			d.Time = moment(at)
			return d, err
		})
}
