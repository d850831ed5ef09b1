package execution

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// executionColumns are all columns, in the order of scanExecution. Rarely used
// numbers are NULL in the table, which costs nothing there.
const executionColumns = `id, job_id, node_id, shard_id, status, start_time, end_time, duration, retry_count, error_message, result,
	create_time, update_time, fire_key, scheduled_time, due_time, trigger_type, job_version, priority, params, reason, epoch, token,
	job_fence, attempt, node_losses, claim_key, start_deadline, cancel_requested, progress, checkpoint, retry_of, root_id,
	skip_from, skip_to, skip_count, skip_at_least`

// viewColumns are what people are shown beyond executionColumns. The engine
// reads none of them, but for trace_parent, where a claim meets a run that may have one, and of
// the roots of workflow runs.
const viewColumns = "triggered_by, exit_code, trace_parent"

// SelectExecutions reads executions for the engine, with ScanExecution.
const SelectExecutions = "SELECT " + executionColumns + " FROM scheduler_job_execution"

// selectViews reads runs for people, with scanView.
const selectViews = "SELECT " + executionColumns + ", " + viewColumns + " FROM scheduler_job_execution"

func scanView(rows *sql.Rows) (*entity.Execution, error) {
	var by, parent sql.NullString
	var code sql.NullInt64
	e, err := scanColumns(rows, &by, &code, &parent)
	if err == nil {
		e.Parent = entity.ReadTraceContext(parent.String)
		e.TriggeredBy, e.ExitCode = readActor(by.String), readCode(code)
	}
	return e, err
}

// actorText is the column of who triggered a run: the user, and on a second
// line the token. Names have no line breaks.
func actorText(a entity.Actor) any {
	if a.Token != "" {
		return a.User + "\n" + a.Token
	}
	return sqlvalue.TextOrNull(a.User)
}

func readActor(s string) (a entity.Actor) {
	a.User, a.Token, _ = strings.Cut(s, "\n")
	return a
}

func readCode(n sql.NullInt64) *int {
	if !n.Valid {
		return nil
	}
	code := int(n.Int64)
	return &code
}

// ScanExecution reads a row of SelectExecutions.
func ScanExecution(rows *sql.Rows) (*entity.Execution, error) { return scanColumns(rows) }

// scanColumns reads executionColumns, and what stands behind them into more.
func scanColumns(rows *sql.Rows, more ...any) (*entity.Execution, error) {
	e := &entity.Execution{}
	var start, end, created, updated, scheduled, due, deadline, skipFrom, skipTo sqlvalue.DBTime
	var shard, message, result, params, reason, claim, checkpoint, retryOf, root sql.NullString
	var duration, fence, losses, cancel, progress, skips, atLeast sql.NullInt64
	unread, err := sqlvalue.ScanRow(rows, append([]any{
		&e.ID, &e.JobID, &e.NodeID, &shard, &e.Status, &start, &end, &duration, &e.RetryCount, &message, &result,
		&created, &updated, &e.FireKey, &scheduled, &due, &e.Trigger, &e.JobVersion, &e.Priority, &params, &reason, &e.Epoch,
		&e.Token,
		&fence, &e.Attempt, &losses, &claim, &deadline, &cancel, &progress, &checkpoint, &retryOf, &root,
		&skipFrom, &skipTo, &skips, &atLeast,
	}, more...)...)
	if err != nil {
		return nil, err
	}
	e.StartTime, e.EndTime, e.CreateTime, e.UpdateTime = start.Time(), end.Time(), created.Time(), updated.Time()
	e.ScheduledTime, e.DueTime, e.StartDeadline = scheduled.Time(), due.Time(), deadline.Time()
	e.SkipFrom, e.SkipTo, e.SkipCount, e.SkipAtLeast = skipFrom.Time(), skipTo.Time(), int(skips.Int64), atLeast.Int64 != 0
	e.Duration = time.Duration(duration.Int64) * time.Millisecond
	e.ErrorMessage, e.Result, e.Params, e.Checkpoint = message.String, result.String, params.String, checkpoint.String
	e.Reason, e.Claim = entity.Reason(reason.String), entity.ClaimKey(claim.String)
	e.RetryOf, e.RootID = retryOf.String, root.String
	e.JobFence, e.NodeLosses, e.CancelRequested, e.Progress = fence.Int64, int(losses.Int64), cancel.Int64 != 0,
		int(progress.Int64)
	if e.ShardIndex, e.ShardTotal, err = readShard(shard.String); err != nil {
		e.ShardTotal, unread = 1, append(unread, entity.Unread{Field: "shard_id", Why: err.Error()})
	}
	if len(unread) > 0 {
		e.Unreadable = entity.Describe(unread)
	}
	return e, nil
}

// shardText is the column of a shard: "index/total", NULL when not sharded.
func shardText(e *entity.Execution) any {
	if e.ShardTotal <= 1 && e.ShardIndex == 0 {
		return nil
	}
	return strconv.Itoa(e.ShardIndex) + "/" + strconv.Itoa(e.ShardTotal)
}

// readShard reads what shardText wrote; an unsharded run is shard 0 of 1.
func readShard(s string) (index, total int, err error) {
	if s == "" {
		return 0, 1, nil
	}
	i, n, ok := strings.Cut(s, "/")
	if index, err = strconv.Atoi(i); err == nil && ok {
		total, err = strconv.Atoi(n)
	}
	if err != nil || !ok {
		return 0, 0, fmt.Errorf("shard %q is not index/total", s)
	}
	return index, total, nil
}

// checkExecution refuses what a column could not hold, so that both stores
// refuse alike and a poison row is found without the server's help.
func checkExecution(e *entity.Execution) error {
	for _, f := range [...]struct {
		name, value string
		max         int
	}{
		{"id", e.ID, 50},
		{"job_id", e.JobID, 50},
		{"node_id", e.NodeID, 50},
		{"fire_key", e.FireKey, 100},
		{"claim_key", string(e.Claim), entity.MaxClaimKey},
		{"retry_of", e.RetryOf, 50},
		{"root_id", e.RootID, 50},
		{"status", string(e.Status), 20},
		{"trigger_type", string(e.Trigger), 20},
		{"reason", string(e.Reason), 30},
		{"trace_parent", string(e.Parent), entity.MaxTraceContext},
	} {
		if len(f.value) > f.max || !sqlvalue.IsASCII(f.value) {
			return sqlvalue.Poison(e.ID, "%s must be at most %d ASCII characters", f.name, f.max)
		}
	}
	if e.ID == "" || e.JobID == "" {
		return sqlvalue.Poison(e.ID, "id and job_id must not be empty")
	}
	if err := sqlvalue.CheckTexts(e.ID, e.ErrorMessage, e.Result, e.Params, e.Checkpoint); err != nil {
		return err
	}
	if err := checkActor(e.ID, e.TriggeredBy); err != nil {
		return err
	}
	for _, t := range [...]time.Time{
		e.ScheduledTime, e.DueTime, e.StartTime, e.EndTime, e.StartDeadline, e.SkipFrom,
		e.SkipTo, e.CreateTime, e.UpdateTime,
	} {
		if !sqlvalue.StorableTime(t) {
			return sqlvalue.Poison(e.ID, "a time is outside the years 1000 to 9999")
		}
	}
	if e.Priority < -128 || e.Priority > 127 {
		return sqlvalue.Poison(e.ID, "priority %d is out of range", e.Priority)
	}
	return nil
}

// maxActor is the width of the column of who triggered a run, in characters.
const maxActor = 255

func checkActor(id string, a entity.Actor) error {
	if a == (entity.Actor{}) {
		return nil
	}
	if utf8.RuneCountInString(a.User)+utf8.RuneCountInString(a.Token) >= maxActor || !utf8.ValidString(a.User+a.Token) ||
		strings.Contains(a.User+a.Token, "\n") {
		return sqlvalue.Poison(id, "triggered_by must be names of at most %d characters together", maxActor-1)
	}
	return nil
}
