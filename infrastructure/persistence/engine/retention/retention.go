// Package retention deletes what is old.
package retention

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Retention deletes old rows: repository.Retention.
type Retention struct {
	s              *sqldb.Core
	cursor         purgeCursor
	versions, jobs jobsWalk
}

// New gives the repository over the connections of s.
func New(s *sqldb.Core) *Retention { return &Retention{s: s} }

// purgeCursor remembers how far the purge of runs has looked, so that old rows
// which must stay (live ones, dead letters) are not read again at every step.
type purgeCursor struct {
	mu sync.Mutex
	id string
}

// PurgeExecutions implements repository.Retention. It walks the runs by id from
// the oldest on and, once it has met those that are young, begins anew. The rows
// that may go are found before the transaction, which looks again at that alone.
func (r *Retention) PurgeExecutions(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	r.cursor.mu.Lock()
	defer r.cursor.mu.Unlock()
	limit = min(limit, r.s.Dialect.MaxRows)
	ids, err := sqldb.Collect(ctx, r.s.Pool, "retention.window",
		"SELECT id FROM scheduler_job_execution WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
		[]any{r.cursor.id, identity.FloorID(before), limit}, sqlvalue.ScanText)
	if err != nil {
		return repository.Purged{}, err
	}
	if len(ids) == 0 {
		r.cursor.id = ""
		return repository.Purged{}, nil
	}
	old, err := deletable(ctx, r.s.Pool, ids, before)
	if err != nil {
		return repository.Purged{}, err
	}
	gone := 0
	if len(old) > 0 {
		err = r.s.Change(ctx, repository.LaneRetention, "purge-executions", func(ctx context.Context, c *sqldb.Conn) error {
			locked, err := lockDeletable(ctx, c, old, before)
			if err != nil {
				return err
			}
			gone = len(locked)
			return deleteExecutions(ctx, c, locked)
		})
	}
	if err != nil {
		return repository.Purged{}, err
	}
	last := ids[len(ids)-1]
	if r.cursor.id = last; len(ids) < limit {
		r.cursor.id = ""
	}
	reached, _ := identity.TimeOf(last)
	return repository.Purged{Deleted: gone, More: len(ids) == limit, Reached: reached}, nil
}

// lockDeletable locks those of the runs that may be deleted, and looks again:
// a replay that began in between had locked its original. Rows that others hold
// are left for another time.
func lockDeletable(ctx context.Context, c *sqldb.Conn, ids []string, before time.Time) ([]string, error) {
	if !c.Dialect.IsSQLite() {
		in, args := c.Dialect.In("id", ids)
		locked, err := sqldb.Collect(ctx, c, "retention.lock",
			"SELECT id FROM scheduler_job_execution"+c.Dialect.ByPrimary+" WHERE "+in+" ORDER BY id"+c.Dialect.SkipLocked, args,
			sqlvalue.ScanText)
		if err != nil || len(locked) == 0 {
			return nil, err
		}
		ids = locked
	}
	return deletable(ctx, c, ids, before)
}

// deletable keeps, of some ids, those of final and old runs that no dead
// letter, no live replay and no start that their ends owe needs. Steps of a workflow run stay until it was closed for
// as long: it may have waited for a person. Steps that a retry takes over stay while its root waits for its start.
func deletable(ctx context.Context, c *sqldb.Conn, ids []string, before time.Time) ([]string, error) {
	in, args := c.Dialect.In("e.id", ids)
	old, err := sqldb.Collect(ctx, c, "retention.select", `SELECT e.id FROM scheduler_job_execution e WHERE `+in+`
		AND e.status NOT IN ('WAITING', 'RUNNING') AND e.update_time < ?
		AND NOT EXISTS (SELECT 1 FROM scheduler_dead_letter d WHERE d.execution_id = e.id AND d.replayed_as IS NULL)
		AND NOT EXISTS (SELECT 1 FROM scheduler_execution_replay r JOIN scheduler_job_execution l ON l.id = r.execution_id
			WHERE (r.root_id = e.id OR r.retry_of = e.id) AND l.status IN ('WAITING', 'RUNNING'))
		AND (e.fire_key NOT LIKE 'run:%' OR NOT EXISTS (SELECT 1 FROM scheduler_workflow_run w
			WHERE w.id = SUBSTR(e.fire_key, 5, 36) AND (w.phase <> ? OR w.update_time >= ?))
			AND NOT EXISTS (SELECT 1 FROM scheduler_job_execution o WHERE o.id = SUBSTR(e.fire_key, 5, 36)
			AND o.status IN ('WAITING', 'RUNNING')))
		ORDER BY e.id`, append(args, sqlvalue.TimeText(before), int(workflow.PhaseClosed), sqlvalue.TimeText(before)),
		sqlvalue.ScanText)
	if err != nil || len(old) == 0 {
		return old, err
	}
	owing, err := owingOf(ctx, c, old)
	return slices.DeleteFunc(old, func(id string) bool { return owing[id] }), err
}

// owingOf returns those of at most Dialect.MaxRows executions whose ends owe something.
func owingOf(ctx context.Context, c *sqldb.Conn, executions []string) (map[string]bool, error) {
	args := make([]any, 0, len(executions))
	for _, id := range executions {
		if b, ok := identity.Bytes(id); ok {
			args = append(args, b[:])
		}
	}
	owing := map[string]bool{}
	if len(args) == 0 {
		return owing, nil
	}
	_, err := sqldb.Collect(ctx, c, "retention.owing",
		"SELECT run_id FROM scheduler_workflow_todo WHERE run_id IN ("+dialect.Marks(len(args))+")", args,
		func(rows *sql.Rows) (run []byte, err error) {
			if err = rows.Scan(&run); err == nil && len(run) == 16 {
				owing[identity.Text([16]byte(run))] = true
			}
			return run, err
		})
	return owing, err
}

// deleteExecutions deletes runs and what hangs on them, by primary key.
func deleteExecutions(ctx context.Context, c *sqldb.Conn, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, d := range [...]struct{ name, table, key string }{
		{"retention.delete", "scheduler_job_execution", "id"},
		{"retention.delete-runs", "scheduler_workflow_run", "id"},
		{"retention.delete-approvals", "scheduler_approval", "execution_id"},
		{"retention.delete-votes", "scheduler_approval_vote", "execution_id"},
		{"retention.delete-attempts", "scheduler_execution_attempt", "execution_id"},
		{"retention.delete-usages", "scheduler_execution_usage", "execution"},
		{"retention.delete-holds", "scheduler_execution_hold", "execution"},
		{"retention.delete-letters", "scheduler_dead_letter", "execution_id"},
		{"retention.delete-tokens", "scheduler_run_token", "execution_id"},
		{"retention.delete-replays", "scheduler_execution_replay", "execution_id"},
	} {
		in, args := c.Dialect.In(d.key, ids)
		if _, err := c.Exec(ctx, d.name, "DELETE FROM "+d.table+" WHERE "+in, args...); err != nil {
			return err
		}
	}
	return nil
}

// PurgeLogs implements repository.Retention.
func (r *Retention) PurgeLogs(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	return r.s.PurgeByID(ctx, "logs", "scheduler_job_log", "id < ? AND create_time < ?", limit, identity.FloorID(before),
		sqlvalue.TimeText(before))
}

// PurgeMetrics implements repository.Retention.
func (r *Retention) PurgeMetrics(ctx context.Context, period time.Duration, before time.Time,
	limit int,
) (repository.Purged, error) {
	return r.s.PurgeByID(ctx, "metrics", "scheduler_metrics", "period = ? AND collect_time < ?", limit,
		int64(period/time.Second), sqlvalue.TimeText(before))
}

// PurgeOthers implements repository.Retention.
func (r *Retention) PurgeOthers(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	at := sqlvalue.TimeText(before)
	var total repository.Purged
	for _, t := range [...]struct{ name, table, where string }{
		{"sessions", "scheduler_session", "expires_at < ?"},
		{"tokens", "scheduler_api_token", "expires_at < ?"},
		{"idempotency", "scheduler_idempotency_key", "create_time < ?"},
	} {
		n, err := r.purgeKeyed(ctx, t.name, t.table, t.where, limit-total.Deleted, at)
		if total.Deleted += n; err != nil || total.Deleted >= limit {
			total.More = err == nil
			return total, err
		}
	}
	return total, nil
}

// purgeKeyed deletes from the small tables whose key is not an id.
func (r *Retention) purgeKeyed(ctx context.Context, name, table, where string, limit int,
	arg any,
) (deleted int, err error) {
	err = r.s.Change(ctx, repository.LaneRetention, "purge-"+name, func(ctx context.Context, c *sqldb.Conn) error {
		query := "DELETE FROM " + table + " WHERE " + where + " LIMIT ?"
		if c.Dialect.IsSQLite() { // SQLite is built without DELETE … LIMIT
			query = "DELETE FROM " + table + " WHERE rowid IN (SELECT rowid FROM " + table + " WHERE " + where + " LIMIT ?)"
		}
		n, err := c.Exec(ctx, "retention.purge-"+name, query, arg, limit)
		deleted = int(n)
		return err
	})
	return deleted, err
}

// PurgeBackfills implements repository.Retention.
func (r *Retention) PurgeBackfills(ctx context.Context, before time.Time, limit int) (repository.Purged, error) {
	return r.s.PurgeByID(ctx, "backfills", "scheduler_backfill",
		"status IN ('DONE', 'CANCELLED') AND update_time < ?", limit, sqlvalue.TimeText(before))
}

// PurgeAsides implements repository.Retention.
func (r *Retention) PurgeAsides(ctx context.Context, before time.Time, limit int) (p repository.Purged, err error) {
	err = r.s.Change(ctx, repository.LaneRetention, "purge-asides", func(ctx context.Context, c *sqldb.Conn) error {
		query := "DELETE FROM scheduler_set_aside WHERE time < ? ORDER BY time LIMIT ?"
		if c.Dialect.IsSQLite() { // SQLite is built without DELETE … LIMIT
			query = "DELETE FROM scheduler_set_aside WHERE rowid IN (SELECT rowid FROM scheduler_set_aside WHERE time < ? " +
				"ORDER BY time LIMIT ?)"
		}
		n, err := c.Exec(ctx, "retention.purge-asides", query, sqlvalue.TimeText(before), limit)
		p = repository.Purged{Deleted: int(n), More: int(n) == limit}
		return err
	})
	return p, err
}
