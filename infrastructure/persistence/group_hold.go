package persistence

import (
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// groupWriter implements repository.GroupWriter.
type groupWriter struct{ c *conn }

// Held implements repository.GroupWriter. The rows are locked for reading, so
// that a pause of the group comes before the change or after it, and in the
// second case finds the changed job.
func (w *groupWriter) Held(ctx context.Context, group string) (bool, error) {
	found, err := collect(ctx, w.c, "group.held",
		"SELECT paused FROM scheduler_job_group WHERE name IN ('', ?) ORDER BY name"+w.c.d.forShare, []any{group}, scanInt)
	if err != nil {
		return false, err
	}
	for _, paused := range found {
		if paused != 0 {
			return true, nil
		}
	}
	return false, nil
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
func (r *Groups) SettleGroup(ctx context.Context, name string, paused bool) error {
	return r.s.change(ctx, repository.LaneAPI, "group-settle", func(ctx context.Context, c *conn) error {
		_, err := c.exec(ctx, "group.settle", "UPDATE scheduler_job_group SET settled = 1 WHERE name = ? AND paused = ?", name, flag(paused))
		return err
	})
}

// UnsettledGroups implements repository.Groups.
func (r *Groups) UnsettledGroups(ctx context.Context) ([]entity.Group, error) {
	var rows []groupRow
	err := r.s.read.gorm(ctx, "group.unsettled").Where("settled = 0").Order("name").Find(&rows).Error
	return groupsOf(rows), err
}

// Strays implements repository.Groups.
func (r *Groups) Strays(ctx context.Context, group string, paused bool, after string, limit int) ([]string, error) {
	query := "SELECT id FROM scheduler_job_definition WHERE deleted = 0 AND id > ?"
	args := []any{after}
	if group != entity.AllJobs {
		query += " AND group_name = ?"
		args = append(args, group)
	}
	if paused {
		query += " AND status = 'ENABLED'"
	} else {
		query += " AND status = 'PAUSED' AND paused_by = 'GROUP' AND group_name NOT IN (SELECT name FROM scheduler_job_group WHERE paused = 1)" +
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_group WHERE name = '' AND paused = 1)"
	}
	return collect(ctx, r.s.read, "group.strays", query+" ORDER BY id LIMIT ?", append(args, limit), scanText)
}

var _ repository.Groups = (*Groups)(nil)
