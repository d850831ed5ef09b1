package persistence

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

const (
	// jobsPage is how many jobs one step looks at.
	jobsPage = 1000
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
	// version is up to which version the job after id is done.
	version int
	// done is the latest moment for which all jobs were looked at.
	done time.Time
}

// rests reports that the walk has no need to begin anew; the caller holds the lock.
func (w *jobsWalk) rests(before time.Time) bool {
	return w.id == "" && w.version == 0 && !w.done.IsZero() && before.Sub(w.done) < jobsRest
}

// storedJob is what the walks look at.
type storedJob struct {
	id      string
	version int
	deleted bool
	updated time.Time
}

// page are the next jobs of the walk; none is its end for now.
func (w *jobsWalk) page(ctx context.Context, c *conn, before time.Time) ([]storedJob, error) {
	jobs, err := collect(ctx, c, "retention.jobs", "SELECT id, version, deleted, update_time FROM scheduler_job_definition WHERE id > ? ORDER BY id LIMIT ?",
		[]any{w.id, jobsPage}, func(rows *sql.Rows) (j storedJob, err error) {
			var updated stamp
			err = rows.Scan(&j.id, &j.version, &j.deleted, &updated)
			j.updated = updated.time()
			return j, err
		})
	if err == nil && len(jobs) == 0 {
		w.id, w.done = "", before
	}
	return jobs, err
}

// PurgeVersions implements repository.Retention.
func (r *Retention) PurgeVersions(ctx context.Context, before time.Time, keep, limit int) (repository.Purged, error) {
	w := &r.versions
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rests(before) {
		return repository.Purged{}, nil
	}
	jobs, err := w.page(ctx, r.s.read, before)
	if err != nil || len(jobs) == 0 {
		return repository.Purged{}, err
	}
	crowded, err := r.crowded(ctx, jobs, keep)
	if err != nil {
		return repository.Purged{}, err
	}
	p := repository.Purged{More: true}
	for _, j := range jobs {
		if p.Deleted >= limit {
			return p, nil
		}
		if !slices.Contains(crowded, j.id) {
			w.version = 0
		} else {
			n, looked, err := r.purgeVersionsOf(ctx, j, w.version, before, keep, limit-p.Deleted)
			if p.Deleted += n; err != nil {
				return p, err
			}
			if w.version = looked; looked > 0 {
				return p, nil // the next step goes on with this job
			}
		}
		w.id = j.id
	}
	return p, nil
}

// crowded are the jobs that have versions beyond those that are kept.
func (r *Retention) crowded(ctx context.Context, jobs []storedJob, keep int) ([]string, error) {
	var ids []string
	newest := map[string]int{}
	for _, j := range jobs {
		if j.version > keep {
			ids, newest[j.id] = append(ids, j.id), j.version
		}
	}
	var crowded []string
	for _, part := range chunks(ids, r.s.dialect.maxRows) {
		in, args := r.s.dialect.in("job_id", part)
		found, err := collect(ctx, r.s.read, "retention.crowded", "SELECT job_id, MIN(version) FROM scheduler_job_version WHERE "+in+" GROUP BY job_id", args,
			func(rows *sql.Rows) (id string, err error) {
				var oldest int
				if err = rows.Scan(&id, &oldest); oldest > newest[id]-keep {
					id = ""
				}
				return id, err
			})
		if err != nil {
			return nil, err
		}
		crowded = append(crowded, found...)
	}
	return crowded, nil
}

// keptVersion is a version that is kept, and when it came.
type keptVersion struct {
	version int
	came    time.Time
}

// purgeVersionsOf deletes, of the versions of a job after one, those that are not
// among the newest and that no run names, at most limit. looked is up to which
// version it has come, 0 when there are no more.
func (r *Retention) purgeVersionsOf(ctx context.Context, j storedJob, after int, before time.Time, keep, limit int) (deleted, looked int, err error) {
	last := j.version - keep
	old, err := collect(ctx, r.s.read, "retention.versions",
		"SELECT version, create_time FROM scheduler_job_version WHERE job_id = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?",
		[]any{j.id, after, last + 1, limit + 1}, func(rows *sql.Rows) (v keptVersion, err error) {
			var came stamp
			err = rows.Scan(&v.version, &came)
			v.came = came.time()
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
	err = r.s.change(ctx, repository.LaneRetention, "purge-versions", func(ctx context.Context, c *conn) error {
		args := []any{j.id}
		for _, v := range gone {
			args = append(args, v)
		}
		_, err := c.exec(ctx, "retention.purge-versions", "DELETE FROM scheduler_job_version WHERE job_id = ? AND version IN ("+marks(len(gone))+")", args...)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return len(gone), looked, nil
}

// namedBy are the versions that runs of a job name. all is false when it has so many
// runs that only the newest and those that are older than before were read.
func (r *Retention) namedBy(ctx context.Context, id string, before time.Time) (named map[int]bool, all bool, err error) {
	named = map[int]bool{}
	runs := 0
	read := func(where string, args ...any) error {
		_, err := collect(ctx, r.s.read, "retention.named", "SELECT job_version, COUNT(*) FROM (SELECT job_version FROM scheduler_job_execution WHERE job_id = ?"+
			where+" ORDER BY id DESC LIMIT ?) r GROUP BY job_version", append(append([]any{id}, args...), countedRuns), func(rows *sql.Rows) (v int, err error) {
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
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rests(before) {
		return repository.Purged{}, nil
	}
	jobs, err := w.page(ctx, r.s.read, before)
	if err != nil || len(jobs) == 0 {
		return repository.Purged{}, err
	}
	p := repository.Purged{More: true}
	for _, j := range jobs {
		if j.deleted && j.updated.Before(before) {
			if p.Deleted >= limit {
				return p, nil
			}
			n, done, err := r.purgeJob(ctx, j.id, limit-p.Deleted)
			if p.Deleted += n; err != nil || !done {
				return p, err
			}
		}
		w.id = j.id
	}
	return p, nil
}

// purgeJob deletes a deleted job that nothing names, after its versions; at most
// about limit rows. done is false when some are left.
func (r *Retention) purgeJob(ctx context.Context, id string, limit int) (deleted int, done bool, err error) {
	if gone, err := r.s.read.unnamed(ctx, id, ""); err != nil || !gone {
		return 0, err == nil, err
	}
	err = r.s.change(ctx, repository.LaneRetention, "purge-job", func(ctx context.Context, c *conn) error {
		deleted, done = 0, true
		gone, err := c.unnamed(ctx, id, c.d.skipLocked)
		if err != nil || !gone {
			return err
		}
		versions, err := collect(ctx, c, "retention.versions-of", "SELECT version FROM scheduler_job_version WHERE job_id = ? ORDER BY version LIMIT ?", []any{id, limit}, scanInt)
		if err != nil {
			return err
		}
		if len(versions) > 0 {
			n, err := c.exec(ctx, "retention.purge-versions", "DELETE FROM scheduler_job_version WHERE job_id = ? AND version <= ?", id, versions[len(versions)-1])
			if err != nil {
				return err
			}
			deleted = int(n)
		}
		if len(versions) == limit {
			done = false
			return nil
		}
		n, err := c.exec(ctx, "retention.purge-job", "DELETE FROM scheduler_job_definition WHERE id = ? AND deleted = 1", id)
		deleted += int(n)
		return err
	})
	return deleted, done, err
}

// unnamed reports that a job is deleted, and neither a run nor a backfill nor a
// place names it. how says how its row is locked.
func (c *conn) unnamed(ctx context.Context, id, how string) (bool, error) {
	found, err := collect(ctx, c, "retention.unnamed", `SELECT d.id FROM scheduler_job_definition d WHERE d.id = ? AND d.deleted = 1`+how, []any{id}, scanText)
	if err != nil || len(found) == 0 {
		return false, err
	}
	named, err := collect(ctx, c, "retention.names", `SELECT 1 FROM scheduler_job_definition d WHERE d.id = ? AND (
		EXISTS (SELECT 1 FROM scheduler_job_execution e WHERE e.job_id = d.id) OR EXISTS (SELECT 1 FROM scheduler_backfill b WHERE b.job_id = d.id)
		OR EXISTS (SELECT 1 FROM scheduler_live_fire f WHERE f.job_id = d.id))`, []any{id}, scanInt)
	return len(named) == 0, err
}
