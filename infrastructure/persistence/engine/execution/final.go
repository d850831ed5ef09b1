package execution

import (
	"context"
	"database/sql"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// FinalAfter implements repository.FinalReader: first the rest of the job, then other jobs. One condition for both
// would read the job from its beginning.
func (r *Executions) FinalAfter(ctx context.Context, after repository.EndCursor, since time.Time, limit int) (
	[]*entity.Execution, error,
) {
	read := func(where string, args []any, limit int) ([]*entity.Execution, error) {
		ended := ""
		if !since.IsZero() {
			ended, args = " AND end_time >= ?", append(args, sqlvalue.TimeArg(since))
		}
		return sqldb.Collect(ctx, r.c, "ends.final", "SELECT id, job_id, node_id, shard_id, status, start_time, end_time,"+
			" duration, retry_count, create_time, update_time, fire_key, due_time, trigger_type, job_version, reason, attempt,"+
			" retry_of, skip_to, skip_count FROM scheduler_job_execution"+r.c.Dialect.ByJob+" WHERE "+where+
			" AND status NOT IN ('WAITING', 'RUNNING')"+ended+" ORDER BY job_id, id LIMIT ?", append(args, limit), scanFinal)
	}
	found, err := read("job_id = ? AND id > ?", []any{after.JobID, after.ID}, limit)
	if err != nil || len(found) == limit {
		return found, err
	}
	more, err := read("job_id > ?", []any{after.JobID}, limit-len(found))
	return append(found, more...), err
}

func scanFinal(rows *sql.Rows) (*entity.Execution, error) {
	e := &entity.Execution{}
	var start, end, created, updated, due, skipTo sqlvalue.DBTime
	var shard, reason, retryOf sqlvalue.OptionalText
	var duration, skips sql.NullInt64
	err := rows.Scan(&e.ID, &e.JobID, &e.NodeID, &shard, &e.Status, &start, &end, &duration, &e.RetryCount, &created,
		&updated,
		&e.FireKey, &due, &e.Trigger, &e.JobVersion, &reason, &e.Attempt, &retryOf, &skipTo, &skips)
	if err != nil {
		return nil, err
	}
	e.StartTime, e.EndTime, e.CreateTime, e.UpdateTime = start.Time(), end.Time(), created.Time(), updated.Time()
	e.DueTime, e.SkipTo, e.SkipCount = due.Time(), skipTo.Time(), int(skips.Int64)
	e.Duration = time.Duration(duration.Int64) * time.Millisecond
	e.Reason, e.RetryOf = entity.Reason(reason), string(retryOf)
	if e.ShardIndex, e.ShardTotal, err = readShard(string(shard)); err != nil {
		e.ShardTotal = 1 // as whoever ended it read it
	}
	return e, nil
}
