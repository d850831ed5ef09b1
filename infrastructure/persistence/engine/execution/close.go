package execution

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// alike is what one statement writes into many rows. A field that does not apply is empty.
type alike struct {
	status  entity.Status
	reason  entity.Reason
	message string
	end     string
	update  string
}

// Close implements repository.ExecutionWriter.
func (w *executionWriter) Close(ctx context.Context, rows []*entity.Execution) error {
	groups := map[alike][]string{}
	for _, e := range rows {
		if err := checkExecution(e); err != nil {
			return err
		}
		of := alike{e.Status, e.Reason, e.ErrorMessage, sqlvalue.TimeText(e.EndTime), sqlvalue.TimeText(e.UpdateTime)}
		groups[of] = append(groups[of], e.ID)
	}
	return writeAlike(ctx, w.c, "execution.close", entity.StatusWaiting,
		"status = ?, reason = ?, error_message = ?, result = NULL, end_time = ?, update_time = ?, claim_key = NULL", groups,
		func(of alike) []any {
			return []any{string(of.status), sqlvalue.TextOrNull(of.reason), sqlvalue.TextOrNull(of.message), of.end, of.update}
		})
}

// AskToStop implements repository.ExecutionWriter.
func (w *executionWriter) AskToStop(ctx context.Context, rows []*entity.Execution) error {
	groups := map[alike][]string{}
	for _, e := range rows {
		of := alike{reason: e.Reason, update: sqlvalue.TimeText(e.UpdateTime)}
		groups[of] = append(groups[of], e.ID)
	}
	return writeAlike(ctx, w.c, "execution.ask-to-stop", entity.StatusRunning,
		"cancel_requested = 1, reason = ?, update_time = ?", groups,
		func(of alike) []any { return []any{sqlvalue.TextOrNull(of.reason), of.update} })
}

// writeAlike writes into locked rows that must be of a status, as few statements
// as what they get in common allows.
func writeAlike(ctx context.Context, c *sqldb.Conn, name string, from entity.Status, set string,
	groups map[alike][]string, args func(of alike) []any,
) error {
	for of, ids := range groups {
		for part := range slices.Chunk(sqlvalue.LockOrder(ids), c.Dialect.MaxRows) {
			in, list := c.Dialect.In("id", part)
			n, err := c.Exec(ctx, name,
				"UPDATE scheduler_job_execution"+c.Dialect.ByPrimary+" SET "+set+" WHERE "+in+" AND status = ?",
				append(append(args(of), list...), string(from))...)
			if err != nil {
				return err
			}
			if n != int64(len(part)) {
				return apperror.Conflict("stale_token", "%d of %d runs are not %s any more", int64(len(part))-n, len(part), from)
			}
		}
	}
	return nil
}
