package execution

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// claimable selects the runs of one queue that may start, in claim order.
const claimable = " WHERE claim_key >= ? AND claim_key < ? AND status = 'WAITING' AND (start_deadline IS NULL OR " +
	"start_deadline > ?) ORDER BY claim_key, id LIMIT ?"

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
	if len(r.Queues) == 1 {
		lo, hi := r.Queues[0].Range()
		rows, err = sqldb.Collect(ctx, w.c, "execution.claim-select",
			SelectExecutions+w.c.Dialect.ByClaim+claimable+w.c.Dialect.SkipLocked,
			[]any{string(lo), string(hi), now, r.Limit}, ScanExecution)
	} else {
		rows, err = w.merged(ctx, r, now)
	}
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if err := w.readParents(ctx, rows); err != nil {
		return nil, err
	}
	if err := w.take(ctx, rows, r, now); err != nil {
		return nil, err
	}
	return rows, nil
}

// readParents reads the spans that asked for runs. Only fires outside the schedule have
// any, so that no other claim has the statement.
func (w *executionWriter) readParents(ctx context.Context, rows []*entity.Execution) error {
	asked := map[string]*entity.Execution{}
	var ids []string
	for _, e := range rows {
		if e.AskedFor() {
			asked[e.ID] = e
			ids = append(ids, e.ID)
		}
	}
	for part := range slices.Chunk(sqlvalue.LockOrder(ids), w.c.Dialect.MaxRows) {
		in, args := w.c.Dialect.In("id", part)
		_, err := sqldb.Collect(ctx, w.c, "execution.claim-parents", "SELECT id, trace_parent FROM scheduler_job_execution"+
			w.c.Dialect.ByPrimary+" WHERE "+in+" AND trace_parent IS NOT NULL", args,
			func(rows *sql.Rows) (id string, err error) {
				var parent string
				if err = rows.Scan(&id, &parent); err == nil {
					asked[id].Parent = entity.ReadTraceContext(parent)
				}
				return id, err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// merged locks the first of several queues: their heads are read without a
// lock, put in order, and locked by id. What is not there any more, because
// another node took it or it was sent elsewhere, drops out.
func (w *executionWriter) merged(ctx context.Context, r repository.ClaimRequest,
	now string,
) ([]*entity.Execution, error) {
	var heads []*entity.Execution
	for _, q := range r.Queues {
		lo, hi := q.Range()
		found, err := sqldb.Collect(ctx, w.c, "execution.claim-heads",
			"SELECT id, claim_key FROM scheduler_job_execution"+w.c.Dialect.ByClaim+claimable,
			[]any{string(lo), string(hi), now, r.Limit}, scanClaimHead)
		if err != nil {
			return nil, err
		}
		heads = append(heads, found...)
	}
	slices.SortFunc(heads, byPlace)
	heads = heads[:min(len(heads), r.Limit)]
	keys, ids := make(map[string]entity.ClaimKey, len(heads)), make([]string, len(heads))
	for i, e := range heads {
		keys[e.ID], ids[i] = e.Claim, e.ID
	}
	slices.Sort(ids)
	var rows []*entity.Execution
	for part := range slices.Chunk(ids, w.c.Dialect.MaxRows) {
		in, args := w.c.Dialect.In("id", part)
		locked, err := sqldb.Collect(ctx, w.c, "execution.claim-lock",
			SelectExecutions+w.c.Dialect.ByPrimary+" WHERE "+in+" ORDER BY id"+w.c.Dialect.SkipLocked, args, ScanExecution)
		if err != nil {
			return nil, err
		}
		rows = append(rows, locked...)
	}
	rows = slices.DeleteFunc(rows, func(e *entity.Execution) bool { return e.Claim != keys[e.ID] })
	slices.SortFunc(rows, byPlace)
	return rows, nil
}

func scanClaimHead(rows *sql.Rows) (*entity.Execution, error) {
	e := &entity.Execution{}
	return e, rows.Scan(&e.ID, &e.Claim)
}

// byPlace orders runs of several queues.
func byPlace(a, b *entity.Execution) int {
	return cmp.Or(cmp.Compare(a.Claim.SortKey(), b.Claim.SortKey()), cmp.Compare(a.ID, b.ID))
}

// take makes locked rows the node's.
func (w *executionWriter) take(ctx context.Context, rows []*entity.Execution, r repository.ClaimRequest,
	now string,
) error {
	key, at := entity.RunningKey(r.NodeID), sqlvalue.ParseTime(now)
	ids := make([]string, len(rows))
	var told []string
	for i, e := range rows {
		ids[i] = e.ID
		if e.ErrorMessage != "" {
			told = append(told, e.ID)
		}
		if err := e.StartOn(r.NodeID, r.Epoch, at); err != nil {
			return err
		}
	}
	slices.Sort(ids)
	for part := range slices.Chunk(ids, w.c.Dialect.MaxRows) {
		in, args := w.c.Dialect.In("id", part)
		args = append([]any{r.NodeID, r.Epoch, string(key), now, now}, args...)
		_, err := w.c.Exec(ctx, "execution.claim", "UPDATE scheduler_job_execution"+w.c.Dialect.ByPrimary+
			` SET status = 'RUNNING', node_id = ?, epoch = ?, attempt = attempt + 1, token = token + 1, claim_key = ?, start_time = ?, update_time = ? WHERE `+in, args...)
		if err != nil {
			return err
		}
	}
	// Why a run that was put back has not begun is no message of the attempt that
	// begins (engine rule 19). Few rows hold any.
	for part := range slices.Chunk(sqlvalue.LockOrder(told), w.c.Dialect.MaxRows) {
		in, args := w.c.Dialect.In("id", part)
		if _, err := w.c.Exec(ctx, "execution.claim-clear",
			"UPDATE scheduler_job_execution"+w.c.Dialect.ByPrimary+" SET error_message = NULL WHERE "+in, args...); err != nil {
			return err
		}
	}
	_ = failpoint.Hit(w.c.Transaction, "claimed")
	return nil
}
