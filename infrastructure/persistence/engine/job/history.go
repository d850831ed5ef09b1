package job

import (
	"context"
	"strconv"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/schedule"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// History implements repository.JobReader.
func (r *Jobs) History(ctx context.Context, id string, p repository.Page) ([]*entity.Job, string, error) {
	if !sqlvalue.IsASCIIID(id) {
		return nil, "", nil
	}
	before, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	query := r.c.GORM(ctx, "job.history").Where("job_id = ?", id)
	if before != "" {
		version, err := strconv.Atoi(before)
		if err != nil {
			return nil, "", apperror.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
		}
		query = query.Where("version < ?", version)
	}
	var rows []versionRow
	if err := query.Order("version DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := listing.CutPage(rows, limit, func(v versionRow) string { return strconv.Itoa(v.Version) })
	jobs := make([]*entity.Job, len(rows))
	for i := range rows {
		jobs[i] = rows[i].entity()
	}
	return jobs, next, nil
}

// Version implements repository.JobReader.
func (r *Jobs) Version(ctx context.Context, id string, version int) (*entity.Job, error) {
	unknown := apperror.NotFound("version", strconv.Itoa(version))
	if !sqlvalue.IsASCIIID(id) {
		return nil, unknown
	}
	var rows []versionRow
	if err := r.c.GORM(ctx, "job.version").Where("job_id = ? AND version = ?", id, version).Find(&rows).Error; err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, unknown
	}
	return rows[0].entity(), nil
}

// ScheduleOf implements repository.JobWriter.
func (w *jobWriter) ScheduleOf(ctx context.Context, id string, version int) (schedule.Spec, bool, error) {
	texts, err := sqldb.Collect(ctx, w.c, "job.schedule-of",
		"SELECT definition FROM scheduler_job_version WHERE job_id = ? AND version = ?", []any{id, version},
		sqlvalue.ScanText)
	if err != nil || len(texts) == 0 {
		return schedule.Spec{}, false, err
	}
	job := definitionOf(texts[0])
	return job.Schedule, job.Unreadable() == "", nil
}

// entity is the user's part of a job, as it was under that version.
func (v versionRow) entity() *entity.Job {
	j := definitionOf(v.Definition)
	j.ID, j.Version, j.UpdateTime = v.JobID, v.Version, v.CreateTime.Time()
	if v.CreatedBy != nil {
		j.ChangedBy = *v.CreatedBy
	}
	return j
}
