package execution

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// claimable selects the runs of one queue that may start, in claim order.
func (w *executionWriter) claimable(q entity.Queue, r repository.ClaimRequest, now string) (where string, args []any) {
	lo, hi := q.Range()
	where, args = " WHERE claim_key >= ? AND claim_key < ? AND status = 'WAITING' AND (start_deadline IS NULL OR "+
		"start_deadline > ?)", []any{string(lo), string(hi), now}
	if len(r.Except) > 0 {
		in, ids := w.c.Dialect.In("id", r.Except)
		where, args = where+" AND NOT ("+in+")", append(args, ids...)
	}
	return where + " ORDER BY claim_key, id LIMIT ?", append(args, r.Limit)
}

// Claim implements repository.ExecutionWriter. Rows that another claimer holds
// are skipped rather than waited for.
func (w *executionWriter) Claim(ctx context.Context, r repository.ClaimRequest) ([]*entity.Execution, error) {
	if r.Limit <= 0 {
		return nil, nil
	}
	if len(r.Queues) == 0 {
		r.Queues = []entity.Queue{entity.CommonQueue}
	}
	now := sqlvalue.TimeText(r.Now)
	var rows []*entity.Execution
	var err error
	switch {
	case len(r.Only) > 0:
		rows, err = w.only(ctx, r)
	case len(r.Queues) == 1:
		where, args := w.claimable(r.Queues[0], r, now)
		rows, err = sqldb.Collect(ctx, w.c, "execution.claim-select",
			SelectExecutions+w.c.Dialect.ByClaim+where+w.c.Dialect.SkipLocked, args, ScanExecution)
	default:
		rows, err = w.merged(ctx, r, now)
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if err := w.readParents(ctx, rows); err != nil {
		return rows, err
	}
	if err := w.readHolds(ctx, rows); err != nil {
		return rows, err
	}
	return rows, w.take(ctx, rows, r, now)
}

// only locks the runs that a request names, where they may still start from its queues.
func (w *executionWriter) only(ctx context.Context, r repository.ClaimRequest) ([]*entity.Execution, error) {
	rows, err := w.lockIDs(ctx, r.Only)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(e *entity.Execution) bool {
		return e.Status != entity.StatusWaiting || !e.StartDeadline.IsZero() && !e.StartDeadline.After(r.Now) ||
			!slices.ContainsFunc(r.Queues, func(q entity.Queue) bool {
				lo, hi := q.Range()
				return e.Claim >= lo && e.Claim < hi
			})
	})
	slices.SortFunc(rows, entity.ByPosition)
	return rows, nil
}

// lockIDs locks those of the runs that nobody else has locked, in the order of their ids.
func (w *executionWriter) lockIDs(ctx context.Context, ids []string) (rows []*entity.Execution, err error) {
	return sqldb.CollectIn(ctx, w.c, "execution.claim-lock", SelectExecutions+w.c.Dialect.ByPrimary+
		" WHERE {in} ORDER BY id"+w.c.Dialect.SkipLocked, "id", sqlvalue.LockOrder(ids), ScanExecution)
}

// readParents reads the spans that asked for runs. Only fires outside the schedule, and steps
// of workflow runs, have any, so that no other claim has the statement.
func (w *executionWriter) readParents(ctx context.Context, rows []*entity.Execution) error {
	asked := map[string]*entity.Execution{}
	var ids []string
	for _, e := range rows {
		if e.MayHaveParent() {
			asked[e.ID] = e
			ids = append(ids, e.ID)
		}
	}
	_, err := sqldb.CollectIn(ctx, w.c, "execution.claim-parents", "SELECT id, trace_parent FROM scheduler_job_execution"+
		w.c.Dialect.ByPrimary+" WHERE {in} AND trace_parent IS NOT NULL", "id", sqlvalue.LockOrder(ids),
		func(rows *sql.Rows) (id string, err error) {
			var parent string
			if err = rows.Scan(&id, &parent); err == nil {
				asked[id].Parent = entity.ReadTraceContext(parent)
			}
			return id, err
		})
	return err
}

// readHolds reads how long calls of runs were held back. Only a run whose start was undone has more tokens than
// attempts, so that no other claim has the statement.
func (w *executionWriter) readHolds(ctx context.Context, rows []*entity.Execution) error {
	again := map[string]*entity.Execution{}
	for _, e := range rows {
		if e.PutBackBefore() {
			again[e.ID] = e
		}
	}
	holds, err := readHolds(ctx, w.c, slices.Sorted(maps.Keys(again)))
	for _, h := range holds {
		e := again[h.ExecutionID]
		e.Holds = append(e.Holds, h)
	}
	return err
}

// merged locks the first of several queues: their heads are read without a
// lock, put in order, and locked by id. A run that is not there any more,
// because another node took it or it was sent elsewhere, drops out.
func (w *executionWriter) merged(ctx context.Context, r repository.ClaimRequest,
	now string,
) ([]*entity.Execution, error) {
	var heads []*entity.Execution
	for _, q := range r.Queues {
		where, args := w.claimable(q, r, now)
		found, err := sqldb.Collect(ctx, w.c, "execution.claim-heads",
			"SELECT id, claim_key FROM scheduler_job_execution"+w.c.Dialect.ByClaim+where, args, scanClaimHead)
		if err != nil {
			return nil, err
		}
		heads = append(heads, found...)
	}
	slices.SortFunc(heads, entity.ByPosition)
	heads = heads[:min(len(heads), r.Limit)]
	keys, ids := make(map[string]entity.ClaimKey, len(heads)), make([]string, len(heads))
	for i, e := range heads {
		keys[e.ID], ids[i] = e.Claim, e.ID
	}
	rows, err := w.lockIDs(ctx, ids)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(e *entity.Execution) bool { return e.Claim != keys[e.ID] })
	slices.SortFunc(rows, entity.ByPosition)
	return rows, nil
}

func scanClaimHead(rows *sql.Rows) (*entity.Execution, error) {
	e := &entity.Execution{}
	return e, rows.Scan(&e.ID, &e.Claim)
}
