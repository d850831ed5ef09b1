package execution

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// placedFinish is a completion and its place in the caller's list.
type placedFinish struct {
	repository.Finish
	position int
}

// Finish implements repository.ExecutionWriter.
func (w *executionWriter) Finish(ctx context.Context, finishes []repository.Finish,
	now time.Time,
) (refused []int, err error) {
	rows := make([]placedFinish, len(finishes))
	for i := range finishes {
		if err := checkFinish(&finishes[i]); err != nil {
			return nil, err
		}
		rows[i] = placedFinish{finishes[i], i}
	}
	slices.SortStableFunc(rows, func(a, b placedFinish) int { return strings.Compare(a.ID, b.ID) })
	updated := sqlvalue.TimeText(now)
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if w.c.Dialect.IsSQLite() {
			no, err := finishSQLite(ctx, w.c, part, updated)
			if err != nil {
				return nil, err
			}
			refused = append(refused, no...)
			continue
		}
		if w.c.VerifyFirst {
			var no []int
			if part, no, err = stillHeld(ctx, w.c, part); err != nil {
				return nil, err
			}
			refused = append(refused, no...)
		}
		if err := finishMySQL(ctx, w.c, part, updated); err != nil {
			return nil, err
		}
	}
	_ = failpoint.Hit(w.c.Transaction, "finished")
	slices.Sort(refused)
	return refused, nil
}

func checkFinish(f *repository.Finish) error {
	if !sqlvalue.StorableTime(f.StartTime) || !sqlvalue.StorableTime(f.EndTime) {
		return sqlvalue.Poison(f.ID, "a time is outside the years 1000 to 9999")
	}
	if len(f.Status) > 20 || len(f.Reason) > 30 || !sqlvalue.IsASCII(string(f.Status)) ||
		!sqlvalue.IsASCII(string(f.Reason)) {
		return sqlvalue.Poison(f.ID, "status or reason does not fit its column")
	}
	return sqlvalue.CheckTexts(f.ID, f.ErrorMessage, f.Result)
}

// finishSQLite writes row by row with a prepared statement. A plain success,
// which most ends are, has one of its own with fewer arguments: in this driver
// an argument costs as much as the column it fills.
func finishSQLite(ctx context.Context, c *sqldb.Conn, rows []placedFinish, now string) (refused []int, err error) {
	err = c.ExecEach(ctx, "execution.finish", len(rows), func(i int) (string, []any) {
		f := &rows[i]
		if f.ExitCode != nil {
			return sqliteFinishCode, []any{
				sqlvalue.TimeArg(f.StartTime), sqlvalue.TimeArg(f.EndTime), f.Duration.Milliseconds(),
				sqlvalue.TextOrNull(f.Result), now,
				*f.ExitCode, string(f.Status), sqlvalue.TextOrNull(f.Reason), f.Progress, sqlvalue.TextOrNull(f.ErrorMessage),
				f.ID, f.NodeID, f.Epoch, f.Token,
			}
		}
		if f.Status == entity.StatusSuccess && f.Reason == "" && f.ErrorMessage == "" && f.Progress == 100 {
			return sqliteSucceed, []any{
				sqlvalue.TimeArg(f.StartTime), sqlvalue.TimeArg(f.EndTime), f.Duration.Milliseconds(),
				sqlvalue.TextOrNull(f.Result), now,
				f.ID, f.NodeID, f.Epoch, f.Token,
			}
		}
		return sqliteFinish, []any{
			sqlvalue.TimeArg(f.StartTime), sqlvalue.TimeArg(f.EndTime), f.Duration.Milliseconds(), sqlvalue.TextOrNull(f.Result),
			now,
			string(f.Status), sqlvalue.TextOrNull(f.Reason), f.Progress, sqlvalue.TextOrNull(f.ErrorMessage),
			f.ID, f.NodeID, f.Epoch, f.Token,
		}
	}, func(i int, found int64) error {
		if found == 0 {
			refused = append(refused, rows[i].position)
		}
		return nil
	})
	return refused, err
}

// StillRunning is the condition that an execution runs under the id, node, epoch and
// fencing token that are its arguments.
const StillRunning = " WHERE id = ? AND status = 'RUNNING' AND node_id = ? AND epoch = ? AND token = ?"

const (
	sqliteTimes = `UPDATE scheduler_job_execution SET start_time = COALESCE(?, start_time), end_time = ?, duration = ?, result = ?,
		update_time = ?, claim_key = NULL, `
	sqliteSucceed = sqliteTimes + "status = 'SUCCESS', reason = NULL, progress = 100, error_message = NULL" + StillRunning
	sqliteFinish  = sqliteTimes + sqliteState + StillRunning
	// Only commands have an exit code.
	sqliteFinishCode = sqliteTimes + "exit_code = ?, " + sqliteState + StillRunning
	sqliteState      = "status = ?, reason = ?, progress = ?, error_message = ?"
)

// finishMySQL writes many rows in one statement, which tells only how many it
// found. A number that does not fit ends the transaction with ErrVerifyFirst.
func finishMySQL(ctx context.Context, c *sqldb.Conn, rows []placedFinish, now string) error {
	if len(rows) == 0 {
		return nil
	}
	v := bulk.NewUpdate(len(rows), func(i int) any { return rows[i].ID })
	set := "t.status = " + v.Expr(bulk.AsIs, func(i int) any { return string(rows[i].Status) }) +
		", t.reason = " + v.Expr(bulk.AsIs, func(i int) any { return sqlvalue.TextOrNull(rows[i].Reason) }) +
		", t.start_time = COALESCE(" + v.Expr(bulk.AsTime, func(i int) any {
		return sqlvalue.TimeArg(rows[i].StartTime)
	}) + ", t.start_time)" +
		", t.end_time = " + v.Expr(bulk.AsTime, func(i int) any { return sqlvalue.TimeArg(rows[i].EndTime) }) +
		", t.duration = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].Duration.Milliseconds() }) +
		", t.progress = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].Progress }) +
		", t.error_message = " + v.Expr(bulk.AsIs, func(i int) any { return sqlvalue.TextOrNull(rows[i].ErrorMessage) }) +
		", t.result = " + v.Expr(bulk.AsIs, func(i int) any { return sqlvalue.TextOrNull(rows[i].Result) }) +
		", t.update_time = " + v.Expr(bulk.AsTime, func(int) any { return now }) + ", t.claim_key = NULL"
	if slices.ContainsFunc(rows, func(f placedFinish) bool { return f.ExitCode != nil }) {
		set += ", t.exit_code = " + v.Expr(bulk.AsInt, func(i int) any { return sqlvalue.PointerOrNull(rows[i].ExitCode) })
	}
	where := "t.status = 'RUNNING' AND t.node_id = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].NodeID }) +
		" AND t.epoch = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].Epoch }) +
		" AND t.token = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].Token })
	query, args := v.Statement(c.Dialect, "scheduler_job_execution", set, where)
	n, err := c.Exec(ctx, "execution.finish", query, args...)
	if err != nil {
		return err
	}
	if n != int64(len(rows)) {
		return sqldb.ErrVerifyFirst
	}
	return nil
}

// stillHeld locks the rows and keeps those that are still the caller's.
func stillHeld(ctx context.Context, c *sqldb.Conn,
	rows []placedFinish,
) (held []placedFinish, refused []int, err error) {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	type holder struct {
		status, node string
		epoch, token int64
	}
	holders := make(map[string]holder, len(rows))
	in, args := c.Dialect.In("id", ids)
	_, err = sqldb.Collect(ctx, c, "execution.lock-holders",
		"SELECT id, status, node_id, epoch, token FROM scheduler_job_execution"+c.Dialect.ByPrimary+
			" WHERE "+in+" ORDER BY id"+c.Dialect.ForUpdate, args, func(r *sql.Rows) (id string, err error) {
			var h holder
			err = r.Scan(&id, &h.status, &h.node, &h.epoch, &h.token)
			holders[id] = h
			return id, err
		})
	if err != nil {
		return nil, nil, err
	}
	for _, f := range rows {
		if holders[f.ID] == (holder{"RUNNING", f.NodeID, f.Epoch, f.Token}) {
			held = append(held, f)
			delete(holders, f.ID) // a second completion of the same row is refused
		} else {
			refused = append(refused, f.position)
		}
	}
	return held, refused, nil
}
