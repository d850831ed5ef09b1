package persistence

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func compare(a, b string) int { return cmp.Compare(a, b) }

// advance moves cursors: one joined statement on MySQL, a prepared statement a
// row on SQLite, each the fastest form there (see the ADR).
func (c *conn) advance(ctx context.Context, moves []repository.JobAdvance) error {
	if c.d.lite() {
		for _, m := range moves {
			n, err := c.exec(ctx, "job.advance", `UPDATE scheduler_job_definition SET next_fire_time = ?, due_time = ?,
				last_fire_time = COALESCE(?, last_fire_time), status = ?, fence_seq = ? WHERE id = ? AND deleted = 0`,
				text(m.NextFireTime), dueText(m), text(m.LastFireTime), string(m.Status), m.FenceSeq, m.ID)
			if err != nil {
				return err
			}
			if n != 1 {
				return fmt.Errorf("job.advance: job %s is gone although it was locked", m.ID)
			}
		}
		return nil
	}
	var b strings.Builder
	args := make([]any, 0, len(moves)*6)
	b.WriteString("UPDATE scheduler_job_definition j JOIN (")
	for i, m := range moves {
		if i == 0 {
			// The first row gives the columns their types; without the
			// casts the key would be compared in another character set.
			b.WriteString("SELECT CAST(? AS CHAR(50) CHARACTER SET ascii) COLLATE ascii_bin AS id, CAST(? AS DATETIME(3)) AS nft, CAST(? AS DATETIME(3)) AS due, CAST(? AS DATETIME(3)) AS lft, ? AS st, ? AS fence")
		} else {
			b.WriteString(" UNION ALL SELECT ?,?,?,?,?,?")
		}
		args = append(args, m.ID, text(m.NextFireTime), dueText(m), text(m.LastFireTime), string(m.Status), m.FenceSeq)
	}
	b.WriteString(`) v ON v.id = j.id SET j.next_fire_time = v.nft, j.due_time = v.due,
		j.last_fire_time = COALESCE(v.lft, j.last_fire_time), j.status = v.st, j.fence_seq = v.fence WHERE j.deleted = 0`)
	n, err := c.exec(ctx, "job.advance", b.String(), args...)
	if err != nil {
		return err
	}
	if n != int64(len(moves)) {
		return fmt.Errorf("job.advance: %d of %d jobs are gone although they were locked", int64(len(moves))-n, len(moves))
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
