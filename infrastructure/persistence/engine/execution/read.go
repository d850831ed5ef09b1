// Package execution keeps executions: inserts, claims, ends and lists.
package execution

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Executions reads runs: repository.ExecutionReader.
type Executions struct{ c *sqldb.Conn }

// NewExecutions gives the repository over the connections of c.
func NewExecutions(c *sqldb.Conn) *Executions { return &Executions{c} }

// Get implements repository.ExecutionReader.
func (r *Executions) Get(ctx context.Context, id string) (*entity.Execution, error) {
	if !sqlvalue.IsASCIIID(id) {
		return nil, apperror.NotFound("execution", id)
	}
	return sqldb.One(ctx, r.c, "execution.get", selectViews+" WHERE id = ?", []any{id}, scanView,
		apperror.NotFound("execution", id))
}

// ByIDs implements repository.ExecutionReader.
func (r *Executions) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	return sqldb.CollectIn(ctx, r.c, "execution.by-ids", SelectExecutions+" WHERE {in}", "id",
		sqlvalue.OnlyASCIIIDs(ids), ScanExecution)
}

// WithParents implements repository.ExecutionReader.
func (r *Executions) WithParents(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	return sqldb.CollectIn(ctx, r.c, "execution.with-parents", "SELECT "+executionColumns+
		", trace_parent FROM scheduler_job_execution WHERE {in}", "id", sqlvalue.OnlyASCIIIDs(ids),
		func(rows *sql.Rows) (*entity.Execution, error) {
			var parent sql.NullString
			e, err := scanColumns(rows, &parent)
			if err == nil {
				e.Parent = entity.ReadTraceContext(parent.String)
			}
			return e, err
		})
}

// Standings implements repository.ExecutionReader.
func (r *Executions) Standings(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	return sqldb.CollectIn(ctx, r.c, "execution.standings",
		"SELECT id, job_id, node_id, shard_id, status, start_time, end_time, error_message, fire_key, scheduled_time, "+
			"trigger_type, job_version, reason, claim_key, attempt, progress, cancel_requested FROM scheduler_job_execution "+
			"WHERE {in}", "id", sqlvalue.OnlyASCIIIDs(ids), func(rows *sql.Rows) (*entity.Execution, error) {
			e := &entity.Execution{}
			var shard, message, reason, claim sqlvalue.OptionalText
			var start, end, scheduled sqlvalue.DBTime
			var progress, cancel sql.NullInt64
			unread, err := sqlvalue.ScanRow(rows, &e.ID, &e.JobID, &e.NodeID, &shard, &e.Status, &start, &end, &message,
				&e.FireKey, &scheduled, &e.Trigger, &e.JobVersion, &reason, &claim, &e.Attempt, &progress, &cancel)
			if err != nil {
				return nil, err
			}
			e.StartTime, e.EndTime, e.ScheduledTime = start.Time(), end.Time(), scheduled.Time()
			e.ErrorMessage, e.Reason, e.Claim = string(message), entity.Reason(reason), entity.ClaimKey(claim)
			e.Progress, e.CancelRequested = int(progress.Int64), cancel.Int64 != 0
			if e.ShardIndex, e.ShardTotal, err = readShard(string(shard)); err != nil {
				e.ShardTotal, unread = 1, append(unread, entity.Unread{Field: "shard_id", Why: err.Error()})
			}
			if len(unread) > 0 {
				e.Unreadable = entity.Describe(unread)
			}
			return e, nil
		})
}

// OfFire implements repository.ExecutionReader.
func (r *Executions) OfFire(ctx context.Context, jobID, fireKey string) ([]*entity.Execution, error) {
	at, known := identity.MomentOf(fireKey)
	if !known || !sqlvalue.IsASCIIID(jobID) {
		return nil, nil
	}
	return sqldb.Collect(ctx, r.c, "execution.of-fire", SelectExecutions+r.c.Dialect.ByJob+
		" WHERE job_id = ? AND id >= ? AND id < ? AND fire_key = ? ORDER BY id",
		[]any{jobID, identity.FloorID(at), identity.FloorID(at.Add(time.Millisecond)), fireKey}, ScanExecution)
}

// Recent implements repository.ExecutionReader.
func (r *Executions) Recent(ctx context.Context, jobID string, limit int) ([]*entity.Execution, error) {
	return sqldb.Collect(ctx, r.c, "execution.recent",
		"SELECT id, status, node_id, COALESCE(claim_key, ''), start_time, update_time FROM scheduler_job_execution"+
			r.c.Dialect.ByJob+" WHERE job_id = ? ORDER BY id DESC LIMIT ?", []any{jobID, limit},
		func(rows *sql.Rows) (*entity.Execution, error) {
			e := &entity.Execution{JobID: jobID}
			var start, update sqlvalue.DBTime
			err := rows.Scan(&e.ID, &e.Status, &e.NodeID, &e.Claim, &start, &update)
			e.StartTime, e.UpdateTime = start.Time(), update.Time()
			return e, err
		})
}

// Outcomes implements repository.ExecutionReader.
func (r *Executions) Outcomes(ctx context.Context, jobID, before string, limit int) ([]*entity.Execution, error) {
	where, args := listing.JoinConditions(listing.Equals("job_id", jobID), listing.IDBounds("id", "", before))
	found, err := sqldb.Collect(ctx, r.c, "execution.outcomes",
		"SELECT id, fire_key, shard_id, retry_of, status, skip_to, scheduled_time, end_time, update_time FROM "+
			"scheduler_job_execution"+r.c.Dialect.ByJob+where+" ORDER BY id DESC LIMIT ?", append(args, limit),
		func(rows *sql.Rows) (*entity.Execution, error) {
			e := &entity.Execution{JobID: jobID}
			var shard, retryOf sqlvalue.OptionalText
			var skipTo, scheduled, end, update sqlvalue.DBTime
			unread, err := sqlvalue.ScanRow(rows, &e.ID, &e.FireKey, &shard, &retryOf, &e.Status, &skipTo, &scheduled, &end,
				&update)
			if err != nil {
				return nil, err
			}
			e.RetryOf = string(retryOf)
			e.SkipTo, e.ScheduledTime, e.EndTime, e.UpdateTime = skipTo.Time(), scheduled.Time(), end.Time(), update.Time()
			if e.ShardIndex, e.ShardTotal, err = readShard(string(shard)); err != nil {
				e.ShardTotal, unread = 1, append(unread, entity.Unread{Field: "shard_id", Why: err.Error()})
			}
			if len(unread) > 0 {
				e.Unreadable = entity.Describe(unread)
			}
			return e, nil
		})
	return sqldb.NoteUnread(r.c, found), err
}

// rangeLook is how many runs before a moment RangeOver looks at. A range has no
// planned fires in it, so that only runs by hand and backfilled ones lie between.
const rangeLook = 5000

// RangeOver implements repository.ExecutionReader.
func (r *Executions) RangeOver(ctx context.Context, jobID string, at time.Time) (*entity.Execution, error) {
	if !sqlvalue.IsASCIIID(jobID) {
		return nil, nil
	}
	over, _, err := sqldb.First(ctx, r.c, "execution.range-over", SelectExecutions+` WHERE id IN (SELECT id FROM
		(SELECT id, skip_to FROM scheduler_job_execution`+r.c.Dialect.ByJob+
		` WHERE job_id = ? AND id < ? ORDER BY id DESC LIMIT ?) near WHERE skip_to > ?)
		ORDER BY id DESC LIMIT 1`, []any{jobID, identity.FloorID(at), rangeLook, sqlvalue.TimeArg(at)}, ScanExecution)
	return over, err
}

// Attempts implements repository.ExecutionReader.
func (r *Executions) Attempts(ctx context.Context, executionID string) ([]entity.Attempt, error) {
	if !sqlvalue.IsASCIIID(executionID) {
		return nil, nil
	}
	return sqldb.Collect(ctx, r.c, "execution.attempts",
		`SELECT execution_id, attempt, status, COALESCE(reason, ''), node_id, start_time, end_time,
		COALESCE(error_message, ''), COALESCE(result, ''), COALESCE(progress, 0), exit_code FROM scheduler_execution_attempt WHERE execution_id = ? ORDER BY attempt`,
		[]any{executionID}, func(rows *sql.Rows) (a entity.Attempt, err error) {
			var start, end sqlvalue.DBTime
			var code sql.NullInt64
			err = rows.Scan(&a.ExecutionID, &a.Attempt, &a.Status, &a.Reason, &a.NodeID, &start, &end, &a.ErrorMessage,
				&a.Result, &a.Progress, &code)
			a.StartTime, a.EndTime, a.ExitCode = start.Time(), end.Time(), readCode(code)
			return a, err
		})
}

// Usages implements repository.ExecutionReader.
func (r *Executions) Usages(ctx context.Context, executionID string) (map[int]entity.Usage, error) {
	if !sqlvalue.IsASCIIID(executionID) {
		return nil, nil
	}
	rows, err := sqldb.Collect(ctx, r.c, "execution.usages",
		"SELECT attempt, cpu_ms, peak_kb FROM scheduler_execution_usage WHERE execution = ?", []any{executionID},
		func(rows *sql.Rows) (u entity.AttemptUsage, err error) {
			return u, rows.Scan(&u.Attempt, &u.CPUMs, &u.PeakKb)
		})
	out := make(map[int]entity.Usage, len(rows))
	for _, u := range rows {
		out[u.Attempt] = u.Usage
	}
	return out, err
}

// Holds implements repository.ExecutionReader.
func (r *Executions) Holds(ctx context.Context, executionIDs []string) ([]entity.Hold, error) {
	return readHolds(ctx, r.c, sqlvalue.OnlyASCIIIDs(executionIDs))
}

func readHolds(ctx context.Context, c *sqldb.Conn, ids []string) ([]entity.Hold, error) {
	return sqldb.CollectIn(ctx, c, "execution.holds",
		"SELECT execution, attempt, holds, held_ms FROM scheduler_execution_hold WHERE {in}", "execution", ids,
		func(rows *sql.Rows) (h entity.Hold, err error) {
			var ms int64
			err = rows.Scan(&h.ExecutionID, &h.Attempt, &h.Count, &ms)
			h.For = time.Duration(ms) * time.Millisecond
			return h, err
		})
}

// Replays implements repository.ExecutionReader.
func (r *Executions) Replays(ctx context.Context, rootIDs []string) (map[string][]string, error) {
	out := make(map[string][]string)
	type replay struct{ id, of, root string }
	for part := range slices.Chunk(sqlvalue.OnlyASCIIIDs(rootIDs), r.c.Dialect.MaxRows) {
		ofRoot, roots := r.c.Dialect.In("root_id", part)
		ofRun, runs := r.c.Dialect.In("retry_of", part)
		// A union, because one condition over two columns would use no index.
		replays, err := sqldb.Collect(ctx, r.c, "execution.replays",
			"SELECT execution_id, retry_of, root_id FROM scheduler_execution_replay WHERE "+ofRoot+
				" UNION SELECT execution_id, retry_of, root_id FROM scheduler_execution_replay WHERE "+ofRun+
				" ORDER BY execution_id",
			append(roots, runs...), func(rows *sql.Rows) (v replay, err error) {
				err = rows.Scan(&v.id, &v.of, &v.root)
				return v, err
			})
		if err != nil {
			return nil, err
		}
		asked := make(map[string]bool, len(part))
		for _, id := range part {
			asked[id] = true
		}
		for _, v := range replays {
			if asked[v.root] {
				out[v.root] = append(out[v.root], v.id)
			}
			if v.of != v.root && asked[v.of] {
				out[v.of] = append(out[v.of], v.id)
			}
		}
	}
	return out, nil
}

// idRange turns a span of time into bounds of ids, which begin with a time.
// A zero end is open.
func idRange(f repository.ExecutionFilter) (lo, hi string) {
	if !f.From.IsZero() {
		lo = identity.FloorID(f.From)
	}
	if !f.To.IsZero() {
		hi = identity.FloorID(f.To)
	}
	return lo, hi
}
