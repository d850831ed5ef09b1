package execution

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// coreColumns are those that every insert names.
const coreColumns = "id, job_id, node_id, status, fire_key, scheduled_time, due_time, trigger_type, job_version, " +
	"priority, epoch, token, attempt, claim_key, start_time, create_time, update_time"

func appendCore(args []any, e *entity.Execution) []any {
	created := sqlvalue.TimeArg(e.CreateTime)
	updated := created
	if !e.UpdateTime.Equal(e.CreateTime) {
		updated = sqlvalue.TimeArg(e.UpdateTime)
	}
	due := sqlvalue.TimeArg(e.DueTime)
	scheduled := due
	if !e.ScheduledTime.Equal(e.DueTime) {
		scheduled = sqlvalue.TimeArg(e.ScheduledTime)
	}
	return append(args, e.ID, e.JobID, e.NodeID, string(e.Status), e.FireKey, scheduled, due, string(e.Trigger),
		e.JobVersion,
		e.Priority, e.Epoch, e.Token, e.Attempt, sqlvalue.TextOrNull(e.Claim), sqlvalue.TimeArg(e.StartTime), created,
		updated)
}

// optionalColumns are named only by statements whose rows use them: an
// ordinary fire uses none, and what is not sent need not be parsed.
var optionalColumns = [...]struct {
	name  string
	value func(e *entity.Execution) any
}{
	{"shard_id", shardText},
	{"reason", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.Reason) }},
	{"start_deadline", func(e *entity.Execution) any { return sqlvalue.TimeArg(e.StartDeadline) }},
	{"job_fence", func(e *entity.Execution) any { return sqlvalue.OrNull(e.JobFence) }},
	{"params", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.Params) }},
	{"triggered_by", func(e *entity.Execution) any { return actorText(e.TriggeredBy) }},
	{"trace_parent", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.Parent) }},
	{"end_time", func(e *entity.Execution) any { return sqlvalue.TimeArg(e.EndTime) }},
	{"duration", func(e *entity.Execution) any { return sqlvalue.OrNull(e.Duration.Milliseconds()) }},
	{"error_message", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.ErrorMessage) }},
	{"result", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.Result) }},
	{"retry_of", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.RetryOf) }},
	{"root_id", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.RootID) }},
	{"skip_from", func(e *entity.Execution) any { return sqlvalue.TimeArg(e.SkipFrom) }},
	{"skip_to", func(e *entity.Execution) any { return sqlvalue.TimeArg(e.SkipTo) }},
	{"skip_count", func(e *entity.Execution) any { return sqlvalue.OrNull(e.SkipCount) }},
	{"skip_at_least", func(e *entity.Execution) any { return flagOrNull(e.SkipAtLeast) }},
	{"node_losses", func(e *entity.Execution) any { return sqlvalue.OrNull(e.NodeLosses) }},
	{"cancel_requested", func(e *entity.Execution) any { return flagOrNull(e.CancelRequested) }},
	{"progress", func(e *entity.Execution) any { return sqlvalue.OrNull(e.Progress) }},
	{"checkpoint", func(e *entity.Execution) any { return sqlvalue.TextOrNull(e.Checkpoint) }},
	// retry_count is NOT NULL, so its value must not be nil in a mixed batch.
	{"retry_count", func(e *entity.Execution) any { return e.RetryCount }},
}

func flagOrNull(b bool) any {
	if !b {
		return nil
	}
	return 1
}

// uses returns the indexes of the optional columns that any of the rows needs.
func uses(rows []*entity.Execution) []int {
	var out []int
	for i, col := range optionalColumns {
		for _, e := range rows {
			if v := col.value(e); v != nil && v != 0 {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// executionWriter implements repository.ExecutionWriter.
type executionWriter struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.ExecutionWriter { return &executionWriter{c} }

// Insert implements repository.ExecutionWriter.
func (w *executionWriter) Insert(ctx context.Context, rows []*entity.Execution) error {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b *entity.Execution) int { return strings.Compare(a.ID, b.ID) })
	for _, e := range rows {
		if err := checkExecution(e); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(rows, w.c.Dialect.MaxRows) {
		if err := insertExecutions(ctx, w.c, part); err != nil {
			return err
		}
	}
	if err := w.keepReplays(ctx, rows); err != nil {
		return err
	}
	_ = failpoint.Hit(w.c.Transaction, "inserted")
	return nil
}

// insertExecutions sends rows that are sorted by id.
func insertExecutions(ctx context.Context, c *sqldb.Conn, rows []*entity.Execution) error {
	m := newBulkInsert(rows)
	if c.Dialect.IsSQLite() {
		return m.insertSQLite(ctx, c)
	}
	for len(m.rows) > 0 {
		n := min(len(m.rows), c.Dialect.InsertRows)
		part := &bulkInsert{columns: m.columns, rows: m.rows[:n]}
		query, args := part.plain()
		if c.Dialect.ValuesLists && n > 1 {
			query, args = part.selected()
		}
		if _, err := c.Exec(ctx, "execution.insert", query, args...); err != nil {
			return err
		}
		m.rows = m.rows[n:]
	}
	return nil
}

// keepReplays notes which runs repeat which, in a table of few rows.
func (w *executionWriter) keepReplays(ctx context.Context, rows []*entity.Execution) error {
	for _, e := range rows {
		if e.RetryOf == "" {
			continue
		}
		root := e.RootID
		if root == "" {
			root = e.RetryOf
		}
		_, err := w.c.Exec(ctx, "execution.insert-replay",
			"INSERT INTO scheduler_execution_replay (execution_id, retry_of, root_id) VALUES (?, ?, ?)", e.ID, e.RetryOf, root)
		if err != nil {
			return err
		}
	}
	return nil
}
