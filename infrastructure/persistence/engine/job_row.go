package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// jobRow is a row of scheduler_job_definition.
type jobRow struct {
	ID             string `gorm:"column:id;primaryKey"`
	Name           string
	Description    string
	JobType        string
	JobClass       string
	CronExpression string
	JobData        string
	Priority       int
	Timeout        int
	RetryPolicy    string
	Status         string
	NextFireTime   sqldb.DBTime
	LastFireTime   sqldb.DBTime
	CreateTime     sqldb.DBTime
	UpdateTime     sqldb.DBTime
	Deleted        bool
	Version        int

	GroupName    string
	Labels       string
	Owner        string
	ScheduleKind string
	Dialect      string
	IntervalMs   int64
	RunAt        sqldb.DBTime
	TimeZone     string
	StartAt      sqldb.DBTime
	EndAt        sqldb.DBTime
	JitterMs     int64
	DstGap       string
	DstOverlap   string
	AnchorTime   sqldb.DBTime

	MisfirePolicy       string
	MisfireThresholdSec int
	MisfireWindowSec    int
	MisfireMaxFires     int
	StartDeadlineSec    int
	OverlapPolicy       string
	MaxConcurrency      int
	MaxQueued           int
	ShardCount          int
	Broadcast           bool
	Routing             string
	OnNodeLoss          string

	DueTime     sqldb.DBTime
	PartitionID int
	PausedAt    sqldb.DBTime
	PausedBy    string
	PauseNote   string
	PausedUntil sqldb.DBTime
	FenceSeq    int64
	Limited     bool
	// NameKey is the unique key of (group, name), byte for byte; it is NULL
	// for deleted jobs, whose names are free again.
	NameKey []byte
	// NameSearch is the name in lower case, for filters.
	NameSearch string
}

// TableName implements GORM's Tabler.
func (jobRow) TableName() string { return "scheduler_job_definition" }

// nameKey tells (group, name) pairs apart; the separator is in neither.
func nameKey(group, name string) []byte { return []byte(group + "\x1f" + name) }

// toJobRow checks what a store could not keep, so that both stores refuse alike.
func toJobRow(j *entity.Job, deleted bool) (*jobRow, error) {
	retry, err := json.Marshal(j.Retry)
	if err != nil {
		return nil, fmt.Errorf("write the retry policy of job %s: %w", j.ID, err)
	}
	routing, err := json.Marshal(j.Routing)
	if err != nil {
		return nil, fmt.Errorf("write the routing of job %s: %w", j.ID, err)
	}
	labels, err := jsonMap(j.Labels)
	if err != nil {
		return nil, fmt.Errorf("write the labels of job %s: %w", j.ID, err)
	}
	r := &jobRow{
		ID: j.ID, Name: j.Name, Description: j.Description, JobType: storedType(j.Type), JobClass: j.Class, JobData: j.Data,
		Priority: j.Priority, Timeout: j.TimeoutSec, RetryPolicy: string(retry), Status: string(j.Status),
		NextFireTime: sqldb.DBTime(j.NextFireTime), LastFireTime: sqldb.DBTime(j.LastFireTime),
		CreateTime: sqldb.DBTime(j.CreateTime), UpdateTime: sqldb.DBTime(j.UpdateTime), Deleted: deleted, Version: j.Version,
		GroupName: j.Group, Labels: labels, Owner: j.Owner,
		MisfirePolicy: string(j.Misfire.Policy), MisfireThresholdSec: j.Misfire.ThresholdSec,
		MisfireWindowSec: j.Misfire.WindowSec, MisfireMaxFires: j.Misfire.MaxFires,
		StartDeadlineSec: j.StartDeadlineSec, OverlapPolicy: string(j.Overlap),
		MaxConcurrency: j.MaxConcurrency, MaxQueued: j.MaxQueued, ShardCount: j.ShardCount, Broadcast: j.Broadcast,
		Routing: string(routing), OnNodeLoss: string(j.OnNodeLoss),
		PartitionID: j.Partition, PausedAt: sqldb.DBTime(j.PausedAt), PausedBy: string(j.PausedBy), FenceSeq: j.FenceSeq, Limited: j.Limited,
		PauseNote: noteText(j.PausedAt, j.Pause), PausedUntil: sqldb.DBTime(j.Pause.Until), NameSearch: strings.ToLower(j.Name),
	}
	r.setSchedule(j.Schedule)
	if !deleted {
		r.NameKey = nameKey(j.Group, j.Name)
	}
	if j.Status == entity.JobEnabled && !deleted {
		r.DueTime = sqldb.DBTime(j.DueTime)
	}
	return r, r.check()
}

// check refuses times that the text form cannot hold.
func (r *jobRow) check() error {
	for _, t := range []sqldb.DBTime{r.NextFireTime, r.LastFireTime, r.CreateTime, r.UpdateTime, r.RunAt, r.StartAt, r.EndAt, r.AnchorTime, r.DueTime, r.PausedAt, r.PausedUntil} {
		if !sqldb.StorableTime(t.Time()) {
			return &repository.PoisonError{Err: fmt.Errorf("job %s has a time outside the years 1000 to 9999: %s", r.ID, t.Time().Format(time.RFC3339))}
		}
	}
	return nil
}

// entity is the job that the row holds. unread are columns that could not be read;
// texts that cannot be are added to them. texts are those of the rows before it.
func (r *jobRow) entity(unread []entity.Unread, texts *jobTexts) *entity.Job {
	j := &entity.Job{
		ID: r.ID, Name: r.Name, Description: r.Description, Group: r.GroupName, Owner: r.Owner,
		Type: typeOf(r.JobType), Class: r.JobClass, Data: r.JobData,
		Misfire: entity.Misfire{
			Policy: entity.MisfirePolicy(r.MisfirePolicy), ThresholdSec: r.MisfireThresholdSec,
			WindowSec: r.MisfireWindowSec, MaxFires: r.MisfireMaxFires,
		},
		Priority: r.Priority, TimeoutSec: r.Timeout, StartDeadlineSec: r.StartDeadlineSec,
		Overlap: entity.OverlapPolicy(r.OverlapPolicy), MaxConcurrency: r.MaxConcurrency, MaxQueued: r.MaxQueued,
		ShardCount: r.ShardCount, Broadcast: r.Broadcast, OnNodeLoss: entity.OnNodeLoss(r.OnNodeLoss),
		Status:       entity.JobStatus(r.Status),
		NextFireTime: r.NextFireTime.Time(), DueTime: r.DueTime.Time(), LastFireTime: r.LastFireTime.Time(),
		PausedAt: r.PausedAt.Time(), PausedBy: entity.PauseCause(r.PausedBy), Pause: pauseOf(r.PausedAt.Time(), r.PauseNote, r.PausedUntil.Time()), Partition: r.PartitionID, FenceSeq: r.FenceSeq, Limited: r.Limited,
		Version: r.Version, CreateTime: r.CreateTime.Time(), UpdateTime: r.UpdateTime.Time(),
		Schedule: r.schedule(),
	}
	j.Retry = texts.retry.read("retry_policy", r.RetryPolicy, &unread)
	j.Routing = texts.routing.read("routing", r.Routing, &unread)
	if j.Routing.Strategy == "" {
		j.Routing.Strategy = entity.RouteAny // whoever takes a run of it says why it does not run
	}
	j.Labels = readJSON[map[string]string]("labels", r.Labels, &unread)
	j.Unread = unread
	return j
}

// readJSON reads a column; an empty text, or one that cannot be read, is the zero
// value.
func readJSON[T any](column, text string, unread *[]entity.Unread) (value T) {
	if text == "" {
		return value
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		*unread = append(*unread, entity.Unread{Field: column, Why: err.Error()})
		var none T
		return none
	}
	return value
}

// jobTexts are the columns whose text is mostly that of the row before.
type jobTexts struct {
	retry   repeated[entity.RetryPolicy]
	routing repeated[entity.Routing]
}

// repeated reads a column of many rows, and decodes what is the same as before
// only once. Rows share such a value, whose lists and maps nobody changes.
type repeated[T any] struct {
	text  string
	value T
}

func (p *repeated[T]) read(column, text string, unread *[]entity.Unread) T {
	if text == "" || text != p.text {
		before := len(*unread)
		value := readJSON[T](column, text, unread)
		if len(*unread) > before {
			return value
		}
		p.text, p.value = text, value
	}
	return p.value
}

// jsonMap writes labels; none are the empty text.
func jsonMap(m map[string]string) (string, error) {
	if len(m) == 0 {
		return "", nil
	}
	b, err := json.Marshal(m)
	return string(b), err
}
