// Package group keeps groups of jobs, and the slots under their limits.
package group

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gorm.io/gorm/clause"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/listing"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Groups keeps groups of jobs: repository.Groups.
type Groups struct{ s *sqldb.Core }

// NewGroups gives the repository over the connections of s.
func NewGroups(s *sqldb.Core) *Groups { return &Groups{s} }

// groupRow is a row of scheduler_job_group.
type groupRow struct {
	Name           string `gorm:"column:name;primaryKey"`
	MaxConcurrency int
	Paused         bool
	Settled        bool `gorm:"column:settled"`
	Version        int
	CreateTime     sqlvalue.DBTime
	UpdateTime     sqlvalue.DBTime
}

// TableName implements GORM's Tabler.
func (groupRow) TableName() string { return "scheduler_job_group" }

const selectGroups = `SELECT name, max_concurrency, paused, settled, version, create_time, update_time, held_at, COALESCE(pause_note, ''),
	paused_until, hold_version FROM scheduler_job_group`

func scanGroup(rows *sql.Rows) (entity.Group, error) {
	var g entity.Group
	var created, updated, held, until sqlvalue.DBTime
	var note string
	var holdVersion int
	unread, err := sqlvalue.ScanRow(rows, &g.Name, &g.MaxConcurrency, &g.Paused, &g.Converged, &g.Version, &created,
		&updated, &held, &note, &until, &holdVersion)
	g.CreateTime, g.UpdateTime, g.Unreadable = created.Time(), updated.Time(), entity.Describe(unread)
	switch {
	case holdVersion != g.Version: // a program that knows no notes has changed it since
		if g.Paused {
			g.PausedAt = g.UpdateTime
		}
	case g.Paused:
		g.PausedAt, g.Pause = readNote(note, until.Time())
	default:
		g.PausedAt, g.Pause = readNote(note, time.Time{})
		g.ResumedAt = held.Time()
	}
	return g, err
}

// ListGroups implements repository.Groups.
func (r *Groups) ListGroups(ctx context.Context, names []string, p repository.Page) ([]entity.Group, string, error) {
	after, err := listing.ReadNameCursor(p.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := listing.PageSize(p.Limit)
	where, args := "name > ?", []any{after}
	if names != nil {
		in, list := r.s.Dialect.InAny("name", names)
		where, args = where+" AND "+in, append(args, list...)
	}
	groups, err := sqldb.Collect(ctx, r.s.Pool, "group.list", selectGroups+" WHERE "+where+" ORDER BY name LIMIT ?",
		append(args, limit+1), scanGroup)
	if err != nil {
		return nil, "", err
	}
	groups, next := listing.CutPage(groups, limit, func(g entity.Group) string { return g.Name })
	return groups, next, nil
}

// Group implements repository.Groups.
func (r *Groups) Group(ctx context.Context, name string) (entity.Group, error) {
	return findGroup(ctx, r.s.Pool, "group.get", "", name)
}

func findGroup(ctx context.Context, c *sqldb.Conn, statement, lock, name string) (entity.Group, error) {
	missing := apperror.NotFound("group", name)
	g, err := sqldb.One(ctx, c, statement, selectGroups+" WHERE name = ?"+lock, []any{name}, scanGroup, missing)
	if err == nil && g.Name != name {
		return entity.Group{}, missing
	}
	return g, err
}

// AddGroup implements repository.Groups.
func (r *Groups) AddGroup(ctx context.Context, g entity.Group) error {
	err := r.s.Change(ctx, repository.LaneAPI, "group-add", func(ctx context.Context, c *sqldb.Conn) error {
		return c.GORM(ctx, "group.insert").Create(&groupRow{
			Name: g.Name, MaxConcurrency: g.MaxConcurrency, Settled: true, Version: 1, CreateTime: sqlvalue.DBTime(g.CreateTime),
		}).Error
	})
	if errors.Is(err, repository.ErrDuplicateID) {
		return apperror.Conflict("name_taken", "a group with the name %q exists", g.Name)
	}
	return err
}

// LimitGroup implements repository.Groups.
func (r *Groups) LimitGroup(ctx context.Context, name string, maxConcurrency, version int,
	at time.Time,
) (g entity.Group, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "group-limit", func(ctx context.Context, c *sqldb.Conn) error {
		n, err := c.Exec(ctx, "group.limit",
			`UPDATE scheduler_job_group SET settled = CASE WHEN (max_concurrency > 0) <> ? THEN 0 ELSE settled END,
			max_concurrency = ?, hold_version = CASE WHEN hold_version = version THEN version + 1 ELSE hold_version END,
			version = version + 1, update_time = ? WHERE name = ? AND (? = 0 OR version = ?)`,
			sqlvalue.Flag(maxConcurrency > 0), maxConcurrency, sqlvalue.TimeArg(at), name, version, version)
		if err != nil {
			return err
		}
		if g, err = findGroup(ctx, c, "group.get", "", name); err != nil {
			return err
		}
		if n == 0 {
			return apperror.Conflict("stale_version", "the group is at version %d, not %d: read it again and repeat the edit",
				g.Version, version)
		}
		return nil
	})
	return g, err
}

// DropGroup implements repository.Groups.
func (r *Groups) DropGroup(ctx context.Context, name string) error {
	return r.s.Change(ctx, repository.LaneAPI, "group-drop", func(ctx context.Context, c *sqldb.Conn) error {
		// A job that joins the group holds its row: the look for jobs comes after.
		found, err := sqldb.Collect(ctx, c, "group.lock-drop",
			"SELECT name FROM scheduler_job_group WHERE name = ?"+c.Dialect.ForUpdate, []any{name}, sqlvalue.ScanText)
		if err != nil {
			return err
		}
		if len(found) == 0 || found[0] != name {
			return apperror.NotFound("group", name)
		}
		n, err := c.Exec(ctx, "group.drop",
			"DELETE FROM scheduler_job_group WHERE name = ? AND NOT EXISTS (SELECT 1 FROM scheduler_job_definition WHERE "+
				"group_name = ? AND deleted = 0)", name, name)
		if err == nil && n == 0 {
			return apperror.Conflict("not_empty", "the group still has jobs: move or delete them first")
		}
		return err
	})
}

// Ensure makes the rows of groups that jobs name.
func Ensure(ctx context.Context, c *sqldb.Conn, jobs ...*entity.Job) error {
	at := map[string]time.Time{}
	for _, j := range jobs {
		at[j.Group] = j.UpdateTime
	}
	for name, t := range at {
		found, err := sqldb.Collect(ctx, c, "group.exists", "SELECT name FROM scheduler_job_group WHERE name = ?",
			[]any{name}, sqlvalue.ScanText)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			continue
		}
		if err := ensure(ctx, c, name, t); err != nil {
			return err
		}
	}
	return nil
}

func ensure(ctx context.Context, c *sqldb.Conn, name string, at time.Time) error {
	row := groupRow{Name: name, Settled: true, Version: 1, CreateTime: sqlvalue.DBTime(at)}
	return c.GORM(ctx, "group.ensure").Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}
