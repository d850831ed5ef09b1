package job

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Move implements repository.JobWriter: lock, check and advance are one
// conditional update. SQLite does it row by row and learns of each; MySQL does
// it for all rows at once and learns how many it found. Where that is not all
// of them, or others hold one, the transaction begins again, and looks before it
// writes.
func (w *jobWriter) Move(ctx context.Context,
	moves []repository.JobMove,
) (moved map[string]bool, locked []string, err error) {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b repository.JobMove) int { return strings.Compare(a.ID, b.ID) })
	for i := range moves {
		if err := checkAdvance(&moves[i].JobAdvance); err != nil {
			return nil, nil, err
		}
	}
	moved = make(map[string]bool, len(moves))
	if !w.c.Dialect.IsSQLite() && w.c.VerifyFirst {
		locked, err = w.moveFree(ctx, moves, moved)
		w.c.LocksMet = w.c.LocksMet || len(locked) > 0
		return moved, locked, err
	}
	_ = failpoint.Hit(w.c.Transaction, "locked")
	if w.c.Dialect.IsSQLite() {
		err = moveSQLite(ctx, w.c, moves, moved)
	} else {
		err = moveMySQL(ctx, w.c, moves, moved)
	}
	_ = failpoint.Hit(w.c.Transaction, "advanced")
	return moved, nil, err
}

// The cursor of a job that no longer exists, or is of another version, stays.
const sqliteMove = sqliteCursor + `
	WHERE id = ? AND next_fire_time = ? AND version = ? AND status = 'ENABLED' AND deleted = 0`

func moveSQLite(ctx context.Context, c *sqldb.Conn, moves []repository.JobMove, moved map[string]bool) error {
	return c.ExecEach(ctx, "job.move", len(moves), func(i int) (string, []any) {
		m := &moves[i]
		return sqliteCursorOf(sqliteMove, &m.JobAdvance, m.ID, sqlvalue.TimeArg(m.From), m.Version)
	}, func(i int, found int64) error {
		if found == 1 {
			moved[moves[i].ID] = true
		}
		return nil
	})
}

// moveMySQL moves all of the jobs, or ends the transaction with ErrVerifyFirst. A
// job that stands twice in the list is found once, and so ends it too.
func moveMySQL(ctx context.Context, c *sqldb.Conn, moves []repository.JobMove, moved map[string]bool) error {
	for part := range slices.Chunk(moves, c.Dialect.MaxRows) {
		v := bulk.NewUpdate(len(part), func(i int) any { return part[i].ID })
		set := cursorColumn(v, len(part), func(i int) repository.JobAdvance { return part[i].JobAdvance })
		where := "t.deleted = 0 AND t.status = 'ENABLED' AND t.next_fire_time = " + v.Expr(bulk.AsTime, func(i int) any {
			return sqlvalue.TimeArg(part[i].From)
		}) +
			" AND t.version = " + v.Expr(bulk.AsIs, func(i int) any { return part[i].Version })
		query, args := v.Statement(c.Dialect, "scheduler_job_definition", set, where)
		found, err := c.Exec(ctx, "job.move", c.Dialect.NoWait+query, args...)
		if c.Dialect.LockWait(err) {
			c.LocksMet = true
			return sqldb.ErrVerifyFirst
		}
		if err != nil {
			return err
		}
		if found != int64(len(part)) {
			return sqldb.ErrVerifyFirst
		}
		for i := range part {
			moved[part[i].ID] = true
		}
	}
	return nil
}

// moveFree moves those of the jobs that nobody else has locked.
func (w *jobWriter) moveFree(ctx context.Context, moves []repository.JobMove,
	moved map[string]bool,
) (locked []string, err error) {
	ids := make([]string, len(moves))
	for i := range moves {
		ids[i] = moves[i].ID
	}
	heads, locked, err := w.TryLock(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*repository.JobHead, len(heads))
	for i := range heads {
		byID[heads[i].ID] = &heads[i]
	}
	var advances []repository.JobAdvance
	for i := range moves {
		m := &moves[i]
		head := byID[m.ID]
		if head == nil || head.Status != entity.JobEnabled || head.Version != m.Version || !head.NextFireTime.Equal(m.From) {
			continue
		}
		m.FenceSeq = head.FenceSeq
		advances = append(advances, m.JobAdvance)
		moved[m.ID] = true
	}
	if len(advances) == 0 {
		return locked, nil
	}
	return locked, w.Advance(ctx, advances)
}
