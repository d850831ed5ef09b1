package persistence

import (
	"context"
	"database/sql"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// liveFireWriter implements repository.LiveFireWriter. It takes no locks of its
// own: the caller holds the job's.
type liveFireWriter struct{ c *conn }

const (
	selectLiveFires = "SELECT job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time FROM scheduler_live_fire"
	// selectSomeFires is the beginning of selectLiveFires for the table under the name t.
	selectSomeFires = "SELECT t.job_id, t.fire_key, t.active, t.remaining, t.seq, t.scheduled, t.job_version, t.create_time"
)

func scanLiveFire(rows *sql.Rows) (f entity.LiveFire, err error) {
	var created stamp
	_, err = scanRow(rows, &f.JobID, &f.FireKey, &f.Active, &f.Remaining, &f.Seq, &f.Scheduled, &f.JobVersion, &created)
	f.CreateTime = created.time()
	return f, err
}

// Some implements repository.LiveFireWriter.
func (w *liveFireWriter) Some(ctx context.Context, fires []entity.LiveFire) ([]entity.LiveFire, error) {
	var out []entity.LiveFire
	for _, part := range chunks(byKey(fires), w.c.d.maxRows) {
		query, args := selectLiveFires+" WHERE (job_id, fire_key) IN (VALUES "+tuples(2, len(part))+")", keysOf(part)
		if !w.c.d.lite() {
			query, args = atKeys(w.c.d, selectSomeFires, "scheduler_live_fire", part)
		}
		found, err := collect(ctx, w.c, "live-fire.some", query, args, scanLiveFire)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// keysOf are the arguments that name fires.
func keysOf(fires []entity.LiveFire) []any {
	args := make([]any, 0, len(fires)*2)
	for _, f := range fires {
		args = append(args, f.JobID, f.FireKey)
	}
	return args
}

// atKeys renders "what FROM table t" for the rows of some fires, each found by
// its primary key: with a long list of pairs the optimizer would read all fires
// of a job, and compare each with every pair.
func atKeys(d *dialect, what, table string, fires []entity.LiveFire) (string, []any) {
	if len(fires) == 1 {
		return what + " FROM " + table + " t" + d.byPrimary + " WHERE t.job_id = ? AND t.fire_key = ?", keysOf(fires)
	}
	v := newValueTable(len(fires), func(i int) any { return fires[i].JobID })
	v.add(asKey, func(i int) any { return fires[i].FireKey })
	derived, args := v.derived(d)
	return what + " FROM " + derived + " STRAIGHT_JOIN " + table + " t" + d.byPrimary + " ON v.c0 = t.job_id AND v.c1 = t.fire_key", args
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
	return deleteFires(ctx, w.c, "live-fire.delete", "scheduler_live_fire", fires)
}

// deleteFires deletes what a table holds of the fires.
func deleteFires(ctx context.Context, c *conn, name, table string, fires []entity.LiveFire) error {
	if c.d.lite() {
		for _, f := range fires {
			if _, err := c.exec(ctx, name, "DELETE FROM "+table+" WHERE job_id = ? AND fire_key = ?", f.JobID, f.FireKey); err != nil {
				return err
			}
		}
		return nil
	}
	for _, part := range chunks(byKey(fires), c.d.maxRows) {
		query, args := atKeys(c.d, "DELETE t", table, part)
		if _, err := c.exec(ctx, name, query, args...); err != nil {
			return err
		}
	}
	return nil
}
