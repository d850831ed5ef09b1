package retention

import (
	"context"
	"database/sql"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const (
	// jobsPage is how many jobs one step looks at.
	jobsPage = 2000
	// jobsRest is how long the walks over all jobs rest when they have met the last
	// one: what they look for comes into being slowly.
	jobsRest = time.Hour
	// countedRuns is how many runs of a job are read for the versions that they name.
	countedRuns = 20_000
)

// jobsWalk remembers how far a walk over the jobs by id has come.
type jobsWalk struct {
	mu sync.Mutex
	id string
	// partly is a job behind id that is done up to its version.
	partly  string
	version int
	// done is the latest moment for which all jobs were looked at.
	done time.Time
}

// step purges the next page of jobs. purge gets the condition that is true of them,
// notes in the walk how far it has come, and says whether the page is done.
func (w *jobsWalk) step(ctx context.Context, c *sqldb.Conn, before time.Time,
	purge func(where string, args []any) (deleted int, done bool, err error),
) (repository.Purged, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rests(before) {
		return repository.Purged{}, nil
	}
	where, args, last, err := w.page(ctx, c)
	if err != nil {
		return repository.Purged{}, err
	}
	deleted, done, err := purge(where, args)
	return repository.Purged{Deleted: deleted, More: err != nil || !done || w.turn(last, before)}, err
}

// rests reports that the walk has no need to begin anew; the caller holds the lock.
func (w *jobsWalk) rests(before time.Time) bool {
	return w.id == "" && w.partly == "" && !w.done.IsZero() && before.Sub(w.done) < jobsRest
}

// page is the condition that is true of the next jobs of the walk, a bounded number.
// last is the latest of them, empty where there is none behind them.
func (w *jobsWalk) page(ctx context.Context, c *sqldb.Conn) (where string, args []any, last string, err error) {
	ends, err := sqldb.Collect(ctx, c, "retention.jobs-page",
		"SELECT id FROM scheduler_job_definition WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?", []any{w.id, jobsPage - 1},
		sqlvalue.ScanText)
	if err != nil || len(ends) == 0 {
		return "d.id > ?", []any{w.id}, "", err
	}
	return "d.id > ? AND d.id <= ?", []any{w.id, ends[0]}, ends[0], nil
}

// turn goes on behind the last job of a page; more is false at the end of all.
func (w *jobsWalk) turn(last string, before time.Time) (more bool) {
	if w.id, w.partly = last, ""; last == "" {
		w.done = before
	}
	return last != ""
}

// storedJob is a job that the walk over versions looks at.
type storedJob struct {
	id      string
	version int
}

// PurgeVersions implements repository.Retention.
func (r *Retention) PurgeVersions(ctx context.Context, before time.Time, keep, limit int) (repository.Purged, error) {
	w := &r.versions
	return w.step(ctx, r.s.Pool, before, func(where string, args []any) (deleted int, done bool, err error) {
		crowded, err := r.crowded(ctx, keep, where, args)
		if err != nil {
			return 0, false, err
		}
		for _, j := range crowded {
			if deleted >= limit {
				return deleted, false, nil
			}
			after := 0
			if j.id == w.partly {
				after = w.version
			}
			n, looked, err := r.purgeVersionsOf(ctx, j, after, before, keep, limit-deleted)
			if deleted += n; err != nil {
				return deleted, false, err
			}
			if looked > 0 {
				w.partly, w.version = j.id, looked
				return deleted, false, nil // the next step goes on with this job
			}
			w.id, w.partly = j.id, ""
		}
		return deleted, true, nil
	})
}

// crowded are the jobs of a page that have versions beyond those that are kept.
func (r *Retention) crowded(ctx context.Context, keep int, where string, args []any) ([]storedJob, error) {
	return sqldb.Collect(ctx, r.s.Pool, "retention.crowded",
		`SELECT d.id, d.version FROM scheduler_job_definition d WHERE `+where+` AND d.version > ?
		AND EXISTS (SELECT 1 FROM scheduler_job_version v WHERE v.job_id = d.id AND v.version <= d.version - ?) ORDER BY d.id`,
		append(args, keep, keep), func(rows *sql.Rows) (j storedJob, err error) {
			err = rows.Scan(&j.id, &j.version)
			return j, err
		})
}

// keptVersion is a version that is kept, and when it came.
type keptVersion struct {
	version int
	came    time.Time
}

// purgeVersionsOf deletes, of the versions of a job after one, those that are not
// among the newest and that no run names, at most limit. looked is up to which
// version it has come, 0 when there are no more.
func (r *Retention) purgeVersionsOf(ctx context.Context, j storedJob, after int, before time.Time, keep,
	limit int,
) (deleted, looked int, err error) {
	last := j.version - keep
	old, err := sqldb.Collect(ctx, r.s.Pool, "retention.versions",
		"SELECT version, create_time FROM scheduler_job_version WHERE job_id = ? AND version > ? AND version <= ? ORDER BY "+
			"version LIMIT ?",
		[]any{j.id, after, last + 1, limit + 1}, func(rows *sql.Rows) (v keptVersion, err error) {
			var came sqlvalue.DBTime
			err = rows.Scan(&v.version, &came)
			v.came = came.Time()
			return v, err
		})
	if err != nil || len(old) == 0 {
		return 0, 0, err
	}
	named, all, err := r.namedBy(ctx, j.id, before)
	if err != nil {
		return 0, 0, err
	}
	var gone []int
	for i, v := range old {
		if v.version > last || i+1 == len(old) {
			break // the next of it tells when its time was over
		}
		if !named[v.version] && (all || old[i+1].came.Before(before)) {
			gone = append(gone, v.version)
		}
	}
	if len(old) == limit+1 {
		looked = old[limit-1].version
	}
	if len(gone) == 0 {
		return 0, looked, nil
	}
	err = r.s.Change(ctx, repository.LaneRetention, "purge-versions", func(ctx context.Context, c *sqldb.Conn) error {
		args := []any{j.id}
		for _, v := range gone {
			args = append(args, v)
		}
		_, err := c.Exec(ctx, "retention.purge-versions",
			"DELETE FROM scheduler_job_version WHERE job_id = ? AND version IN ("+dialect.Marks(len(gone))+")", args...)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return len(gone), looked, nil
}

// namedBy are the versions that runs of a job name. all is false when it has so many
// runs that only the newest and those that are older than before were read.
func (r *Retention) namedBy(ctx context.Context, id string,
	before time.Time,
) (named map[int]bool, all bool, err error) {
	named = map[int]bool{}
	runs := 0
	read := func(where string, args ...any) error {
		_, err := sqldb.Collect(ctx, r.s.Pool, "retention.named",
			"SELECT job_version, COUNT(*) FROM (SELECT job_version FROM scheduler_job_execution WHERE job_id = ?"+
				where+" ORDER BY id DESC LIMIT ?) r GROUP BY job_version", append(append([]any{id}, args...), countedRuns),
			func(rows *sql.Rows) (v int, err error) {
				var n int
				err = rows.Scan(&v, &n)
				named[v], runs = true, runs+n
				return v, err
			})
		return err
	}
	if err := read(""); err != nil {
		return nil, false, err
	}
	if runs < countedRuns {
		return named, true, nil
	}
	return named, false, read(" AND id < ?", identity.FloorID(before))
}

// PurgeJobs implements repository.Retention.
func (r *Retention) PurgeJobs(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	w := &r.jobs
	return w.step(ctx, r.s.Pool, before, func(where string, args []any) (deleted int, done bool, err error) {
		ids, err := sqldb.Collect(ctx, r.s.Pool, "retention.deleted-jobs",
			"SELECT d.id FROM scheduler_job_definition d WHERE "+where+
				" AND d.deleted = 1 AND d.update_time < ? ORDER BY d.id", append(args, sqlvalue.TimeText(before)),
			sqlvalue.ScanText)
		if err != nil {
			return 0, false, err
		}
		for _, id := range ids {
			if deleted >= limit {
				return deleted, false, nil
			}
			n, whole, err := r.purgeJob(ctx, id, limit-deleted)
			if deleted += n; err != nil || !whole {
				return deleted, false, err
			}
			w.id = id
		}
		return deleted, true, nil
	})
}

// purgeJob deletes a deleted job that nothing names, after its versions, with its
// statistics; at most about limit rows, and those of statistics. done is false when some are left.
func (r *Retention) purgeJob(ctx context.Context, id string, limit int) (deleted int, done bool, err error) {
	if gone, err := unnamed(ctx, r.s.Pool, id, ""); err != nil || !gone {
		return 0, err == nil, err
	}
	err = r.s.Change(ctx, repository.LaneRetention, "purge-job", func(ctx context.Context, c *sqldb.Conn) error {
		deleted, done = 0, true
		gone, err := unnamed(ctx, c, id, c.Dialect.SkipLocked)
		if err != nil || !gone {
			return err
		}
		versions, err := sqldb.Collect(ctx, c, "retention.versions-of",
			"SELECT version FROM scheduler_job_version WHERE job_id = ? ORDER BY version LIMIT ?", []any{id, limit},
			sqlvalue.ScanInt)
		if err != nil {
			return err
		}
		if len(versions) > 0 {
			n, err := c.Exec(ctx, "retention.purge-versions",
				"DELETE FROM scheduler_job_version WHERE job_id = ? AND version <= ?", id, versions[len(versions)-1])
			if err != nil {
				return err
			}
			deleted = int(n)
		}
		if len(versions) == limit {
			done = false
			return nil
		}
		if n, whole, err := dropSteps(ctx, c, id); err != nil || !whole {
			deleted, done = deleted+n, false
			return err
		}
		figures, err := dropFigures(ctx, c, id)
		if err != nil {
			return err
		}
		n, err := c.Exec(ctx, "retention.purge-job", "DELETE FROM scheduler_job_definition WHERE id = ? AND deleted = 1", id)
		deleted += figures + int(n)
		return err
	})
	return deleted, done, err
}

// stepsAtOnce bounds the steps whose figures one transaction deletes.
const stepsAtOnce = 10

// dropSteps deletes the ids of a workflow's steps, with what their ends have added up to. whole is false where it has
// deleted some, and others may be left.
func dropSteps(ctx context.Context, c *sqldb.Conn, id string) (deleted int, whole bool, err error) {
	steps, err := sqldb.Collect(ctx, c, "retention.steps-of",
		"SELECT id FROM scheduler_workflow_step WHERE workflow_id = ? ORDER BY id LIMIT ?", []any{id, stepsAtOnce},
		sqlvalue.ScanText)
	if err != nil || len(steps) == 0 {
		return 0, err == nil, err
	}
	for _, step := range steps {
		n, err := dropFigures(ctx, c, step)
		if err != nil {
			return 0, false, err
		}
		deleted += n
	}
	in, args := c.Dialect.In("id", steps)
	if _, err := c.Exec(ctx, "retention.purge-steps", "DELETE FROM scheduler_workflow_step WHERE "+in, args...); err != nil {
		return 0, false, err
	}
	return deleted + len(steps), false, nil
}

// dropFigures deletes what the ends of a job have added up to: some 500 rows at most. As whoever changes them, it locks
// the fold first.
func dropFigures(ctx context.Context, c *sqldb.Conn, id string) (deleted int, err error) {
	job, ok := identity.Bytes(id)
	if !ok {
		return 0, nil // ends of such a job are in no digest
	}
	if _, err := sqldb.Collect(ctx, c, "retention.lock-fold", "SELECT id FROM scheduler_fold"+c.Dialect.ForUpdate, nil,
		sqlvalue.ScanInt); err != nil {
		return 0, err
	}
	for _, table := range []string{"scheduler_job_stat", "scheduler_job_baseline", "scheduler_sharded_fire"} {
		n, err := c.Exec(ctx, "retention.purge-figures", "DELETE FROM "+table+" WHERE job_id = ?", job[:])
		if err != nil {
			return 0, err
		}
		deleted += int(n)
	}
	return deleted, nil
}

// unnamed reports that a job is deleted, and neither a run nor a backfill nor a
// place names it. how says how its row is locked.
func unnamed(ctx context.Context, c *sqldb.Conn, id, how string) (bool, error) {
	found, err := sqldb.Collect(ctx, c, "retention.unnamed",
		`SELECT d.id FROM scheduler_job_definition d WHERE d.id = ? AND d.deleted = 1`+how, []any{id}, sqlvalue.ScanText)
	if err != nil || len(found) == 0 {
		return false, err
	}
	named, err := sqldb.Collect(ctx, c, "retention.names", `SELECT 1 FROM scheduler_job_definition d WHERE d.id = ? AND (
		EXISTS (SELECT 1 FROM scheduler_job_execution e WHERE e.job_id = d.id) OR EXISTS (SELECT 1 FROM scheduler_backfill b WHERE b.job_id = d.id)
		OR EXISTS (SELECT 1 FROM scheduler_live_fire f WHERE f.job_id = d.id))`, []any{id}, sqlvalue.ScanInt)
	return len(named) == 0, err
}
