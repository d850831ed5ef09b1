package group

import (
	"context"
	"slices"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// writer implements repository.GroupWriter.
type writer struct{ c *sqldb.Conn }

// NewWriter gives the repository inside of the transaction of c.
func NewWriter(c *sqldb.Conn) repository.GroupWriter { return &writer{c} }

// Terms implements repository.GroupWriter. The rows are locked for reading, so
// that a pause or a limit of the group comes before the change or after it, and
// in the second case finds the changed job.
func (w *writer) Terms(ctx context.Context, group string) (repository.GroupTerms, error) {
	for range 2 {
		groups, err := sqldb.Collect(ctx, w.c, "group.terms",
			selectGroups+" WHERE name IN ('', ?) ORDER BY name"+w.c.Dialect.ForShare, []any{group}, scanGroup)
		own := slices.IndexFunc(groups, func(g entity.Group) bool { return g.Name == group })
		if err != nil || own >= 0 {
			return repository.GroupTerms{Limited: own >= 0 && groups[own].MaxConcurrency > 0, Groups: groups}, err
		}
		now, err := w.c.StoreTime(ctx)
		if err != nil {
			return repository.GroupTerms{}, err
		}
		if err := ensure(ctx, w.c, group, now); err != nil {
			return repository.GroupTerms{}, err
		}
	}
	return repository.GroupTerms{}, nil
}

// PauseGroup implements repository.Groups.
func (r *Groups) PauseGroup(ctx context.Context, name string, paused bool, p entity.Pause,
	at time.Time,
) (g entity.Group, err error) {
	err = r.s.Change(ctx, repository.LaneAPI, "group-hold", func(ctx context.Context, c *sqldb.Conn) error {
		if g, err = findGroup(ctx, c, "group.lock-hold", c.Dialect.ForUpdate, name); err != nil {
			return err
		}
		if paused == g.Paused && (!paused || p == (entity.Pause{})) {
			return nil
		}
		settled := sqlvalue.Flag(g.Converged && paused == g.Paused)
		switch {
		case paused && !g.Paused && (g.Converged || g.PausedAt.IsZero()):
			g.PausedAt = at // else some jobs are still held by the pause before, which goes on for them
		case !paused:
			p = g.Pause
			p.Until = time.Time{}
		}
		_, err = c.Exec(ctx, "group.hold",
			`UPDATE scheduler_job_group SET paused = ?, settled = ?, held_at = ?, pause_note = ?, paused_until = ?,
			hold_version = version + 1, version = version + 1, update_time = ? WHERE name = ?`,
			sqlvalue.Flag(paused), settled, sqlvalue.TimeArg(at), NoteText(g.PausedAt, p), sqlvalue.TimeArg(p.Until),
			sqlvalue.TimeArg(at), name)
		if err != nil {
			return err
		}
		g, err = findGroup(ctx, c, "group.get", "", name)
		return err
	})
	return g, err
}

// PausesOver implements repository.Groups.
func (r *Groups) PausesOver(ctx context.Context, at time.Time) ([]entity.Group, error) {
	groups, err := sqldb.Collect(ctx, r.s.Pool, "group.pauses-over",
		selectGroups+" WHERE paused_until <= ? AND paused = 1 ORDER BY name", []any{sqlvalue.TimeArg(at)}, scanGroup)
	return slices.DeleteFunc(groups, func(g entity.Group) bool { return g.Pause.Until.IsZero() }), err
}

// MarkConverged implements repository.Groups.
func (r *Groups) MarkConverged(ctx context.Context, name string, version int) error {
	return r.s.Change(ctx, repository.LaneAPI, "group-settle", func(ctx context.Context, c *sqldb.Conn) error {
		_, err := c.Exec(ctx, "group.settle", "UPDATE scheduler_job_group SET settled = 1 WHERE name = ? AND version = ?",
			name, version)
		return err
	})
}

// DivergedGroups implements repository.Groups.
func (r *Groups) DivergedGroups(ctx context.Context) ([]entity.Group, error) {
	return sqldb.Collect(ctx, r.s.Pool, "group.unsettled", selectGroups+" WHERE settled = 0 ORDER BY name", nil, scanGroup)
}

// JobsOutOfSync implements repository.Groups.
func (r *Groups) JobsOutOfSync(ctx context.Context, g entity.Group, after string, limit int) ([]string, error) {
	args := []any{after}
	stray := "status = 'ENABLED'"
	if !g.Paused {
		stray = "status = 'PAUSED' AND paused_by = 'GROUP' AND group_name NOT IN (SELECT name FROM scheduler_job_group " +
			"WHERE paused = 1)" +
			" AND NOT EXISTS (SELECT 1 FROM scheduler_job_group WHERE name = '' AND paused = 1)"
		if !g.ResumedAt.IsZero() {
			stray = "(" + stray + " OR status = 'ENABLED' AND next_fire_time <= ?)"
			args = append(args, sqlvalue.TimeArg(g.ResumedAt))
		}
	}
	if g.Name != entity.AllJobs {
		stray = "(" + stray + " OR limited <> ?) AND group_name = ?"
		args = append(args, sqlvalue.Flag(g.MaxConcurrency > 0), g.Name)
	}
	query := "SELECT id FROM scheduler_job_definition WHERE deleted = 0 AND id > ? AND " + stray
	return sqldb.Collect(ctx, r.s.Pool, "group.strays", query+" ORDER BY id LIMIT ?", append(args, limit),
		sqlvalue.ScanText)
}

var _ repository.Groups = (*Groups)(nil)
