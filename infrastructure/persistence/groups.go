package persistence

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/fault"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Groups keeps groups of jobs: repository.Groups.
type Groups struct{ s *core }

// groupRow is a row of scheduler_job_group.
type groupRow struct {
	Name           string `gorm:"column:name;primaryKey"`
	MaxConcurrency int
	Paused         bool
	Settled        bool
	Version        int
	CreateTime     stamp
	UpdateTime     stamp
}

// TableName implements GORM's Tabler.
func (groupRow) TableName() string { return "scheduler_job_group" }

func (r groupRow) entity() entity.Group {
	return entity.Group{
		Name: r.Name, MaxConcurrency: r.MaxConcurrency, Paused: r.Paused, Settled: r.Settled, Version: r.Version,
		CreateTime: r.CreateTime.time(), UpdateTime: r.UpdateTime.time(),
	}
}

func groupsOf(rows []groupRow) []entity.Group {
	out := make([]entity.Group, len(rows))
	for i, row := range rows {
		out[i] = row.entity()
	}
	return out
}

// ListGroups implements repository.Groups.
func (r *Groups) ListGroups(ctx context.Context, names []string, p repository.Page) ([]entity.Group, string, error) {
	after, err := readNameCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := pageSize(p.Limit)
	db := r.s.read.gorm(ctx, "group.list").Where("name > ?", after)
	if names != nil {
		in, args := r.s.dialect.inAny("name", names)
		db = db.Where(in, args...)
	}
	var rows []groupRow
	if err := db.Order("name").Limit(limit + 1).Find(&rows).Error; err != nil {
		return nil, "", err
	}
	rows, next := cutPage(rows, limit, func(r groupRow) string { return r.Name })
	return groupsOf(rows), next, nil
}

// Group implements repository.Groups.
func (r *Groups) Group(ctx context.Context, name string) (entity.Group, error) {
	return r.s.read.group(ctx, name)
}

func (c *conn) group(ctx context.Context, name string) (entity.Group, error) {
	var row groupRow
	err := c.gorm(ctx, "group.get").Where("name = ?", name).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) || err == nil && row.Name != name {
		return entity.Group{}, fault.NotFound("group", name)
	}
	return row.entity(), err
}

// AddGroup implements repository.Groups.
func (r *Groups) AddGroup(ctx context.Context, g entity.Group) error {
	err := r.s.change(ctx, repository.LaneAPI, "group-add", func(ctx context.Context, c *conn) error {
		return c.gorm(ctx, "group.insert").Create(&groupRow{
			Name: g.Name, MaxConcurrency: g.MaxConcurrency, Settled: true, Version: 1, CreateTime: stamp(g.CreateTime),
		}).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) {
		return fault.Conflict("name_taken", "a group with the name %q exists", g.Name)
	}
	return err
}

// LimitGroup implements repository.Groups.
func (r *Groups) LimitGroup(ctx context.Context, name string, maxConcurrency, version int, at time.Time) (g entity.Group, err error) {
	err = r.s.change(ctx, repository.LaneAPI, "group-limit", func(ctx context.Context, c *conn) error {
		n, err := c.exec(ctx, "group.limit",
			`UPDATE scheduler_job_group SET settled = CASE WHEN (max_concurrency > 0) <> ? THEN 0 ELSE settled END,
			max_concurrency = ?, version = version + 1, update_time = ? WHERE name = ? AND (? = 0 OR version = ?)`,
			flag(maxConcurrency > 0), maxConcurrency, text(at), name, version, version)
		if err != nil {
			return err
		}
		if g, err = c.group(ctx, name); err != nil {
			return err
		}
		if n == 0 {
			return fault.Conflict("stale_version", "the group is at version %d, not %d: read it again and repeat the edit", g.Version, version)
		}
		return nil
	})
	return g, err
}

// DropGroup implements repository.Groups.
func (r *Groups) DropGroup(ctx context.Context, name string) error {
	return r.s.change(ctx, repository.LaneAPI, "group-drop", func(ctx context.Context, c *conn) error {
		if _, err := c.group(ctx, name); err != nil {
			return err
		}
		n, err := c.exec(ctx, "group.drop",
			"DELETE FROM scheduler_job_group WHERE name = ? AND NOT EXISTS (SELECT 1 FROM scheduler_job_definition WHERE group_name = ? AND deleted = 0)", name, name)
		if err == nil && n == 0 {
			return fault.Conflict("not_empty", "the group still has jobs: move or delete them first")
		}
		return err
	})
}

// ensureGroups makes the rows of groups that jobs name.
func (c *conn) ensureGroups(ctx context.Context, jobs ...*entity.Job) error {
	at := map[string]time.Time{}
	for _, j := range jobs {
		at[j.Group] = j.UpdateTime
	}
	for name, t := range at {
		found, err := collect(ctx, c, "group.exists", "SELECT name FROM scheduler_job_group WHERE name = ?", []any{name}, scanText)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			continue
		}
		if err := c.ensureGroup(ctx, name, t); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) ensureGroup(ctx context.Context, name string, at time.Time) error {
	row := groupRow{Name: name, Settled: true, Version: 1, CreateTime: stamp(at)}
	return c.gorm(ctx, "group.ensure").Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}
