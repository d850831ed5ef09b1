package persistence

import (
	"context"
	"encoding/base64"

	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxNameCursor bounds a cursor by name: no name_key is longer.
const maxNameCursor = 820

// JobsByName implements repository.Definitions. It follows the index of
// name_key, whose separator sorts before whatever a group can be named with.
func (r *Jobs) JobsByName(ctx context.Context, group string, p repository.Page) ([]*entity.Job, string, error) {
	after, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err != nil || len(after) > maxNameCursor {
		return nil, "", fault.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
	}
	limit := pageSize(p.Limit)
	db := r.c.gorm(ctx, "job.by-name").Where("name_key > ?", after)
	if group != "" {
		from := nameKey(group, "")
		to := append([]byte(nil), from...)
		to[len(to)-1]++ // the first key after those of the group
		db = db.Where("name_key > ? AND name_key < ?", from, to)
	}
	var rows []jobRow
	if err := db.Order("name_key").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(r jobRow) string { return string(r.NameKey) })
	jobs, err := entities(rows)
	return jobs, next, err
}

// JobsNamed implements repository.Definitions.
func (r *Jobs) JobsNamed(ctx context.Context, names []repository.JobName) (map[repository.JobName]*entity.Job, error) {
	out := make(map[repository.JobName]*entity.Job, len(names))
	for _, part := range chunks(names, r.c.d.maxRows) {
		keys := make([]any, len(part))
		for i, n := range part {
			keys[i] = nameKey(n.Group, n.Name)
		}
		var rows []jobRow
		// Not with marks: after a parenthesis GORM takes bytes for a list.
		if err := r.c.gorm(ctx, "job.named").Where(clause.IN{Column: "name_key", Values: keys}).Find(&rows).Error; err != nil {
			return nil, err
		}
		jobs, err := entities(rows)
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			out[repository.JobName{Group: j.Group, Name: j.Name}] = j
		}
	}
	return out, nil
}
