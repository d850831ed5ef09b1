// Package inflight keeps the fires that wait or run.
package inflight

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// writer implements repository.InFlightFireWriter. It takes no locks of its
// own: the caller holds the job's.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.InFlightFireWriter { return &writer{c} }

const (
	selectFires = "SELECT job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time FROM " +
		"scheduler_live_fire"
	// selectSomeFires is the beginning of selectFires for the table under the name t.
	selectSomeFires = "SELECT t.job_id, t.fire_key, t.active, t.remaining, t.seq, t.scheduled, t.job_version, " +
		"t.create_time"
)

func scan(rows *sql.Rows) (f entity.InFlightFire, err error) {
	var created sqlvalue.DBTime
	_, err = sqlvalue.ScanRow(rows, &f.JobID, &f.FireKey, &f.Active, &f.Remaining, &f.Seq, &f.Scheduled, &f.JobVersion,
		&created)
	f.CreateTime = created.Time()
	return f, err
}

// Some implements repository.InFlightFireWriter.
func (w *writer) Some(ctx context.Context, fires []entity.InFlightFire) ([]entity.InFlightFire, error) {
	var out []entity.InFlightFire
	for part := range slices.Chunk(byKey(fires), w.c.Dialect.MaxRows) {
		query, args := selectFires+" WHERE (job_id, fire_key) IN (VALUES "+bulk.Tuples(2, len(part))+")", keysOf(part)
		if !w.c.Dialect.IsSQLite() {
			query, args = atKeys(w.c.Dialect, selectSomeFires, "scheduler_live_fire", part)
		}
		found, err := sqldb.Collect(ctx, w.c, "live-fire.some", query, args, scan)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// keysOf are the arguments that name fires.
func keysOf(fires []entity.InFlightFire) []any {
	args := make([]any, 0, len(fires)*2)
	for _, f := range fires {
		args = append(args, f.JobID, f.FireKey)
	}
	return args
}

// atKeys renders "what FROM table t" for the rows of some fires, each found by
// its primary key: with a long list of pairs the optimizer would read all fires
// of a job, and compare each with every pair.
func atKeys(d *dialect.Dialect, what, table string, fires []entity.InFlightFire) (string, []any) {
	if len(fires) == 1 {
		return what + " FROM " + table + " t" + d.ByPrimary + " WHERE t.job_id = ? AND t.fire_key = ?", keysOf(fires)
	}
	v := bulk.NewUpdate(len(fires), func(i int) any { return fires[i].JobID })
	v.Add(bulk.AsKey, func(i int) any { return fires[i].FireKey })
	derived, args := v.Derived(d)
	return what + " FROM " + derived + " STRAIGHT_JOIN " + table + " t" + d.ByPrimary + " ON v.c0 = t.job_id AND v.c1 = " +
		"t.fire_key", args
}

// byKey is the order in which live fires are written.
func byKey(fires []entity.InFlightFire) []entity.InFlightFire {
	fires = slices.Clone(fires)
	slices.SortFunc(fires, func(a, b entity.InFlightFire) int {
		if c := strings.Compare(a.JobID, b.JobID); c != 0 {
			return c
		}
		return strings.Compare(a.FireKey, b.FireKey)
	})
	return fires
}

// Insert implements repository.InFlightFireWriter.
func (w *writer) Insert(ctx context.Context, fires []entity.InFlightFire) error {
	return w.put(ctx, "live-fire.insert", fires, "")
}

// put inserts fires; suffix says what happens to those that exist.
func (w *writer) put(ctx context.Context, name string, fires []entity.InFlightFire, suffix string) error {
	for part := range slices.Chunk(byKey(fires), w.c.Dialect.MaxRows) {
		args := make([]any, 0, len(part)*8)
		for _, f := range part {
			args = append(args, f.JobID, f.FireKey, sqlvalue.Flag(f.Active), f.Remaining, f.Seq, sqlvalue.Flag(f.Scheduled),
				f.JobVersion, sqlvalue.TimeArg(f.CreateTime))
		}
		_, err := w.c.Exec(ctx, name, `INSERT INTO scheduler_live_fire
			(job_id, fire_key, active, remaining, seq, scheduled, job_version, create_time) VALUES `+
			bulk.Tuples(8, len(part))+suffix, args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Update implements repository.InFlightFireWriter. The upsert never inserts: the
// rows exist, because the caller read them under the job's lock.
func (w *writer) Update(ctx context.Context, fires []entity.InFlightFire) error {
	if !w.c.Dialect.IsSQLite() && len(fires) > 1 {
		return w.put(ctx, "live-fire.update", fires,
			w.c.Dialect.OnDuplicateSet("job_id, fire_key", "active", "remaining"))
	}
	for _, f := range byKey(fires) {
		_, err := w.c.Exec(ctx, "live-fire.update",
			"UPDATE scheduler_live_fire SET active = ?, remaining = ? WHERE job_id = ? AND fire_key = ?",
			sqlvalue.Flag(f.Active), f.Remaining, f.JobID, f.FireKey)
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete implements repository.InFlightFireWriter.
func (w *writer) Delete(ctx context.Context, fires []entity.InFlightFire) error {
	return Delete(ctx, w.c, "live-fire.delete", "scheduler_live_fire", fires)
}

// Delete deletes what a table holds of the fires.
func Delete(ctx context.Context, c *sqldb.Conn, name, table string, fires []entity.InFlightFire) error {
	if c.Dialect.IsSQLite() {
		for _, f := range fires {
			if _, err := c.Exec(ctx, name, "DELETE FROM "+table+" WHERE job_id = ? AND fire_key = ?", f.JobID,
				f.FireKey); err != nil {
				return err
			}
		}
		return nil
	}
	for part := range slices.Chunk(byKey(fires), c.Dialect.MaxRows) {
		query, args := atKeys(c.Dialect, "DELETE t", table, part)
		if _, err := c.Exec(ctx, name, query, args...); err != nil {
			return err
		}
	}
	return nil
}
