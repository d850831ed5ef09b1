package record

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/engine/execution"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// letterRow is a row of scheduler_dead_letter.
type letterRow struct {
	ExecutionID string
	JobID       string
	Reason      string
	Message     string
	ReplayedAs  string
	CreateTime  sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (letterRow) TableName() string { return "scheduler_dead_letter" }

func (r letterRow) entity() entity.DeadLetter {
	return entity.DeadLetter{
		ExecutionID: r.ExecutionID, JobID: r.JobID, Reason: entity.Reason(r.Reason), Message: r.Message,
		ReplayedAs: r.ReplayedAs, CreateTime: r.CreateTime.Time(),
	}
}

// DeadLetters implements repository.RecordReader.
func (r *Records) DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
	p repository.Page,
) ([]entity.DeadLetter, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !sqlvalue.IsASCIIID(f.JobID) {
		return nil, "", nil
	}
	ofJob := listing.Equals("job_id", f.JobID)
	return listing.WindowScan[entity.DeadLetter]{
		Conn: r.c, Statement: "dead-letter.list-window", Table: "scheduler_dead_letter", Key: "execution_id",
		Where: ofJob.Text, Args: ofJob.Args,
		Page: func(ctx context.Context, lo, hi string, limit int) ([]entity.DeadLetter, string, error) {
			return r.letterPage(ctx, f, listing.IDBounds("execution_id", lo, hi), limit)
		},
	}.Run(ctx, "", after, listing.PageSize(p.Limit))
}

// letterPage reads matching letters, newest first.
func (r *Records) letterPage(ctx context.Context, f repository.DeadLetterFilter, ids listing.Condition,
	limit int,
) ([]entity.DeadLetter, string, error) {
	db := r.letters(ctx, "dead-letter.list", f).Order("execution_id DESC").Limit(limit + 1)
	if ids.Text != "" {
		db = db.Where(ids.Text, ids.Args...)
	}
	var rows []letterRow
	if err := db.Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(r letterRow) string { return r.ExecutionID })
	letters := make([]entity.DeadLetter, 0, len(rows))
	for _, row := range rows {
		letters = append(letters, row.entity())
	}
	return letters, next, nil
}

// letters begins a query for the letters of a filter.
func (r *Records) letters(ctx context.Context, name string, f repository.DeadLetterFilter) *gorm.DB {
	db := r.c.GORM(ctx, name).Model(&letterRow{})
	if f.JobID != "" {
		db = db.Where("job_id = ?", f.JobID)
	}
	if f.Reason != "" {
		db = db.Where("reason = ?", string(f.Reason))
	}
	if f.Waiting {
		db = db.Where("replayed_as IS NULL")
	}
	if of := execution.OfGroups(r.c.Dialect, "job_id", f.Groups); of.Text != "" {
		db = db.Where(of.Text, of.Args...)
	}
	return db
}

// causeRow is a group of letters.
type causeRow struct {
	JobID  string
	Reason string
	Count  int
	Latest string
	First  sqlvalue.DBTime
}

// DeadLetterCauses implements repository.RecordReader.
func (r *Records) DeadLetterCauses(ctx context.Context, f repository.DeadLetterFilter,
	limit int,
) ([]repository.DeadLetterCause, error) {
	if !sqlvalue.IsASCIIID(f.JobID) {
		return nil, nil
	}
	f.Waiting = true
	var rows []causeRow
	err := r.letters(ctx, "dead-letter.causes", f).
		Select("job_id, reason, COUNT(*) AS count, MAX(execution_id) AS latest, MIN(create_time) AS first").
		Group("job_id, reason").Order("count DESC, job_id, reason").Limit(limit).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make([]repository.DeadLetterCause, len(rows))
	for i, row := range rows {
		out[i] = repository.DeadLetterCause{
			JobID: row.JobID, Reason: entity.Reason(row.Reason), Count: row.Count,
			First: row.First.Time(),
		}
		letter, err := r.DeadLetter(ctx, row.Latest)
		if err != nil && !apperror.Is(err, apperror.KindNotFound) { // replayed meanwhile
			return nil, err
		}
		out[i].Latest = letter
	}
	return out, nil
}

// DeadLetter implements repository.RecordReader.
func (r *Records) DeadLetter(ctx context.Context, executionID string) (entity.DeadLetter, error) {
	if !sqlvalue.IsASCIIID(executionID) {
		return entity.DeadLetter{}, apperror.NotFound("dead letter", executionID)
	}
	var row letterRow
	err := r.c.GORM(ctx, "dead-letter.get").Where("execution_id = ?", executionID).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return entity.DeadLetter{}, apperror.NotFound("dead letter", executionID)
	}
	return row.entity(), err
}
