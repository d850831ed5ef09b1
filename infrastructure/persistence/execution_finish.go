package persistence

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
)

// Finish implements repository.ExecutionWriter.
func (w *executionWriter) Finish(ctx context.Context, rows []repository.Finish) (refused []string, err error) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b repository.Finish) int { return compare(a.ID, b.ID) })
	now := stampText(w.c.clock.Now())
	for i := range rows {
		if err := checkFinish(&rows[i]); err != nil {
			return nil, err
		}
	}
	for _, part := range chunks(rows, w.c.d.maxRows) {
		if w.c.d.lite() {
			no, err := w.c.finishLite(ctx, part, now)
			if err != nil {
				return nil, err
			}
			refused = append(refused, no...)
			continue
		}
		if w.c.careful {
			var no []string
			if part, no, err = w.c.stillHeld(ctx, part); err != nil {
				return nil, err
			}
			refused = append(refused, no...)
		}
		if err := w.c.finishMySQL(ctx, part, now); err != nil {
			return nil, err
		}
	}
	_ = failpoint.Hit(w.c.tx, "finished")
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

// finishLite writes row by row with one prepared statement.
func (c *conn) finishLite(ctx context.Context, rows []repository.Finish, now string) (refused []string, err error) {
	for i := range rows {
		f := &rows[i]
		n, err := c.exec(ctx, "execution.finish", `UPDATE scheduler_job_execution SET status = ?, reason = ?, start_time = COALESCE(?, start_time),
			end_time = ?, duration = ?, progress = ?, error_message = ?, result = ?, claim_key = NULL, update_time = ?
			WHERE id = ? AND status = 'RUNNING' AND node_id = ? AND epoch = ? AND token = ?`,
			string(f.Status), textOrNull(f.Reason), text(f.StartTime), text(f.EndTime), f.Duration.Milliseconds(), f.Progress,
			textOrNull(f.ErrorMessage), textOrNull(f.Result), now, f.ID, f.NodeID, f.Epoch, f.Token)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			refused = append(refused, f.ID)
		}
	}
	return refused, nil
}

// finishMySQL writes many rows in one statement. A guarded upsert says which
// rows were refused by nothing but their number, so a number that does not fit
// ends the transaction with errCareful; that also undoes a row which the
// upsert would have added for an id that is gone.
func (c *conn) finishMySQL(ctx context.Context, rows []repository.Finish, now string) error {
	if len(rows) == 0 {
		return nil
	}
	var b strings.Builder
	args := make([]any, 0, len(rows)*13)
	b.WriteString("UPDATE scheduler_job_execution e JOIN (")
	for i := range rows {
		f := &rows[i]
		if i == 0 {
			b.WriteString(`SELECT CAST(? AS CHAR(50) CHARACTER SET ascii) COLLATE ascii_bin AS id, ? AS st, ? AS rs, CAST(? AS DATETIME(3)) AS stt,
				CAST(? AS DATETIME(3)) AS ent, ? AS dur, ? AS prg, ? AS msg, ? AS res, ? AS nod, ? AS epo, ? AS tok`)
		} else {
			b.WriteString(" UNION ALL SELECT ?,?,?,?,?,?,?,?,?,?,?,?")
		}
		args = append(args, f.ID, string(f.Status), textOrNull(f.Reason), text(f.StartTime), text(f.EndTime), f.Duration.Milliseconds(), f.Progress,
			textOrNull(f.ErrorMessage), textOrNull(f.Result), f.NodeID, f.Epoch, f.Token)
	}
	b.WriteString(`) v ON v.id = e.id SET e.status = v.st, e.reason = v.rs, e.start_time = COALESCE(v.stt, e.start_time), e.end_time = v.ent,
		e.duration = v.dur, e.progress = v.prg, e.error_message = v.msg, e.result = v.res, e.claim_key = NULL, e.update_time = ?
		WHERE e.status = 'RUNNING' AND e.node_id = v.nod AND e.epoch = v.epo AND e.token = v.tok`)
	args = append(args, now)
	n, err := c.exec(ctx, "execution.finish", b.String(), args...)
	if err != nil {
		return err
	}
	if n != int64(len(rows)) {
		return errCareful
	}
	return nil
}

// stillHeld locks the rows and keeps those that are still the caller's.
func (c *conn) stillHeld(ctx context.Context, rows []repository.Finish) (held []repository.Finish, refused []string, err error) {
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
			refused = append(refused, f.ID)
		}
	}
	return held, refused, nil
}
