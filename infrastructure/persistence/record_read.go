package persistence

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Records reads logs and dead letters: repository.RecordReader.
type Records struct{ c *conn }

// maxLogPage bounds the log rows of one page.
const maxLogPage = 1000

// Logs implements repository.RecordReader.
func (r *Records) Logs(ctx context.Context, p repository.LogPage) ([]entity.LogChunk, error) {
	if !plain(p.ExecutionID) {
		return nil, nil
	}
	limit := p.Limit
	if limit <= 0 || limit > maxLogPage {
		limit = maxLogPage
	}
	return collect(ctx, r.c, "log.page", `SELECT id, job_id, execution_id, log_type, content, create_time, attempt, seq_from, seq_to, truncated
		FROM scheduler_job_log WHERE execution_id = ? AND seq_to > ? ORDER BY seq_from, id LIMIT ?`,
		[]any{p.ExecutionID, p.AfterSeq, limit}, func(rows *sql.Rows) (l entity.LogChunk, err error) {
			var created stamp
			err = rows.Scan(&l.ID, &l.JobID, &l.ExecutionID, &l.Type, &l.Content, &created, &l.Attempt, &l.SeqFrom, &l.SeqTo, &l.Truncated)
			l.CreateTime = created.time()
			return l, err
		})
}

// letterRow is a row of scheduler_dead_letter.
type letterRow struct {
	ExecutionID string
	JobID       string
	Reason      string
	Message     string
	ReplayedAs  string
	CreateTime  stamp
}

// TableName implements GORM's Tabler.
func (letterRow) TableName() string { return "scheduler_dead_letter" }

func (r letterRow) entity() entity.DeadLetter {
	return entity.DeadLetter{
		ExecutionID: r.ExecutionID, JobID: r.JobID, Reason: entity.Reason(r.Reason), Message: r.Message,
		ReplayedAs: r.ReplayedAs, CreateTime: r.CreateTime.time(),
	}
}

// DeadLetters implements repository.RecordReader.
func (r *Records) DeadLetters(ctx context.Context, jobID string, p repository.Page) ([]entity.DeadLetter, string, error) {
	after, err := readCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if !plain(jobID) {
		return nil, "", nil
	}
	limit := pageSize(p.Limit)
	db := r.c.gorm(ctx, "dead-letter.list").Order("execution_id DESC").Limit(limit + 1)
	if jobID != "" {
		db = db.Where("job_id = ?", jobID)
	}
	if after != "" {
		db = db.Where("execution_id < ?", after)
	}
	var rows []letterRow
	if err := db.Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(r letterRow) string { return r.ExecutionID })
	letters := make([]entity.DeadLetter, 0, len(rows))
	for _, row := range rows {
		letters = append(letters, row.entity())
	}
	return letters, next, nil
}

// DeadLetter implements repository.RecordReader.
func (r *Records) DeadLetter(ctx context.Context, executionID string) (entity.DeadLetter, error) {
	if !plain(executionID) {
		return entity.DeadLetter{}, fault.NotFound("dead letter", executionID)
	}
	var row letterRow
	err := r.c.gorm(ctx, "dead-letter.get").Where("execution_id = ?", executionID).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return entity.DeadLetter{}, fault.NotFound("dead letter", executionID)
	}
	return row.entity(), err
}
