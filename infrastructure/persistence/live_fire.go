package persistence

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// liveFireWriter implements repository.LiveFireWriter. It takes no locks of its
// own: the caller holds the job's.
type liveFireWriter struct{ c *conn }

const selectLiveFires = "SELECT job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time FROM scheduler_live_fire"

func scanLiveFire(rows *sql.Rows) (f entity.LiveFire, err error) {
	var created stamp
	err = rows.Scan(&f.JobID, &f.FireKey, &f.Active, &f.Remaining, &f.Seq, &f.Scheduled, &f.JobVersion, &created)
	f.CreateTime = created.time()
	return f, err
}

// OfJobs implements repository.LiveFireWriter.
func (w *liveFireWriter) OfJobs(ctx context.Context, jobIDs []string) ([]entity.LiveFire, error) {
	var out []entity.LiveFire
	for _, part := range chunks(sorted(jobIDs), w.c.d.maxRows) {
		in, args := w.c.d.in("job_id", part)
		fires, err := collect(ctx, w.c, "live-fire.of-jobs", selectLiveFires+" WHERE "+in+" ORDER BY job_id, seq, fire_key", args, scanLiveFire)
		if err != nil {
			return nil, err
		}
		out = append(out, fires...)
	}
	return out, nil
}

// Some implements repository.LiveFireWriter.
func (w *liveFireWriter) Some(ctx context.Context, fires []entity.LiveFire) ([]entity.LiveFire, error) {
	var out []entity.LiveFire
	for _, part := range chunks(byKey(fires), w.c.d.maxRows) {
		args := make([]any, 0, len(part)*2)
		for _, f := range part {
			args = append(args, f.JobID, f.FireKey)
		}
		values := tuples(2, len(part))
		if w.c.d.lite() {
			values = "VALUES " + values
		}
		found, err := collect(ctx, w.c, "live-fire.some", selectLiveFires+" WHERE (job_id, fire_key) IN ("+values+")", args, scanLiveFire)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// byKey is the order in which live fires are written.
func byKey(fires []entity.LiveFire) []entity.LiveFire {
	fires = slices.Clone(fires)
	slices.SortFunc(fires, func(a, b entity.LiveFire) int {
		if c := compare(a.JobID, b.JobID); c != 0 {
			return c
		}
		return compare(a.FireKey, b.FireKey)
	})
	return fires
}

// Insert implements repository.LiveFireWriter.
func (w *liveFireWriter) Insert(ctx context.Context, fires []entity.LiveFire) error {
	for _, part := range chunks(byKey(fires), w.c.d.maxRows) {
		args := make([]any, 0, len(part)*8)
		for _, f := range part {
			args = append(args, f.JobID, f.FireKey, flag(f.Active), f.Remaining, f.Seq, flag(f.Scheduled), f.JobVersion, text(f.CreateTime))
		}
		_, err := w.c.exec(ctx, "live-fire.insert", `INSERT INTO scheduler_live_fire
			(job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time) VALUES `+tuples(8, len(part)), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Update implements repository.LiveFireWriter. The upsert never inserts: the
// rows exist, because the caller read them under the job's lock.
func (w *liveFireWriter) Update(ctx context.Context, fires []entity.LiveFire) error {
	if !w.c.d.lite() && len(fires) > 1 {
		return w.upsert(ctx, byKey(fires))
	}
	for _, f := range byKey(fires) {
		_, err := w.c.exec(ctx, "live-fire.update", "UPDATE scheduler_live_fire SET active = ?, remaining = ? WHERE job_id = ? AND fire_key = ?",
			flag(f.Active), f.Remaining, f.JobID, f.FireKey)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *liveFireWriter) upsert(ctx context.Context, fires []entity.LiveFire) error {
	for _, part := range chunks(fires, w.c.d.maxRows) {
		args := make([]any, 0, len(part)*8)
		for _, f := range part {
			args = append(args, f.JobID, f.FireKey, flag(f.Active), f.Remaining, f.Seq, flag(f.Scheduled), f.JobVersion, text(f.CreateTime))
		}
		_, err := w.c.exec(ctx, "live-fire.update", `INSERT INTO scheduler_live_fire
			(job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time) VALUES `+tuples(8, len(part))+
			" ON DUPLICATE KEY UPDATE active = VALUES(active), remaining = VALUES(remaining)", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete implements repository.LiveFireWriter.
func (w *liveFireWriter) Delete(ctx context.Context, fires []entity.LiveFire) error {
	return w.c.deleteFires(ctx, "live-fire.delete", "scheduler_live_fire", fires)
}

// deleteFires deletes what a table holds of the fires.
func (c *conn) deleteFires(ctx context.Context, name, table string, fires []entity.LiveFire) error {
	if c.d.lite() {
		for _, f := range fires {
			if _, err := c.exec(ctx, name, "DELETE FROM "+table+" WHERE job_id = ? AND fire_key = ?", f.JobID, f.FireKey); err != nil {
				return err
			}
		}
		return nil
	}
	for _, part := range chunks(byKey(fires), c.d.maxRows) {
		args := make([]any, 0, len(part)*2)
		for _, f := range part {
			args = append(args, f.JobID, f.FireKey)
		}
		_, err := c.exec(ctx, name, "DELETE FROM "+table+" WHERE (job_id, fire_key) IN ("+tuples(2, len(part))+")", args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// clockSlack covers the distance between the clocks of nodes that write rows
// of one fire.
const clockSlack = 10 * time.Minute

// RowsOf implements repository.LiveFireWriter. A job may have millions of
// runs and no index tells the live ones apart, so the search is bounded by
// what ids begin with: the nominal time of a planned or backfilled run, the
// creation of any other, which is no earlier than the live fire's.
func (w *liveFireWriter) RowsOf(ctx context.Context, jobID, fireKey string) ([]*entity.Execution, error) {
	where := " WHERE job_id = ? AND fire_key = ? AND claim_key IS NOT NULL AND status IN ('WAITING', 'RUNNING')"
	args := []any{jobID, fireKey}
	fires, err := collect(ctx, w.c, "live-fire.get", selectLiveFires+" WHERE job_id = ? AND fire_key = ?", []any{jobID, fireKey}, scanLiveFire)
	if err != nil {
		return nil, err
	}
	if len(fires) == 1 {
		created := identity.FloorID(fires[0].CreateTime.Add(-clockSlack))
		if nominal, ok := identity.NominalOf(fireKey); ok {
			where += " AND (id >= ? OR (id >= ? AND id < ?))"
			args = append(args, created, identity.FloorID(nominal), identity.FloorID(nominal.Add(time.Millisecond)))
		} else {
			where += " AND id >= ?"
			args = append(args, created)
		}
	}
	return collect(ctx, w.c, "live-fire.rows", selectExecutions+w.c.d.byJob+where+" ORDER BY id"+w.c.d.forUpdate, args, scanExecution)
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tuples is n bracketed lists of width question marks.
func tuples(width, n int) string {
	mark := "(" + marks(width) + ")"
	return strings.Repeat(mark+",", n-1) + mark
}
