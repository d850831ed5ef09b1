package inflight

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Count implements repository.InFlightFireWriter.
func (w *writer) Count(ctx context.Context, jobIDs []string) (map[string]repository.FireCount, error) {
	return countFires(ctx, w.c, jobIDs)
}

// countFires takes one look into an index for each job and question. The first in
// the queue is asked for by all columns of the index: MySQL does not see that job_id
// is the same for all rows of a subquery, and would read and sort the whole queue.
func countFires(ctx context.Context, c *sqldb.Conn, jobIDs []string) (map[string]repository.FireCount, error) {
	counts := make(map[string]repository.FireCount, len(jobIDs))
	_, err := sqldb.CollectIn(ctx, c, "live-fire.count", `SELECT j.id,
		(SELECT COUNT(*) FROM scheduler_live_fire a`+c.Dialect.BySeq+` WHERE a.job_id = j.id AND a.active = 1),
		COALESCE((SELECT q.seq FROM scheduler_live_fire q`+c.Dialect.BySeq+
		` WHERE q.job_id = j.id AND q.active = 0 ORDER BY q.job_id, q.active, q.seq LIMIT 1), 0)
		FROM scheduler_job_definition j`+c.Dialect.ByPrimary+" WHERE {in}", "j.id", sqlvalue.LockOrder(jobIDs),
		func(rows *sql.Rows) (id string, err error) {
			var c repository.FireCount
			err = rows.Scan(&id, &c.Active, &c.FirstQueued)
			counts[id] = c
			return id, err
		})
	return counts, err
}

// CountQueued implements repository.InFlightFireWriter.
func (w *writer) CountQueued(ctx context.Context, jobID string, limit int) (int, error) {
	return w.c.Number(ctx, "live-fire.count-queued", "SELECT COUNT(*) FROM (SELECT 1 AS one FROM scheduler_live_fire"+
		w.c.Dialect.BySeq+" WHERE job_id = ? AND active = 0 LIMIT ?) counted", jobID, limit)
}

// oldestTogether bounds the questions of one statement.
const oldestTogether = 50

// Oldest implements repository.InFlightFireWriter.
func (w *writer) Oldest(ctx context.Context, asked []repository.Oldest) ([]entity.InFlightFire, error) {
	one := selectFires + w.c.Dialect.BySeq + " WHERE job_id = ? AND active = ? ORDER BY seq LIMIT ?"
	together := oldestTogether
	if w.c.Dialect.IsSQLite() {
		together = 1 // it bounds no part of a union, and a question costs no trip
	}
	var out []entity.InFlightFire
	for part := range slices.Chunk(asked, together) {
		args := make([]any, 0, len(part)*3)
		for _, o := range part {
			args = append(args, o.JobID, sqlvalue.Flag(o.Active), o.Limit)
		}
		query := one
		if len(part) > 1 {
			query = "(" + one + ")" + strings.Repeat(" UNION ALL ("+one+")", len(part)-1)
		}
		fires, err := sqldb.Collect(ctx, w.c, "live-fire.oldest", query, args, scan)
		if err != nil {
			return nil, err
		}
		out = append(out, fires...)
	}
	return out, nil
}

// The ids of a fire that an older release recorded begin with moments of its
// node's clock, some of them a little after that in the fire's key.
const (
	olderBefore = time.Second
	olderAfter  = time.Minute
)

// ExecutionsOf implements repository.InFlightFireWriter.
func (w *writer) ExecutionsOf(ctx context.Context, f entity.InFlightFire) ([]*entity.Execution, error) {
	return ofFire(ctx, w.c, f, w.c.Dialect.ForUpdate)
}

// ofFire finds the live rows of a fire. A job may have millions of runs and no
// index tells the live ones apart. Executions of a fire that waits stand under one
// claim key, and the ids of the others begin with the moment that the fire's key
// tells, whatever the clocks of nodes say.
func ofFire(ctx context.Context, c *sqldb.Conn, f entity.InFlightFire, lock string) ([]*entity.Execution, error) {
	find := func(index, where string, args ...any) ([]*entity.Execution, error) {
		return sqldb.Collect(ctx, c, "live-fire.rows", execution.SelectExecutions+index+where+
			" AND claim_key IS NOT NULL AND status IN ('WAITING', 'RUNNING') ORDER BY id"+lock, args, execution.ScanExecution)
	}
	if !f.Active {
		return find(c.Dialect.ByClaim, " WHERE claim_key = ? AND job_id = ? AND fire_key = ?",
			string(entity.QueuedKey(f.JobID, f.Seq)), f.JobID, f.FireKey)
	}
	at, known := identity.MomentOf(f.FireKey)
	if !known {
		return find(c.Dialect.ByJob, " WHERE job_id = ? AND fire_key = ?", f.JobID, f.FireKey)
	}
	const between = " WHERE job_id = ? AND id >= ? AND id < ? AND fire_key = ?"
	rows, err := find(c.Dialect.ByJob, between, f.JobID, identity.FloorID(at), identity.FloorID(at.Add(time.Millisecond)),
		f.FireKey)
	if err != nil || len(rows) >= f.Remaining {
		return rows, err
	}
	if _, planned := identity.ScheduledTimeOf(f.FireKey); planned {
		return rows, nil // its ids are computed
	}
	return find(c.Dialect.ByJob, between, f.JobID, identity.FloorID(at.Add(-olderBefore)),
		identity.FloorID(at.Add(olderAfter)), f.FireKey)
}
