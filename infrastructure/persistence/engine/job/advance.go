package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Advance implements repository.JobWriter.
func (w *jobWriter) Advance(ctx context.Context, moves []repository.JobAdvance) error {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b repository.JobAdvance) int { return strings.Compare(a.ID, b.ID) })
	for i := range moves {
		if err := checkAdvance(&moves[i]); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(moves, w.c.Dialect.MaxRows) {
		if err := advanceJobs(ctx, w.c, part); err != nil {
			return err
		}
	}
	_ = failpoint.Hit(w.c.Transaction, "advanced")
	return nil
}

const sqliteAdvance = sqliteCursor + `, fence_seq = ? WHERE id = ? AND deleted = 0`

// sqliteCursor assigns what both Advance and Move write.
const sqliteCursor = `UPDATE scheduler_job_definition SET next_fire_time = ?, due_time = ?, last_fire_time = COALESCE(?, last_fire_time), status = ?`

// sqliteCursorOf is a statement that begins with sqliteCursor, and its arguments. Only a move that ends with a range
// writes until when it decides: a plain fire costs nothing more.
func sqliteCursorOf(statement string, m *repository.JobAdvance, rest ...any) (query string, args []any) {
	args = append(args, sqlvalue.TimeArg(m.NextFireTime), dueText(*m), sqlvalue.TimeArg(m.LastFireTime), string(m.Status))
	if !m.DecidedUntil.IsZero() {
		statement = sqliteCursor + ", decided_until = ?" + strings.TrimPrefix(statement, sqliteCursor)
		args = append(args, sqlvalue.TimeArg(m.DecidedUntil))
	}
	return statement, append(args, rest...)
}

// advanceJobs moves cursors: one joined statement on MySQL, a prepared statement a
// row on SQLite, each the fastest form there (see the ADR).
func advanceJobs(ctx context.Context, c *sqldb.Conn, moves []repository.JobAdvance) error {
	if c.Dialect.IsSQLite() {
		return c.ExecEach(ctx, "job.advance", len(moves), func(i int) (string, []any) {
			return sqliteCursorOf(sqliteAdvance, &moves[i], moves[i].FenceSeq, moves[i].ID)
		}, func(i int, found int64) error {
			if found != 1 {
				return fmt.Errorf("job.advance: job %s is gone although it was locked", moves[i].ID)
			}
			return nil
		})
	}
	v := bulk.NewUpdate(len(moves), func(i int) any { return moves[i].ID })
	set := cursorColumn(v, len(moves), func(i int) repository.JobAdvance { return moves[i] }) +
		", t.fence_seq = " + v.Expr(bulk.AsIs, func(i int) any { return moves[i].FenceSeq })
	query, args := v.Statement(c.Dialect, "scheduler_job_definition", set, "t.deleted = 0")
	n, err := c.Exec(ctx, "job.advance", query, args...)
	if err != nil {
		return err
	}
	if n != int64(len(moves)) {
		return fmt.Errorf("job.advance: %d of %d jobs are gone although they were locked", int64(len(moves))-n, len(moves))
	}
	return nil
}

// cursorColumn renders the assignments of what both advance and Move write.
func cursorColumn(t *bulk.Update, rows int, of func(i int) repository.JobAdvance) string {
	set := "t.next_fire_time = " + t.Expr(bulk.AsTime, func(i int) any { return sqlvalue.TimeArg(of(i).NextFireTime) }) +
		", t.due_time = " + t.Expr(bulk.AsTime, func(i int) any { return dueText(of(i)) }) +
		", t.last_fire_time = COALESCE(" + t.Expr(bulk.AsTime, func(i int) any {
		return sqlvalue.TimeArg(of(i).LastFireTime)
	}) + ", t.last_fire_time)" +
		", t.status = " + t.Expr(bulk.AsIs, func(i int) any { return string(of(i).Status) })
	for i := range rows {
		if !of(i).DecidedUntil.IsZero() {
			return set + ", t.decided_until = COALESCE(" + t.Expr(bulk.AsTime, func(i int) any {
				return sqlvalue.TimeArg(of(i).DecidedUntil)
			}) + ", t.decided_until)"
		}
	}
	return set
}

func checkAdvance(m *repository.JobAdvance) error {
	if !sqlvalue.StorableTime(m.NextFireTime) || !sqlvalue.StorableTime(m.DueTime) ||
		!sqlvalue.StorableTime(m.LastFireTime) || !sqlvalue.StorableTime(m.DecidedUntil) {
		return &repository.PoisonError{Err: fmt.Errorf("job %s would advance to a year outside 1000 to 9999", m.ID)}
	}
	return nil
}

// dueText keeps the due time NULL for jobs that must not be planned.
func dueText(m repository.JobAdvance) any {
	if m.Status != entity.JobEnabled {
		return nil
	}
	return sqlvalue.TimeArg(m.DueTime)
}
