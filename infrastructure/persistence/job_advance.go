package persistence

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// Advance implements repository.JobWriter.
func (w *jobWriter) Advance(ctx context.Context, moves []repository.JobAdvance) error {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b repository.JobAdvance) int { return compare(a.ID, b.ID) })
	for i := range moves {
		if err := checkAdvance(&moves[i]); err != nil {
			return err
		}
	}
	for _, part := range chunks(moves, w.c.d.maxRows) {
		if err := advance(ctx, w.c, part); err != nil {
			return err
		}
	}
	_ = failpoint.Hit(w.c.tx, "advanced")
	return nil
}

const liteAdvance = `UPDATE scheduler_job_definition SET next_fire_time = ?, due_time = ?,
	last_fire_time = COALESCE(?, last_fire_time), status = ?, fence_seq = ? WHERE id = ? AND deleted = 0`

// advance moves cursors: one joined statement on MySQL, a prepared statement a
// row on SQLite, each the fastest form there (see the ADR).
func advance(ctx context.Context, c *conn, moves []repository.JobAdvance) error {
	if c.d.lite() {
		return c.execEach(ctx, "job.advance", len(moves), func(i int) (string, []any) {
			m := &moves[i]
			return liteAdvance, []any{text(m.NextFireTime), dueText(*m), text(m.LastFireTime), string(m.Status), m.FenceSeq, m.ID}
		}, func(i int, found int64) error {
			if found != 1 {
				return fmt.Errorf("job.advance: job %s is gone although it was locked", moves[i].ID)
			}
			return nil
		})
	}
	v := newValueTable(len(moves), func(i int) any { return moves[i].ID })
	set := cursor(v, func(i int) repository.JobAdvance { return moves[i] }) +
		", t.fence_seq = " + v.expr(asIs, func(i int) any { return moves[i].FenceSeq })
	query, args := v.update(c.d, "scheduler_job_definition", set, "t.deleted = 0")
	n, err := c.exec(ctx, "job.advance", query, args...)
	if err != nil {
		return err
	}
	if n != int64(len(moves)) {
		return fmt.Errorf("job.advance: %d of %d jobs are gone although they were locked", int64(len(moves))-n, len(moves))
	}
	return nil
}

// cursor renders the assignments of what both advance and Move write.
func cursor(t *valueTable, of func(i int) repository.JobAdvance) string {
	return "t.next_fire_time = " + t.expr(asTime, func(i int) any { return text(of(i).NextFireTime) }) +
		", t.due_time = " + t.expr(asTime, func(i int) any { return dueText(of(i)) }) +
		", t.last_fire_time = COALESCE(" + t.expr(asTime, func(i int) any { return text(of(i).LastFireTime) }) + ", t.last_fire_time)" +
		", t.status = " + t.expr(asIs, func(i int) any { return string(of(i).Status) })
}

func checkAdvance(m *repository.JobAdvance) error {
	if !storable(m.NextFireTime) || !storable(m.DueTime) || !storable(m.LastFireTime) {
		return &repository.PoisonError{Err: fmt.Errorf("job %s would advance to a year outside 1000 to 9999", m.ID)}
	}
	return nil
}

// dueText keeps the due time NULL for jobs that must not be planned.
func dueText(m repository.JobAdvance) any {
	if m.Status != entity.JobEnabled {
		return nil
	}
	return text(m.DueTime)
}
