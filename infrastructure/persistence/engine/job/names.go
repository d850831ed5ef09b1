package job

import (
	"context"
	"encoding/base64"
	"slices"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
)

// maxNameCursor bounds a cursor by name: no name_key is longer.
const maxNameCursor = 820

// JobsByName implements repository.Definitions. It follows the index of
// name_key, whose separator sorts before whatever a group can be named with.
func (r *Jobs) JobsByName(ctx context.Context, group string, p repository.Page) ([]*entity.Job, string, error) {
	after, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil || len(after) > maxNameCursor {
		return nil, "", apperror.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
	}
	limit := listing.PageSize(p.Limit)
	within := listing.Condition{Text: "name_key > ?", Args: []any{after}}
	if group != "" {
		from := nameKey(group, "")
		to := append([]byte(nil), from...)
		to[len(to)-1]++ // the first key after those of the group
		within = listing.Condition{Text: "name_key > ? AND name_key > ? AND name_key < ?", Args: []any{after, from, to}}
	}
	jobs, err := sqldb.Collect(ctx, r.c, "job.by-name",
		"SELECT "+jobColumns+" FROM scheduler_job_definition WHERE "+within.Text+" ORDER BY name_key LIMIT ?",
		append(within.Args, limit+1), newJobReader(whole).scan)
	if err != nil {
		return nil, "", err
	}
	jobs, next := listing.CutPage(jobs, limit, func(j *entity.Job) string { return string(nameKey(j.Group, j.Name)) })
	return jobs, next, nil
}

// JobsNamed implements repository.Definitions.
func (r *Jobs) JobsNamed(ctx context.Context, names []repository.JobName) (map[repository.JobName]*entity.Job, error) {
	out := make(map[repository.JobName]*entity.Job, len(names))
	for part := range slices.Chunk(names, r.c.Dialect.MaxRows) {
		keys := convert.All(part, func(n repository.JobName) any { return nameKey(n.Group, n.Name) })
		jobs, err := sqldb.Collect(ctx, r.c, "job.named",
			"SELECT "+jobColumns+" FROM scheduler_job_definition WHERE name_key IN ("+dialect.Marks(len(keys))+")", keys,
			newJobReader(whole).scan)
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			out[repository.JobName{Group: j.Group, Name: j.Name}] = j
		}
	}
	return out, nil
}
