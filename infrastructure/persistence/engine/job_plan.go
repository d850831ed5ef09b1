package engine

import (
	"context"
	"database/sql"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// planColumns is what planning a fire needs of a job. The scan reads tens of
// thousands of rows a second, so it goes without GORM.
const planColumns = `id, name, job_type, COALESCE(job_class, ''), COALESCE(cron_expression, ''), COALESCE(job_data, ''), priority, timeout,
	COALESCE(retry_policy, ''), status, next_fire_time, last_fire_time, create_time, update_time, version, group_name,
	schedule_kind, dialect, interval_ms, run_at, time_zone, start_at, end_at, jitter_ms, dst_gap, dst_overlap, anchor_time,
	misfire_policy, misfire_threshold_sec, misfire_window_sec, misfire_max_fires, start_deadline_sec, overlap_policy,
	max_concurrency, max_queued, shard_count, broadcast, COALESCE(routing, ''), on_node_loss, due_time, partition_id, paused_at, paused_by, fence_seq, limited`

// jobColumns is all of a job.
const jobColumns = planColumns + `, COALESCE(description, ''), COALESCE(labels, ''), owner, COALESCE(pause_note, ''), paused_until`

// planReader reads the rows of one query into one buffer: a scan reads tens of
// thousands a second. Not safe for concurrent use.
type planReader struct {
	row   jobRow
	dest  []any
	texts jobTexts
}

func newPlanReader() *planReader {
	p := &planReader{}
	p.dest = p.row.planned()
	return p
}

func (p *planReader) scan(rows *sql.Rows) (*entity.Job, error) {
	p.row = jobRow{}
	unread, err := sqldb.ScanRow(rows, p.dest...)
	if err != nil {
		return nil, err
	}
	return p.row.entity(unread, &p.texts), nil
}

func scanJob(rows *sql.Rows) (*entity.Job, error) {
	var r jobRow
	unread, err := sqldb.ScanRow(rows, append(r.planned(), &r.Description, &r.Labels, &r.Owner, &r.PauseNote, &r.PausedUntil)...)
	if err != nil {
		return nil, err
	}
	return r.entity(unread, &jobTexts{}), nil
}

// planned are the destinations of planColumns.
func (r *jobRow) planned() []any {
	return []any{
		&r.ID, &r.Name, &r.JobType, &r.JobClass, &r.CronExpression, &r.JobData, &r.Priority, &r.Timeout,
		&r.RetryPolicy, &r.Status, &r.NextFireTime, &r.LastFireTime, &r.CreateTime, &r.UpdateTime, &r.Version, &r.GroupName,
		&r.ScheduleKind, &r.Dialect, &r.IntervalMs, &r.RunAt, &r.TimeZone, &r.StartAt, &r.EndAt, &r.JitterMs, &r.DstGap, &r.DstOverlap, &r.AnchorTime,
		&r.MisfirePolicy, &r.MisfireThresholdSec, &r.MisfireWindowSec, &r.MisfireMaxFires, &r.StartDeadlineSec, &r.OverlapPolicy,
		&r.MaxConcurrency, &r.MaxQueued, &r.ShardCount, &r.Broadcast, &r.Routing, &r.OnNodeLoss, &r.DueTime, &r.PartitionID, &r.PausedAt, &r.PausedBy, &r.FenceSeq, &r.Limited,
	}
}

// Plans answers the engine's scans: repository.JobPlanReader.
type Plans struct{ c *sqldb.Conn }

// dueWhere is the condition of a scan; ok is false when it can find nothing.
func dueWhere(q repository.DueQuery) (where string, args []any, ok bool) {
	if q.Partitions != nil && len(q.Partitions) == 0 {
		return "", nil, false
	}
	where, args = "due_time <= ?", []any{sqldb.TimeArg(q.Until)}
	if !q.AfterDue.IsZero() {
		where += " AND due_time >= ? AND (due_time > ? OR id > ?)"
		args = append(args, sqldb.TimeArg(q.AfterDue), sqldb.TimeArg(q.AfterDue), q.AfterID)
	}
	if q.Partitions != nil && len(q.Partitions) < entity.Partitions {
		where += " AND partition_id IN (" + sqldb.Marks(len(q.Partitions)) + ")"
		for _, p := range q.Partitions {
			args = append(args, p)
		}
	}
	for _, g := range q.Without {
		ofGroup, named := "1 = 1", []any(nil)
		if g.Name != entity.AllJobs {
			ofGroup, named = "group_name = ?", []any{g.Name}
		}
		switch {
		case g.Paused:
			where += " AND NOT (" + ofGroup + ")"
		case !g.Settled && !g.ResumedAt.IsZero():
			where += " AND NOT (" + ofGroup + " AND next_fire_time <= ?)"
			named = append(named, sqldb.TimeArg(g.ResumedAt))
		default:
			continue
		}
		args = append(args, named...)
	}
	return where, append(args, q.Limit), true
}

// Unarmed implements repository.JobPlanReader.
func (r *Plans) Unarmed(ctx context.Context, after string, limit int) ([]string, error) {
	return sqldb.Collect(ctx, r.c, "job.unarmed", `SELECT j.id FROM scheduler_job_definition j
		WHERE j.schedule_kind = 'FIXED_DELAY' AND j.id > ? AND j.next_fire_time IS NULL AND j.status = 'ENABLED' AND j.deleted = 0
		AND NOT EXISTS (SELECT 1 FROM scheduler_live_fire f WHERE f.job_id = j.id)
		ORDER BY j.id LIMIT ?`, []any{after, limit}, sqldb.ScanText)
}
