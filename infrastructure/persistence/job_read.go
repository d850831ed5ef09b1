package persistence

import (
	"context"
	"errors"
	"strings"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Jobs reads jobs: repository.JobReader.
type Jobs struct{ c *conn }

// Get implements repository.JobReader.
func (r *Jobs) Get(ctx context.Context, id string) (*entity.Job, error) {
	if !plain(id) {
		return nil, fault.NotFound("job", id)
	}
	var row jobRow
	err := r.c.gorm(ctx, "job.get").Where("id = ? AND deleted = 0", id).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, fault.NotFound("job", id)
	}
	if err != nil {
		return nil, err
	}
	return row.entity()
}

// ByIDs implements repository.JobReader.
func (r *Jobs) ByIDs(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return r.c.plans(ctx, "job.by-ids", plainOnly(ids), "deleted = 0")
}

func entities(rows []jobRow) ([]*entity.Job, error) {
	out := make([]*entity.Job, 0, len(rows))
	for i := range rows {
		j, err := rows[i].entity()
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// Versions implements repository.JobReader.
func (r *Jobs) Versions(ctx context.Context, ids []string) (map[string]int, error) {
	out := make(map[string]int, len(ids))
	for _, part := range chunks(plainOnly(ids), r.c.d.maxRows) {
		var rows []jobRow
		in, args := r.c.d.in("id", part)
		err := r.c.gorm(ctx, "job.versions").Select("id", "version").Where(in+" AND deleted = 0", args...).Find(&rows).Error
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.ID] = row.Version
		}
	}
	return out, nil
}

// Names implements repository.JobReader.
func (r *Jobs) Names(ctx context.Context, ids []string) (map[string]string, error) {
	return r.column(ctx, "job.names", "name", ids, func(row jobRow) string { return row.Name })
}

// GroupsOf implements repository.JobReader.
func (r *Jobs) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	return r.column(ctx, "job.groups", "group_name", ids, func(row jobRow) string { return row.GroupName })
}

// column reads one column of jobs, also of deleted ones.
func (r *Jobs) column(ctx context.Context, statement, column string, ids []string, value func(jobRow) string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	for _, part := range chunks(plainOnly(ids), r.c.d.maxRows) {
		var rows []jobRow
		in, args := r.c.d.in("id", part)
		if err := r.c.gorm(ctx, statement).Select("id", column).Where(in, args...).Find(&rows).Error; err != nil {
			return nil, err
		}
		for _, row := range rows {
			out[row.ID] = value(row)
		}
	}
	return out, nil
}

// List implements repository.JobReader.
func (r *Jobs) List(ctx context.Context, f repository.JobFilter, p repository.Page) ([]*entity.Job, string, error) {
	after, err := readCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if padded(f.Group) { // no group is named like that
		return nil, "", nil
	}
	return walk[*entity.Job]{
		c: r.c, statement: "job.list-window", table: "scheduler_job_definition", key: "id",
		page: func(ctx context.Context, lo, hi string, limit int) ([]*entity.Job, string, error) {
			return r.page(ctx, f, idBounds("id", lo, hi), limit)
		},
	}.run(ctx, "", after, pageSize(p.Limit))
}

// page reads matching jobs, newest first.
func (r *Jobs) page(ctx context.Context, f repository.JobFilter, ids condition, limit int) ([]*entity.Job, string, error) {
	db := r.c.gorm(ctx, "job.list").Where("deleted = 0")
	if ids.text != "" {
		db = db.Where(ids.text, ids.args...)
	}
	if f.NameContains != "" { // INSTR, because it knows no wildcards
		db = db.Where("INSTR(name_search, ?) > 0", strings.ToLower(f.NameContains))
	}
	if f.Group != "" {
		db = db.Where("group_name = ?", f.Group)
	}
	if f.Groups != nil {
		in, args := r.c.d.inAny("group_name", f.Groups)
		db = db.Where(in, args...)
	}
	if f.Status != "" {
		db = db.Where("status = ?", string(f.Status))
	}
	if f.Type != "" {
		db = db.Where("job_type = ?", string(f.Type))
	}
	var rows []jobRow
	if err := db.Order("id DESC").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(r jobRow) string { return r.ID })
	jobs, err := entities(rows)
	return jobs, next, err
}
