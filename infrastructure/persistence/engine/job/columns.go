package job

import (
	"database/sql"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// jobRow is a row of scheduler_job_definition: a job, and what stands in the row
// in a form of its own.
type jobRow struct {
	entity.Job
	jobType     string
	retryPolicy string
	routing     string
	labels      string
	pauseNote   string
	alerts      string
	deleted     bool
	// nameKey is the unique key of (group, name), byte for byte; it is NULL for
	// deleted jobs, whose names are free again.
	nameKey []byte
	// nameSearch is the name in lower case, for filters.
	nameSearch string
}

// jobReads are the reads that a column takes part in.
type jobReads uint8

// A column is of the whole job, of what planning a fire needs of it, or of what
// its schedule is; what is of none is written alone.
const (
	whole jobReads = 1 << iota
	planned
	timed
)

// columns names all columns of a job to each, and where the row holds the value
// of each: at is a pointer. Inserts, updates and reads follow this list.
func (r *jobRow) columns(each func(name string, at any, read jobReads)) {
	each("id", &r.ID, whole|planned|timed)
	each("name", &r.Name, whole|planned)
	each("job_type", &r.jobType, whole|planned)
	each("job_class", optional(&r.Class), whole|planned)
	each("cron_expression", optional(&r.Schedule.CronExpression), whole|planned|timed)
	each("job_data", optional(&r.Data), whole|planned)
	each("priority", &r.Priority, whole|planned)
	each("timeout", &r.TimeoutSec, whole|planned)
	each("retry_policy", optional(&r.retryPolicy), whole|planned)
	each("status", (*string)(&r.Status), whole|planned)
	each("next_fire_time", dbTime(&r.NextFireTime), whole|planned|timed)
	each("last_fire_time", dbTime(&r.LastFireTime), whole|planned)
	each("create_time", dbTime(&r.CreateTime), whole|planned)
	each("update_time", dbTime(&r.UpdateTime), whole|planned)
	each("version", &r.Version, whole|planned)
	each("group_name", &r.Group, whole|planned)
	each("schedule_kind", (*string)(&r.Schedule.Kind), whole|planned|timed)
	each("dialect", (*string)(&r.Schedule.Dialect), whole|planned|timed)
	each("interval_ms", &r.Schedule.IntervalMs, whole|planned|timed)
	each("run_at", dbTime(&r.Schedule.At), whole|planned|timed)
	each("time_zone", &r.Schedule.TimeZone, whole|planned|timed)
	each("start_at", dbTime(&r.Schedule.StartTime), whole|planned|timed)
	each("end_at", dbTime(&r.Schedule.EndTime), whole|planned|timed)
	each("jitter_ms", &r.Schedule.JitterMs, whole|planned|timed)
	each("dst_gap", (*string)(&r.Schedule.DstGap), whole|planned|timed)
	each("dst_overlap", (*string)(&r.Schedule.DstOverlap), whole|planned|timed)
	each("anchor_time", dbTime(&r.Schedule.Anchor), whole|planned|timed)
	each("misfire_policy", (*string)(&r.Misfire.Policy), whole|planned)
	each("misfire_threshold_sec", &r.Misfire.ThresholdSec, whole|planned)
	each("misfire_window_sec", &r.Misfire.WindowSec, whole|planned)
	each("misfire_max_fires", &r.Misfire.MaxFires, whole|planned)
	each("start_deadline_sec", &r.StartDeadlineSec, whole|planned)
	each("overlap_policy", (*string)(&r.Overlap), whole|planned)
	each("max_concurrency", &r.MaxConcurrency, whole|planned)
	each("max_queued", &r.MaxQueued, whole|planned)
	each("shard_count", &r.ShardCount, whole|planned)
	each("broadcast", &r.Broadcast, whole|planned)
	each("routing", optional(&r.routing), whole|planned)
	each("on_node_loss", (*string)(&r.OnNodeLoss), whole|planned)
	each("due_time", dbTime(&r.DueTime), whole|planned)
	each("partition_id", &r.Partition, whole|planned)
	each("paused_at", dbTime(&r.PausedAt), whole|planned)
	each("paused_by", (*string)(&r.PausedBy), whole|planned)
	each("fence_seq", &r.FenceSeq, whole|planned)
	each("limited", &r.Limited, whole|planned)
	each("alerts", optional(&r.alerts), whole|planned)
	each("description", optional(&r.Description), whole)
	each("labels", optional(&r.labels), whole)
	each("owner", &r.Owner, whole)
	each("pause_note", optional(&r.pauseNote), whole)
	each("paused_until", dbTime(&r.Pause.Until), whole)
	each("decided_until", dbTime(&r.DecidedUntil), whole)
	each("deleted", &r.deleted, 0)
	each("name_key", &r.nameKey, 0)
	each("name_search", &r.nameSearch, 0)
}

// dbTime is a time as its column holds it.
func dbTime(t *time.Time) *sqlvalue.DBTime { return (*sqlvalue.DBTime)(t) }

// optional is a text whose column is NULL where it is empty.
func optional(s *string) *sqlvalue.OptionalText { return (*sqlvalue.OptionalText)(s) }

// columnValue is what is written to a column of a row, which holds it at a pointer.
func columnValue(at any) any {
	switch at := at.(type) {
	case *string:
		return *at
	case *sqlvalue.OptionalText:
		return sqlvalue.TextOrNull(*at)
	case *int:
		return *at
	case *int64:
		return *at
	case *bool:
		return *at
	case *[]byte:
		return *at
	case *sqlvalue.DBTime:
		return sqlvalue.TimeArg(at.Time())
	}
	return at // what no driver takes
}

// The columns of each read, as they stand in a SELECT.
var (
	jobColumns  = selected(whole)
	planColumns = selected(planned)
)

func selected(read jobReads) string {
	var names []string
	new(jobRow).columns(func(name string, _ any, of jobReads) {
		if of&read != 0 {
			names = append(names, name)
		}
	})
	return strings.Join(names, ", ")
}

// jobReader reads the rows of one query into one buffer: a scan reads tens of
// thousands a second. Not safe for concurrent use.
type jobReader struct {
	row   jobRow
	dest  []any
	texts jobTexts
}

// newJobReader reads the columns of one kind of read.
func newJobReader(read jobReads) *jobReader {
	r := &jobReader{dest: make([]any, 0, 50)}
	r.row.columns(func(_ string, at any, of jobReads) {
		if of&read != 0 {
			r.dest = append(r.dest, at)
		}
	})
	return r
}

func (r *jobReader) scan(rows *sql.Rows) (*entity.Job, error) {
	r.row = jobRow{}
	unread, err := sqlvalue.ScanRow(rows, r.dest...)
	if err != nil {
		return nil, err
	}
	return r.row.entity(unread, &r.texts), nil
}
