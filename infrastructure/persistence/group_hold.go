package persistence

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// groupWriter implements repository.GroupWriter.
type groupWriter struct{ c *conn }

// Terms implements repository.GroupWriter. The rows are locked for reading, so
// that a pause or a limit of the group comes before the change or after it, and
// in the second case finds the changed job.
func (w *groupWriter) Terms(ctx context.Context, group string) (terms repository.GroupTerms, err error) {
	for range 2 {
		terms = repository.GroupTerms{}
		found, err := collect(ctx, w.c, "group.terms", "SELECT name, paused, max_concurrency FROM scheduler_job_group WHERE name IN ('', ?) ORDER BY name"+w.c.d.forShare,
			[]any{group}, func(rows *sql.Rows) (name string, err error) {
				var paused, limit int
				err = rows.Scan(&name, &paused, &limit)
				terms.Paused = terms.Paused || paused != 0
				terms.Limited = terms.Limited || name == group && limit > 0
				return name, err
			})
		if err != nil || slices.Contains(found, group) {
			return terms, err
		}
		if err := w.c.ensureGroup(ctx, group, w.c.clock.Now()); err != nil {
			return terms, err
		}
	}
	return terms, nil
}

// HoldGroup implements repository.Groups.
func (r *Groups) HoldGroup(ctx context.Context, name string, paused bool, at time.Time) (g entity.Group, err error) {
	err = r.s.change(ctx, repository.LaneAPI, "group-hold", func(ctx context.Context, c *conn) error {
		_, err := c.exec(ctx, "group.hold",
			"UPDATE scheduler_job_group SET paused = ?, settled = 0, version = version + 1, update_time = ? WHERE name = ? AND paused <> ?",
			flag(paused), text(at), name, flag(paused))
		if err != nil {
			return err
		}
		g, err = c.group(ctx, name)
		return err
	})
	return g, err
}

// SettleGroup implements repository.Groups.
func (r *Groups) SettleGroup(ctx context.Context, name string, version int) error {
	return r.s.change(ctx, repository.LaneAPI, "group-settle", func(ctx context.Context, c *conn) error {
		_, err := c.exec(ctx, "group.settle", "UPDATE scheduler_job_group SET settled = 1 WHERE name = ? AND version = ?", name, version)
		return err
	})
}

// UnsettledGroups implements repository.Groups.
func (r *Groups) UnsettledGroups(ctx context.Context) ([]entity.Group, error) {
	return collect(ctx, r.s.read, "group.unsettled", selectGroups+" WHERE settled = 0 ORDER BY name", nil, scanGroup)
}

// Strays implements repository.Groups.
func (r *Groups) Strays(ctx context.Context, g entity.Group, after string, limit int) ([]string, error) {
	stray := "status = 'ENABLED'"
	if !g.Paused {
		stray = "status = 'PAUSED' AND paused_by = 'GROUP' AND group_name NOT IN (SELECT name FROM scheduler_job_group WHERE paused = 1)" +
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_group WHERE name = '' AND paused = 1)"
	}
	args := []any{after}
	if g.Name != entity.AllJobs {
		stray = "group_name = ? AND (" + stray + " OR limited <> ?)"
		args = append(args, g.Name, flag(g.MaxConcurrency > 0))
	}
	query := "SELECT id FROM scheduler_job_definition WHERE deleted = 0 AND id > ? AND " + stray
	return collect(ctx, r.s.read, "group.strays", query+" ORDER BY id LIMIT ?", append(args, limit), scanText)
}

var _ repository.Groups = (*Groups)(nil)
