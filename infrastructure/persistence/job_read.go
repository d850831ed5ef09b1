package persistence

import (
	"context"
	"database/sql"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Jobs reads jobs: repository.JobReader.
type Jobs struct{ c *conn }

// Get implements repository.JobReader.
func (r *Jobs) Get(ctx context.Context, id string) (*entity.Job, error) {
	if !plain(id) {
		return nil, apperror.NotFound("job", id)
	}
	jobs, err := collect(ctx, r.c, "job.get", "SELECT "+jobColumns+" FROM scheduler_job_definition WHERE id = ? AND deleted = 0", []any{id}, scanJob)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, apperror.NotFound("job", id)
	}
	return jobs[0], nil
}

// ByIDs implements repository.JobReader.
func (r *Jobs) ByIDs(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return plans(ctx, r.c, "job.by-ids", plainOnly(ids), "deleted = 0")
}

// Versions implements repository.JobReader.
func (r *Jobs) Versions(ctx context.Context, ids []string) (map[string]int, error) {
	out := make(map[string]int, len(ids))
	for _, part := range chunks(plainOnly(ids), r.c.d.maxRows) {
		in, args := r.c.d.in("id", part)
		_, err := collect(ctx, r.c, "job.versions", "SELECT id, version FROM scheduler_job_definition"+r.c.d.byPrimary+" WHERE "+in+" AND deleted = 0", args,
			func(rows *sql.Rows) (id string, err error) {
				var version int
				_, err = scanRow(rows, &id, &version)
				out[id] = version
				return id, err
			})
		if err != nil {
			return nil, err
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
	name, groups := condition{}, condition{}
	if f.NameContains != "" { // INSTR, because it knows no wildcards
		name = condition{"INSTR(name_search, ?) > 0", []any{strings.ToLower(f.NameContains)}}
	}
	if f.Groups != nil {
		in, args := r.c.d.inAny("group_name", f.Groups)
		groups = condition{in, args}
	}
	where, args := joinConditions(condition{text: "deleted = 0"}, ids, name, groups,
		equals("group_name", f.Group), equals("status", string(f.Status)), equals("job_type", storedType(f.Type)))
	jobs, err := collect(ctx, r.c, "job.list", "SELECT "+jobColumns+" FROM scheduler_job_definition"+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1), scanJob)
	if err != nil {
		return nil, "", err
	}
	jobs, next := cutPage(jobs, limit, func(j *entity.Job) string { return j.ID })
	return jobs, next, nil
}
