package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// LockMany implements repository.JobWriter.
func (w *jobWriter) LockMany(ctx context.Context, ids []string) ([]*entity.Job, error) {
	ids = sqlvalue.LockOrder(sqlvalue.OnlyASCIIIDs(ids))
	return sqldb.CollectIn(ctx, w.c, "job.lock-many", "SELECT "+jobColumns+" FROM scheduler_job_definition"+
		w.c.Dialect.ByPrimary+" WHERE {in} AND deleted = 0 ORDER BY id"+w.c.Dialect.SkipLocked, "id", ids,
		newJobReader(whole).scan)
}

const sqlitePause = `UPDATE scheduler_job_definition SET status = ?, next_fire_time = ?, due_time = ?, paused_at = ?, paused_by = ?, pause_note = ?,
	paused_until = ?, decided_until = ?, version = ?, update_time = ? WHERE id = ? AND deleted = 0`

// UpdateStates implements repository.JobWriter.
func (w *jobWriter) UpdateStates(ctx context.Context, jobs []*entity.Job) error {
	jobs = slices.Clone(jobs)
	slices.SortFunc(jobs, func(a, b *entity.Job) int { return strings.Compare(a.ID, b.ID) })
	rows := make([]*jobRow, len(jobs))
	for i, j := range jobs {
		var err error
		if rows[i], err = toJobRow(j, false); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if err := updateStates(ctx, w.c, part); err != nil {
			return err
		}
	}
	return w.keepVersions(ctx, jobs)
}

func updateStates(ctx context.Context, c *sqldb.Conn, rows []*jobRow) error {
	at := sqlvalue.TimeArg
	if c.Dialect.IsSQLite() {
		return c.ExecEach(ctx, "job.states", len(rows), func(i int) (string, []any) {
			r := rows[i]
			return sqlitePause, []any{
				string(r.Status), at(r.NextFireTime), at(r.DueTime), at(r.PausedAt), string(r.PausedBy), r.pauseNote,
				at(r.Pause.Until), at(r.DecidedUntil), r.Version, at(r.UpdateTime), r.ID,
			}
		}, func(i int, found int64) error {
			if found != 1 {
				return fmt.Errorf("job.states: job %s is gone although it was locked", rows[i].ID)
			}
			return nil
		})
	}
	v := bulk.NewUpdate(len(rows), func(i int) any { return rows[i].ID })
	set := "t.status = " + v.Expr(bulk.AsIs, func(i int) any { return string(rows[i].Status) }) +
		", t.next_fire_time = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].NextFireTime) }) +
		", t.due_time = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].DueTime) }) +
		", t.paused_at = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].PausedAt) }) +
		", t.paused_by = " + v.Expr(bulk.AsIs, func(i int) any { return string(rows[i].PausedBy) }) +
		", t.pause_note = " + v.Expr(bulk.AsNote, func(i int) any { return rows[i].pauseNote }) +
		", t.paused_until = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].Pause.Until) }) +
		", t.decided_until = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].DecidedUntil) }) +
		", t.version = " + v.Expr(bulk.AsIs, func(i int) any { return rows[i].Version }) +
		", t.update_time = " + v.Expr(bulk.AsTime, func(i int) any { return at(rows[i].UpdateTime) })
	query, args := v.Statement(c.Dialect, "scheduler_job_definition", set, "t.deleted = 0")
	n, err := c.Exec(ctx, "job.states", query, args...)
	if err != nil {
		return err
	}
	if n != int64(len(rows)) {
		return fmt.Errorf("job.states: %d of %d jobs are gone although they were locked", int64(len(rows))-n, len(rows))
	}
	return nil
}

// JobPausesOver implements repository.JobPlanReader.
func (r *Plans) JobPausesOver(ctx context.Context, at time.Time, limit int) ([]string, error) {
	return sqldb.Collect(ctx, r.c, "job.pauses-over",
		"SELECT id FROM scheduler_job_definition WHERE paused_until <= ? AND deleted = 0 ORDER BY paused_until, id LIMIT ?",
		[]any{sqlvalue.TimeArg(at), limit}, sqlvalue.ScanText)
}
