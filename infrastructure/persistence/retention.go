package persistence

import (
	"context"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Retention deletes old rows: repository.Retention.
type Retention struct {
	s      *core
	cursor purgeCursor
}

// purgeWindow is how many runs one step looks at.
const purgeWindow = 1000

// purgeCursor remembers how far the purge of runs has looked, so that old rows
// which must stay (live ones, dead letters) are not read again at every step.
type purgeCursor struct {
	mu sync.Mutex
	id string
}

// PurgeExecutions implements repository.Retention. It walks the runs by id from
// the oldest on and, once it has met those that are young, begins anew.
func (r *Retention) PurgeExecutions(ctx context.Context, before time.Time, limit int) (int, error) {
	r.cursor.mu.Lock()
	defer r.cursor.mu.Unlock()
	cursor, deleted := r.cursor.id, 0
	young := identity.FloorID(before)
	for deleted < limit {
		var ids []string
		gone := 0
		err := r.s.change(ctx, repository.LaneRetention, "purge-executions", func(ctx context.Context, c *conn) (err error) {
			window := min(purgeWindow, c.d.maxRows)
			ids, err = collect(ctx, c, "retention.window", "SELECT id FROM scheduler_job_execution WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
				[]any{cursor, young, window}, scanText)
			if err != nil || len(ids) == 0 {
				return err
			}
			old, err := c.lockDeletable(ctx, ids, before)
			if err != nil {
				return err
			}
			if len(old) > limit-deleted {
				old = old[:limit-deleted]
				ids = old // look at the rest next time
			}
			if err := c.deleteExecutions(ctx, old); err != nil {
				return err
			}
			gone = len(old)
			return nil
		})
		if err != nil {
			return deleted, err
		}
		deleted += gone
		if len(ids) == 0 {
			cursor = ""
			break
		}
		cursor = ids[len(ids)-1]
	}
	r.cursor.id = cursor
	return deleted, nil
}

// lockDeletable locks those of the runs that may be deleted, and looks again:
// a replay that began in between had locked its original. What others hold is
// left for another time.
func (c *conn) lockDeletable(ctx context.Context, ids []string, before time.Time) ([]string, error) {
	old, err := c.deletable(ctx, ids, before)
	if err != nil || len(old) == 0 || c.d.lite() {
		return old, err
	}
	in, args := c.d.in("id", old)
	old, err = collect(ctx, c, "retention.lock", "SELECT id FROM scheduler_job_execution"+c.d.byPrimary+" WHERE "+in+" ORDER BY id"+c.d.skipLocked, args, scanText)
	if err != nil || len(old) == 0 {
		return nil, err
	}
	return c.deletable(ctx, old, before)
}

// deletable keeps, of some ids, those of final and old runs that no dead
// letter and no live replay needs.
func (c *conn) deletable(ctx context.Context, ids []string, before time.Time) ([]string, error) {
	in, args := c.d.in("e.id", ids)
	return collect(ctx, c, "retention.select", `SELECT e.id FROM scheduler_job_execution e WHERE `+in+`
		AND e.status NOT IN ('WAITING', 'RUNNING') AND e.update_time < ?
		AND NOT EXISTS (SELECT 1 FROM scheduler_dead_letter d WHERE d.execution_id = e.id AND d.replayed_as IS NULL)
		AND NOT EXISTS (SELECT 1 FROM scheduler_execution_replay r JOIN scheduler_job_execution l ON l.id = r.execution_id
			WHERE (r.root_id = e.id OR r.retry_of = e.id) AND l.status IN ('WAITING', 'RUNNING'))
		ORDER BY e.id`, append(args, stampText(before)), scanText)
}

// deleteExecutions deletes runs and what hangs on them, by primary key.
func (c *conn) deleteExecutions(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, d := range [...]struct{ name, table, key string }{
		{"retention.delete", "scheduler_job_execution", "id"},
		{"retention.delete-attempts", "scheduler_execution_attempt", "execution_id"},
		{"retention.delete-letters", "scheduler_dead_letter", "execution_id"},
		{"retention.delete-replays", "scheduler_execution_replay", "execution_id"},
	} {
		in, args := c.d.in(d.key, ids)
		if _, err := c.exec(ctx, d.name, "DELETE FROM "+d.table+" WHERE "+in, args...); err != nil {
			return err
		}
	}
	return nil
}

// PurgeLogs implements repository.Retention.
func (r *Retention) PurgeLogs(ctx context.Context, before time.Time, limit int) (int, error) {
	return r.purge(ctx, "logs", "scheduler_job_log", "id < ? AND create_time < ?", limit, identity.FloorID(before), stampText(before))
}

// PurgeOthers implements repository.Retention.
func (r *Retention) PurgeOthers(ctx context.Context, before time.Time, limit int) (int, error) {
	at := stampText(before)
	n, err := r.purge(ctx, "metrics", "scheduler_metrics", "collect_time < ?", limit, at)
	if err != nil || n >= limit {
		return n, err
	}
	for _, t := range [...]struct{ name, table, where string }{
		{"sessions", "scheduler_session", "expires_at < ?"},
		{"tokens", "scheduler_api_token", "expires_at < ?"},
		{"idempotency", "scheduler_idempotency_key", "create_time < ?"},
	} {
		m, err := r.purgeKeyed(ctx, t.name, t.table, t.where, limit-n, at)
		n += m
		if err != nil || n >= limit {
			return n, err
		}
	}
	return n, nil
}

// purge deletes at most limit rows of a table by their ids.
func (r *Retention) purge(ctx context.Context, name, table, where string, limit int, args ...any) (deleted int, err error) {
	err = r.s.change(ctx, repository.LaneRetention, "purge-"+name, func(ctx context.Context, c *conn) error {
		ids, err := collect(ctx, c, "retention.find-"+name, "SELECT id FROM "+table+" WHERE "+where+" ORDER BY id LIMIT ?",
			append(args, min(limit, c.d.maxRows)), scanText)
		if err != nil || len(ids) == 0 {
			deleted = 0
			return err
		}
		in, list := c.d.in("id", ids)
		n, err := c.exec(ctx, "retention.purge-"+name, "DELETE FROM "+table+" WHERE "+in, list...)
		deleted = int(n)
		return err
	})
	return deleted, err
}

// purgeKeyed deletes from the small tables whose key is not an id.
func (r *Retention) purgeKeyed(ctx context.Context, name, table, where string, limit int, arg any) (deleted int, err error) {
	err = r.s.change(ctx, repository.LaneRetention, "purge-"+name, func(ctx context.Context, c *conn) error {
		query := "DELETE FROM " + table + " WHERE " + where + " LIMIT ?"
		if c.d.lite() { // SQLite is built without DELETE … LIMIT
			query = "DELETE FROM " + table + " WHERE rowid IN (SELECT rowid FROM " + table + " WHERE " + where + " LIMIT ?)"
		}
		n, err := c.exec(ctx, "retention.purge-"+name, query, arg, limit)
		deleted = int(n)
		return err
	})
	return deleted, err
}
