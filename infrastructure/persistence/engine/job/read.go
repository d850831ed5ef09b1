// Package job keeps the definitions of jobs, their versions and their cursors.
package job

import (
	"context"
	"database/sql"
	"maps"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/owner"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Jobs reads jobs: repository.JobReader.
type Jobs struct{ c *sqldb.Conn }

// NewJobs gives the repository over the connections of c.
func NewJobs(c *sqldb.Conn) *Jobs { return &Jobs{c} }

// Get implements repository.JobReader.
func (r *Jobs) Get(ctx context.Context, id string) (*entity.Job, error) {
	if !sqlvalue.IsASCIIID(id) {
		return nil, apperror.NotFound("job", id)
	}
	return sqldb.One(ctx, r.c, "job.get",
		"SELECT "+jobColumns+" FROM scheduler_job_definition WHERE id = ? AND deleted = 0", []any{id},
		newJobReader(whole).scan, apperror.NotFound("job", id))
}

// ByIDs implements repository.JobReader.
func (r *Jobs) ByIDs(ctx context.Context, ids []string) ([]*entity.Job, error) {
	return readPlans(ctx, r.c, "job.by-ids", sqlvalue.OnlyASCIIIDs(ids), "deleted = 0")
}

// Versions implements repository.JobReader.
func (r *Jobs) Versions(ctx context.Context, ids []string) (map[string]int, error) {
	return valuesOf[int](ctx, r.c, "job.versions", "version", r.c.Dialect.ByPrimary, " AND deleted = 0", ids)
}

// Names implements repository.JobReader.
func (r *Jobs) Names(ctx context.Context, ids []string) (map[string]string, error) {
	names, err := valuesOf[string](ctx, r.c, "job.names", "name", "", "", ids)
	if err != nil {
		return nil, err
	}
	steps, err := owner.Titles(ctx, r.c, ids)
	for id, title := range steps {
		names[id] = title.Name
	}
	return names, err
}

// GroupsOf implements repository.JobReader.
func (r *Jobs) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	groups, err := valuesOf[string](ctx, r.c, "job.groups", "group_name", "", "", ids)
	if err != nil {
		return nil, err
	}
	steps, err := owner.Titles(ctx, r.c, ids)
	for id, title := range steps {
		groups[id] = title.Group
	}
	return groups, err
}

// Titles implements repository.JobReader.
func (r *Jobs) Titles(ctx context.Context, ids []string) (map[string]repository.JobName, error) {
	out := make(map[string]repository.JobName, len(ids))
	_, err := sqldb.CollectIn(ctx, r.c, "job.titles",
		"SELECT id, group_name, name FROM scheduler_job_definition WHERE {in}", "id", sqlvalue.OnlyASCIIIDs(ids),
		func(rows *sql.Rows) (id string, err error) {
			var title repository.JobName
			_, err = sqlvalue.ScanRow(rows, &id, &title.Group, &title.Name)
			out[id] = title
			return id, err
		})
	if err != nil {
		return nil, err
	}
	steps, err := owner.Titles(ctx, r.c, ids)
	maps.Copy(out, steps)
	return out, err
}

// valuesOf reads one column of jobs, also of deleted ones where no condition leaves them out.
func valuesOf[V any](ctx context.Context, c *sqldb.Conn, statement, column, index, condition string, ids []string,
) (map[string]V, error) {
	out := make(map[string]V, len(ids))
	_, err := sqldb.CollectIn(ctx, c, statement,
		"SELECT id, "+column+" FROM scheduler_job_definition"+index+" WHERE {in}"+condition, "id", sqlvalue.OnlyASCIIIDs(ids),
		func(rows *sql.Rows) (id string, err error) {
			var value V
			_, err = sqlvalue.ScanRow(rows, &id, &value)
			out[id] = value
			return id, err
		})
	return out, err
}

// List implements repository.JobReader.
func (r *Jobs) List(ctx context.Context, f repository.JobFilter, p repository.Page) ([]*entity.Job, string, error) {
	after, err := listing.ReadCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	if sqlvalue.HasTrailingSpace(f.Group) { // no group is named like that
		return nil, "", nil
	}
	return listing.WindowScan[*entity.Job]{
		Conn: r.c, Statement: "job.list-window", Table: "scheduler_job_definition", Key: "id",
		Page: func(ctx context.Context, lo, hi string, limit int) ([]*entity.Job, string, error) {
			return r.page(ctx, f, listing.IDBounds("id", lo, hi), limit)
		},
	}.Run(ctx, "", after, listing.PageSize(p.Limit))
}

// page reads matching jobs, newest first.
func (r *Jobs) page(ctx context.Context, f repository.JobFilter, ids listing.Condition,
	limit int,
) ([]*entity.Job, string, error) {
	name, groups := listing.Condition{}, listing.Condition{}
	if f.NameContains != "" { // INSTR, because it knows no wildcards
		name = listing.Condition{Text: "INSTR(name_search, ?) > 0", Args: []any{strings.ToLower(f.NameContains)}}
	}
	if f.Groups != nil {
		in, args := r.c.Dialect.InAny("group_name", f.Groups)
		groups = listing.Condition{Text: in, Args: args}
	}
	where, args := listing.JoinConditions(listing.Condition{Text: "deleted = 0"}, ids, name, groups,
		listing.Equals("group_name", f.Group), listing.Equals("status", string(f.Status)),
		listing.Equals("job_type", storedType(f.Type)))
	jobs, err := sqldb.Collect(ctx, r.c, "job.list",
		"SELECT "+jobColumns+" FROM scheduler_job_definition"+where+" ORDER BY id DESC LIMIT ?", append(args, limit+1),
		newJobReader(whole).scan)
	if err != nil {
		return nil, "", err
	}
	jobs, next := listing.CutPage(jobs, limit, func(j *entity.Job) string { return j.ID })
	return jobs, next, nil
}
