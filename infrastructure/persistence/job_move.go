package persistence

import (
	"context"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
)

// Move implements repository.JobWriter. SQLite's only writer holds every lock
// from the beginning, so that one conditional update a row is lock, check and
// advance; MySQL locks all rows in one statement and moves them in a second.
func (w *jobWriter) Move(ctx context.Context, moves []repository.JobMove) (moved map[string]bool, err error) {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b repository.JobMove) int { return compare(a.ID, b.ID) })
	for i := range moves {
		if err := checkAdvance(&moves[i].JobAdvance); err != nil {
			return nil, err
		}
	}
	moved = make(map[string]bool, len(moves))
	if w.c.d.lite() {
		_ = failpoint.Hit(w.c.tx, "locked")
		err = w.c.moveLite(ctx, moves, moved)
		_ = failpoint.Hit(w.c.tx, "advanced")
		return moved, err
	}
	return moved, w.moveLocked(ctx, moves, moved)
}

// The cursor of a job that no longer exists, or is of another version, stays.
const liteMove = `UPDATE scheduler_job_definition SET next_fire_time = ?, due_time = ?, last_fire_time = COALESCE(?, last_fire_time), status = ?
	WHERE id = ? AND next_fire_time = ? AND version = ? AND status = 'ENABLED' AND deleted = 0`

func (c *conn) moveLite(ctx context.Context, moves []repository.JobMove, moved map[string]bool) error {
	return c.execEach(ctx, "job.move", len(moves), func(i int) (string, []any) {
		m := &moves[i]
		return liteMove, []any{
			text(m.NextFireTime), dueText(m.JobAdvance), text(m.LastFireTime), string(m.Status), m.ID, text(m.From), m.Version,
		}
	}, func(i int, found int64) error {
		if found == 1 {
			moved[moves[i].ID] = true
		}
		return nil
	})
}

func (w *jobWriter) moveLocked(ctx context.Context, moves []repository.JobMove, moved map[string]bool) error {
	ids := make([]string, len(moves))
	for i := range moves {
		ids[i] = moves[i].ID
	}
	heads, err := w.Lock(ctx, ids)
	if err != nil {
		return err
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
		return nil
	}
	return w.Advance(ctx, advances)
}
