package monitoring

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/bulk"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/owner"
)

// Baselines implements repository.StatisticsWriter.
func (w *writer) Baselines(ctx context.Context, jobs []repository.BinaryID) (
	map[repository.BinaryID]repository.StoredBaseline, error,
) {
	return baselines(ctx, w.c, jobs, w.c.Dialect.ForUpdate)
}

// BaselinesOf implements repository.BaselineReader.
func (r *Reader) BaselinesOf(ctx context.Context, jobs []repository.BinaryID) (
	map[repository.BinaryID]repository.StoredBaseline, error,
) {
	return baselines(ctx, r.c, jobs, "")
}

func baselines(ctx context.Context, c *sqldb.Conn, jobs []repository.BinaryID, lock string) (
	map[repository.BinaryID]repository.StoredBaseline, error,
) {
	out := make(map[repository.BinaryID]repository.StoredBaseline, len(jobs))
	for part := range slices.Chunk(jobs, c.Dialect.MaxRows) {
		in, args := inBytes(c.Dialect, "job_id", part, bytesOfID)
		_, err := sqldb.Collect(ctx, c, "baseline.read",
			"SELECT job_id, data, fold_seq FROM scheduler_job_baseline WHERE "+in+lock, args,
			func(rows *sql.Rows) (b repository.StoredBaseline, err error) {
				err = rows.Scan(scanID(&b.Job), &b.Data, &b.FoldSeq)
				out[b.Job] = b
				return b, err
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PutBaselines implements repository.StatisticsWriter.
func (w *writer) PutBaselines(ctx context.Context, baselines []repository.StoredBaseline) error {
	return bulk.Insert(ctx, w.c, "baseline.put", "scheduler_job_baseline (job_id, data, fold_seq)", 3,
		w.c.Dialect.OnDuplicateSet("job_id", "data", "fold_seq"), baselines,
		func(args []any, b repository.StoredBaseline) []any { return append(args, b.Job[:], b.Data, b.FoldSeq) })
}

// bytesOfFire are the stored form of the hash of a fire.
func bytesOfFire(fire uint64) []byte { return binary.BigEndian.AppendUint64(nil, fire) }

// fireScanner reads the hash of a fire.
type fireScanner struct{ to *uint64 }

// Scan implements sql.Scanner.
func (s fireScanner) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != 8 {
		return fmt.Errorf("the hash of a fire is a %T of %d bytes, not 8 bytes", src, len(b))
	}
	*s.to = binary.BigEndian.Uint64(b)
	return nil
}

// OpenFires implements repository.StatisticsWriter. A job has few of them, so that those
// that were not asked for do not matter.
func (w *writer) OpenFires(ctx context.Context, keys []repository.FireKey) (
	map[repository.FireKey]repository.OpenFire, error,
) {
	out := make(map[repository.FireKey]repository.OpenFire, len(keys))
	for part := range slices.Chunk(keys, w.c.Dialect.MaxRows) {
		jobs, jobArgs := inBytes(w.c.Dialect, "job_id", part, func(k repository.FireKey) []byte { return k.Job[:] })
		fires, fireArgs := inBytes(w.c.Dialect, "fire", part,
			func(k repository.FireKey) []byte { return bytesOfFire(k.Fire) })
		_, err := sqldb.Collect(ctx, w.c, "sharded-fire.read",
			"SELECT job_id, fire, opened, data, fold_seq FROM scheduler_sharded_fire WHERE "+jobs+" AND "+fires+
				w.c.Dialect.ForUpdate, append(jobArgs, fireArgs...),
			func(rows *sql.Rows) (f repository.OpenFire, err error) {
				var opened int64
				err = rows.Scan(scanID(&f.Job), fireScanner{&f.Fire}, &opened, &f.Data, &f.FoldSeq)
				f.Opened = moment(opened)
				out[f.FireKey] = f
				return f, err
			})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PutOpenFires implements repository.StatisticsWriter.
func (w *writer) PutOpenFires(ctx context.Context, fires []repository.OpenFire) error {
	return bulk.Insert(ctx, w.c, "sharded-fire.put", "scheduler_sharded_fire (job_id, fire, opened, data, fold_seq)", 5,
		w.c.Dialect.OnDuplicateSet("job_id, fire", "data", "fold_seq"), fires, func(args []any, f repository.OpenFire) []any {
			return append(args, f.Job[:], bytesOfFire(f.Fire), f.Opened.UnixMilli(), f.Data, f.FoldSeq)
		})
}

// DropOpenFires implements repository.StatisticsWriter.
func (w *writer) DropOpenFires(ctx context.Context, keys []repository.FireKey) error {
	if len(keys) == 0 {
		return nil
	}
	return w.c.ExecEach(ctx, "sharded-fire.drop", len(keys), func(i int) (string, []any) {
		return "DELETE FROM scheduler_sharded_fire WHERE job_id = ? AND fire = ?",
			[]any{keys[i].Job[:], bytesOfFire(keys[i].Fire)}
	}, func(int, int64) error { return nil })
}

// OpenedBefore implements repository.DigestReader.
func (r *Reader) OpenedBefore(ctx context.Context, before time.Time, limit int) ([]repository.FireKey, error) {
	return sqldb.Collect(ctx, r.c, "sharded-fire.old",
		"SELECT job_id, fire FROM scheduler_sharded_fire WHERE opened < ? ORDER BY opened LIMIT ?",
		[]any{before.UnixMilli(), limit}, func(rows *sql.Rows) (k repository.FireKey, err error) {
			err = rows.Scan(scanID(&k.Job), fireScanner{&k.Fire})
			return k, err
		})
}

// GroupsOf implements repository.DigestReader. A step is of the group of its workflow.
func (r *Reader) GroupsOf(ctx context.Context, jobs []repository.BinaryID) (map[repository.BinaryID]string, error) {
	ids := convert.All(jobs, identity.Text)
	steps, err := owner.Steps(ctx, r.c, ids)
	if err != nil {
		return nil, err
	}
	owners := owner.Jobs(ids, steps)
	groups := make(map[string]string, len(jobs))
	_, err = sqldb.CollectIn(ctx, r.c, "fold.groups", "SELECT id, group_name FROM scheduler_job_definition WHERE {in}",
		"id", owners, func(rows *sql.Rows) (id string, err error) {
			var group string
			err = rows.Scan(&id, &group)
			groups[id] = group
			return id, err
		})
	out := make(map[repository.BinaryID]string, len(jobs))
	for i, job := range jobs {
		if group, known := groups[owners[i]]; known {
			out[job] = group
		}
	}
	return out, err
}
