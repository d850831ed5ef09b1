// Package record keeps what is written down beside executions: attempts, logs,
// dead letters, events, and the tokens of targets.
package record

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Records reads logs and dead letters: repository.RecordReader.
type Records struct{ c *sqldb.Conn }

// NewRecords gives the repository over the connections of c.
func NewRecords(c *sqldb.Conn) *Records { return &Records{c} }

// maxLogPage bounds the log rows of one page.
const maxLogPage = 1000

// LogEnds implements repository.RecordReader.
func (r *Records) LogEnds(ctx context.Context, executionIDs []string) ([]repository.LogEnd, error) {
	return sqldb.CollectIn(ctx, r.c, "log.ends", "SELECT execution_id, attempt, MAX(seq_to), SUM(LENGTH(content)) "+
		"FROM scheduler_job_log WHERE {in} GROUP BY execution_id, attempt", "execution_id",
		sqlvalue.OnlyASCIIIDs(executionIDs), func(rows *sql.Rows) (e repository.LogEnd, err error) {
			err = rows.Scan(&e.ExecutionID, &e.Attempt, &e.Line, &e.Bytes)
			e.Line -= entity.LineNumber(e.Attempt, 0)
			return e, err
		})
}

// Logs implements repository.RecordReader.
func (r *Records) Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error) {
	if !sqlvalue.IsASCIIID(p.ExecutionID) {
		return nil, nil
	}
	limit := p.Limit
	if limit <= 0 || limit > maxLogPage {
		limit = maxLogPage
	}
	// Rows do not overlap, so that only the last one that begins before the
	// page can reach into it: a follower's look does not read the whole log.
	return sqldb.Collect(ctx, r.c, "log.page",
		`SELECT id, job_id, execution_id, log_type, content, create_time, attempt, seq_from, seq_to, truncated
		FROM scheduler_job_log WHERE execution_id = ? AND seq_to > ? AND seq_from >= COALESCE((SELECT MAX(seq_from) FROM scheduler_job_log
		WHERE execution_id = ? AND seq_from <= ?), 0) ORDER BY seq_from, id LIMIT ?`,
		[]any{p.ExecutionID, p.AfterSeq, p.ExecutionID, p.AfterSeq, limit},
		func(rows *sql.Rows) (l entity.LogChunk, err error) {
			var created sqlvalue.DBTime
			err = rows.Scan(&l.ID, &l.JobID, &l.ExecutionID, &l.Type, &l.Content, &created, &l.Attempt, &l.SeqFrom, &l.SeqTo,
				&l.Truncated)
			l.CreateTime = created.Time()
			return l, err
		})
}
