package execution

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// take makes locked rows their holders'.
func (w *executionWriter) take(ctx context.Context, rows []*entity.Execution, r repository.ClaimRequest,
	now string,
) error {
	at := sqlvalue.ParseTime(now)
	ids := make([]string, len(rows))
	var told []string
	for i, e := range rows {
		ids[i] = e.ID
		if e.ErrorMessage != "" {
			told = append(told, e.ID)
		}
		holder := r.HolderOf(e.ID)
		if err := e.StartOn(holder.NodeID, holder.Epoch, at); err != nil {
			return err
		}
	}
	take := w.takeAll
	if len(r.Holders) > 0 {
		take = w.takeEach
	}
	if err := take(ctx, rows, now); err != nil {
		return err
	}
	// Why a run that was put back has not begun is no message of the attempt that
	// begins (engine rule 19). Few rows hold any.
	err := w.c.ExecIn(ctx, "execution.claim-clear", "UPDATE scheduler_job_execution"+w.c.Dialect.ByPrimary+
		" SET error_message = NULL WHERE {in}", "id", sqlvalue.LockOrder(told))
	if err != nil {
		return err
	}
	_ = failpoint.Hit(w.c.Transaction, "claimed")
	return nil
}

const (
	takenRow   = "status = 'RUNNING', "
	takenCount = ", attempt = attempt + 1, token = token + 1"
)

// takeAll writes rows that all have one holder.
func (w *executionWriter) takeAll(ctx context.Context, rows []*entity.Execution, now string) error {
	ids := entity.IDsOf(rows)
	slices.Sort(ids)
	first := rows[0]
	return w.c.ExecIn(ctx, "execution.claim", "UPDATE scheduler_job_execution"+w.c.Dialect.ByPrimary+
		" SET "+takenRow+"node_id = ?, epoch = ?"+takenCount+", claim_key = ?, start_time = ?, update_time = ? WHERE {in}",
		"id", ids, first.NodeID, first.Epoch, string(first.Claim), now, now)
}

// takeEach writes rows that have holders of their own.
func (w *executionWriter) takeEach(ctx context.Context, rows []*entity.Execution, now string) error {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	if w.c.Dialect.IsSQLite() {
		const query = "UPDATE scheduler_job_execution SET " + takenRow + "node_id = ?, epoch = ?" + takenCount +
			", claim_key = ?, start_time = ?, update_time = ? WHERE id = ?"
		return w.c.ExecEach(ctx, "execution.claim-each", len(rows), func(i int) (string, []any) {
			e := rows[i]
			return query, []any{e.NodeID, e.Epoch, string(e.Claim), now, now, e.ID}
		}, func(int, int64) error { return nil })
	}
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		v := bulk.NewUpdate(len(part), func(i int) any { return part[i].ID })
		set := "t.status = 'RUNNING', t.attempt = t.attempt + 1, t.token = t.token + 1, t.node_id = " +
			v.Expr(bulk.AsID, func(i int) any { return part[i].NodeID }) +
			", t.epoch = " + v.Expr(bulk.AsInt, func(i int) any { return part[i].Epoch }) +
			", t.claim_key = " + v.Expr(bulk.AsKey, func(i int) any { return string(part[i].Claim) }) +
			", t.start_time = " + v.Expr(bulk.AsTime, func(int) any { return now }) +
			", t.update_time = " + v.Expr(bulk.AsTime, func(int) any { return now })
		query, args := v.Statement(w.c.Dialect, "scheduler_job_execution", set, "1 = 1")
		if _, err := w.c.Exec(ctx, "execution.claim-each", query, args...); err != nil {
			return err
		}
	}
	return nil
}
