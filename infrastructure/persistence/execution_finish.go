package persistence

import (
	"context"
	"database/sql"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
)

// placedFinish is a completion and its place in the caller's list.
type placedFinish struct {
	repository.Finish
	place int
}

// Finish implements repository.ExecutionWriter.
func (w *executionWriter) Finish(ctx context.Context, finishes []repository.Finish) (refused []int, err error) {
	rows := make([]placedFinish, len(finishes))
	for i := range finishes {
		if err := checkFinish(&finishes[i]); err != nil {
			return nil, err
		}
		rows[i] = placedFinish{finishes[i], i}
	}
	slices.SortStableFunc(rows, func(a, b placedFinish) int { return compare(a.ID, b.ID) })
	now := stampText(w.c.clock.Now())
	for _, part := range chunks(rows, w.c.d.maxRows) {
		if w.c.d.lite() {
			no, err := finishLite(ctx, w.c, part, now)
			if err != nil {
				return nil, err
			}
			refused = append(refused, no...)
			continue
		}
		if w.c.careful {
			var no []int
			if part, no, err = stillHeld(ctx, w.c, part); err != nil {
				return nil, err
			}
			refused = append(refused, no...)
		}
		if err := finishMySQL(ctx, w.c, part, now); err != nil {
			return nil, err
		}
	}
	_ = failpoint.Hit(w.c.tx, "finished")
	slices.Sort(refused)
	return refused, nil
}

func checkFinish(f *repository.Finish) error {
	if !storable(f.StartTime) || !storable(f.EndTime) {
		return poison(f.ID, "a time is outside the years 1000 to 9999")
	}
	if len(f.Status) > 20 || len(f.Reason) > 30 || !ascii(string(f.Status)) || !ascii(string(f.Reason)) {
		return poison(f.ID, "status or reason does not fit its column")
	}
	return checkTexts(f.ID, f.ErrorMessage, f.Result)
}

// finishLite writes row by row with a prepared statement. A plain success,
// which most ends are, has one of its own with fewer arguments: in this driver
// an argument costs as much as the column it fills.
func finishLite(ctx context.Context, c *conn, rows []placedFinish, now string) (refused []int, err error) {
	err = c.execEach(ctx, "execution.finish", len(rows), func(i int) (string, []any) {
		f := &rows[i]
		if f.ExitCode != nil {
			return liteFinishCode, []any{
				text(f.StartTime), text(f.EndTime), f.Duration.Milliseconds(), textOrNull(f.Result), now,
				*f.ExitCode, string(f.Status), textOrNull(f.Reason), f.Progress, textOrNull(f.ErrorMessage),
				f.ID, f.NodeID, f.Epoch, f.Token,
			}
		}
		if f.Status == entity.StatusSuccess && f.Reason == "" && f.ErrorMessage == "" && f.Progress == 100 {
			return liteSucceed, []any{
				text(f.StartTime), text(f.EndTime), f.Duration.Milliseconds(), textOrNull(f.Result), now,
				f.ID, f.NodeID, f.Epoch, f.Token,
			}
		}
		return liteFinish, []any{
			text(f.StartTime), text(f.EndTime), f.Duration.Milliseconds(), textOrNull(f.Result), now,
			string(f.Status), textOrNull(f.Reason), f.Progress, textOrNull(f.ErrorMessage),
			f.ID, f.NodeID, f.Epoch, f.Token,
		}
	}, func(i int, found int64) error {
		if found == 0 {
			refused = append(refused, rows[i].place)
		}
		return nil
	})
	return refused, err
}

const (
	liteTimes = `UPDATE scheduler_job_execution SET start_time = COALESCE(?, start_time), end_time = ?, duration = ?, result = ?,
		update_time = ?, claim_key = NULL, `
	stillRunning = " WHERE id = ? AND status = 'RUNNING' AND node_id = ? AND epoch = ? AND token = ?"
	liteSucceed  = liteTimes + "status = 'SUCCESS', reason = NULL, progress = 100, error_message = NULL" + stillRunning
	liteFinish   = liteTimes + liteState + stillRunning
	// Only commands have an exit code.
	liteFinishCode = liteTimes + "exit_code = ?, " + liteState + stillRunning
	liteState      = "status = ?, reason = ?, progress = ?, error_message = ?"
)

// finishMySQL writes many rows in one statement, which tells only how many it
// found. A number that does not fit ends the transaction with errCareful.
func finishMySQL(ctx context.Context, c *conn, rows []placedFinish, now string) error {
	if len(rows) == 0 {
		return nil
	}
	v := newValueTable(len(rows), func(i int) any { return rows[i].ID })
	set := "t.status = " + v.expr(asIs, func(i int) any { return string(rows[i].Status) }) +
		", t.reason = " + v.expr(asIs, func(i int) any { return textOrNull(rows[i].Reason) }) +
		", t.start_time = COALESCE(" + v.expr(asTime, func(i int) any { return text(rows[i].StartTime) }) + ", t.start_time)" +
		", t.end_time = " + v.expr(asTime, func(i int) any { return text(rows[i].EndTime) }) +
		", t.duration = " + v.expr(asIs, func(i int) any { return rows[i].Duration.Milliseconds() }) +
		", t.progress = " + v.expr(asIs, func(i int) any { return rows[i].Progress }) +
		", t.error_message = " + v.expr(asIs, func(i int) any { return textOrNull(rows[i].ErrorMessage) }) +
		", t.result = " + v.expr(asIs, func(i int) any { return textOrNull(rows[i].Result) }) +
		", t.update_time = " + v.expr(asTime, func(int) any { return now }) + ", t.claim_key = NULL"
	if slices.ContainsFunc(rows, func(f placedFinish) bool { return f.ExitCode != nil }) {
		set += ", t.exit_code = " + v.expr(asInt, func(i int) any { return codeOrNull(rows[i].ExitCode) })
	}
	where := "t.status = 'RUNNING' AND t.node_id = " + v.expr(asIs, func(i int) any { return rows[i].NodeID }) +
		" AND t.epoch = " + v.expr(asIs, func(i int) any { return rows[i].Epoch }) +
		" AND t.token = " + v.expr(asIs, func(i int) any { return rows[i].Token })
	query, args := v.update(c.d, "scheduler_job_execution", set, where)
	n, err := c.exec(ctx, "execution.finish", query, args...)
	if err != nil {
		return err
	}
	if n != int64(len(rows)) {
		return errCareful
	}
	return nil
}

// stillHeld locks the rows and keeps those that are still the caller's.
func stillHeld(ctx context.Context, c *conn, rows []placedFinish) (held []placedFinish, refused []int, err error) {
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	type holder struct {
		status, node string
		epoch, token int64
	}
	holders := make(map[string]holder, len(rows))
	in, args := c.d.in("id", ids)
	_, err = collect(ctx, c, "execution.lock-holders", "SELECT id, status, node_id, epoch, token FROM scheduler_job_execution"+c.d.byPrimary+
		" WHERE "+in+" ORDER BY id"+c.d.forUpdate, args, func(r *sql.Rows) (id string, err error) {
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
			refused = append(refused, f.place)
		}
	}
	return held, refused, nil
}
