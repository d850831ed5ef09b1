package registry

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Locks keeps leases in scheduler_job_lock: repository.Locker. Time is the
// store's. A lock's row stays when its lease ends, because it holds the token
// that the next one exceeds.
//
// A transaction reads the time before it touches a row, so what it waits for
// makes its time too old and never too new: a lock is seen as free too late,
// and a lease ends no later than ttl after the call.
type Locks struct{ s *sqldb.Core }

// NewLocks gives the repository over the connections of s.
func NewLocks(s *sqldb.Core) *Locks { return &Locks{s} }

// lockRow is what is read of a row of scheduler_job_lock.
type lockRow struct {
	id, holder string
	token      int64
	until      time.Time
}

func scanLock(rows *sql.Rows) (r lockRow, err error) {
	var until sqlvalue.DBTime
	err = rows.Scan(&r.id, &r.holder, &r.token, &until)
	r.until = until.Time()
	return r, err
}

// neverHeld is the end of a lease that was given back, or has yet to begin.
const neverHeld = "1970-01-01 00:00:00.000"

// TryLock implements repository.Locker.
func (r *Locks) TryLock(ctx context.Context, name, holder string,
	ttl time.Duration,
) (lease repository.Lease, ok bool, err error) {
	if err := repository.CheckLock(holder, ttl, name); err != nil {
		return lease, false, err
	}
	err = r.change(ctx, "lock-try", func(ctx context.Context, c *sqldb.Conn, now time.Time) error {
		rows, taken, err := claimLocks(ctx, c, []string{name}, lockClaim{now: now, ttl: ttl, holder: holder})
		if ok = err == nil && taken == 1 && len(rows) == 1; ok {
			lease = repository.Lease{Name: name, Holder: holder, Token: rows[0].token, Until: rows[0].until}
		}
		return err
	})
	if err != nil || !ok {
		return repository.Lease{}, false, err
	}
	return lease, true, nil
}

// ClaimMany implements repository.Locker.
func (r *Locks) ClaimMany(ctx context.Context, names []string, holder string,
	ttl time.Duration,
) (granted []string, err error) {
	if err := repository.CheckLock(holder, ttl, names...); err != nil || len(names) == 0 {
		return nil, err
	}
	err = r.change(ctx, "lock-claim", func(ctx context.Context, c *sqldb.Conn, now time.Time) error {
		rows, _, err := claimLocks(ctx, c, names, lockClaim{now: now, ttl: ttl, holder: holder, own: true})
		mine := map[string]bool{}
		for _, row := range rows {
			mine[row.id] = row.holder == holder && row.until.After(now)
		}
		granted = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !mine[lockID(name)] })
		return err
	})
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// Renew implements repository.Locker.
func (r *Locks) Renew(ctx context.Context, l repository.Lease, ttl time.Duration) (bool, error) {
	if err := repository.CheckLock(l.Holder, ttl, l.Name); err != nil {
		return false, err
	}
	return r.one(ctx, "lock-renew", l, func(now time.Time) (string, []any) {
		return "expire_time = ?", []any{sqlvalue.TimeText(now.Add(ttl))}
	})
}

// Unlock implements repository.Locker.
func (r *Locks) Unlock(ctx context.Context, l repository.Lease) (bool, error) {
	if err := repository.CheckLock(l.Holder, repository.MinLockTTL, l.Name); err != nil {
		return false, err
	}
	return r.one(ctx, "lock-release", l, func(time.Time) (string, []any) {
		return "node_id = '', expire_time = ?", []any{neverHeld}
	})
}

// one changes the row of a lease that is not over.
func (r *Locks) one(ctx context.Context, name string, l repository.Lease,
	set func(now time.Time) (string, []any),
) (ok bool, err error) {
	err = r.change(ctx, name, func(ctx context.Context, c *sqldb.Conn, now time.Time) error {
		assign, args := set(now)
		n, err := c.Exec(ctx, "lock.change",
			"UPDATE scheduler_job_lock SET "+assign+" WHERE id = ? AND token = ? AND node_id = ? AND expire_time > ?",
			append(args, lockID(l.Name), l.Token, l.Holder, sqlvalue.TimeText(now))...)
		ok = n == 1
		return err
	})
	return ok && err == nil, err
}

// ReleaseMany implements repository.Locker.
func (r *Locks) ReleaseMany(ctx context.Context, names []string, holder string) error {
	if err := repository.CheckLock(holder, repository.MinLockTTL, names...); err != nil || len(names) == 0 {
		return err
	}
	in, args := r.s.Dialect.In("id", lockIDs(names))
	return r.change(ctx, "lock-release-many", func(ctx context.Context, c *sqldb.Conn, _ time.Time) error {
		_, err := c.Exec(ctx, "lock.release",
			"UPDATE scheduler_job_lock"+c.Dialect.ByPrimary+" SET node_id = '', expire_time = ? WHERE "+in+" AND node_id = ?",
			append(append([]any{neverHeld}, args...), holder)...)
		return err
	})
}

// Holder is who has the lock at the moment, empty for nobody. It is for people
// to look at: the answer may be wrong before it arrives.
func (r *Locks) Holder(ctx context.Context, name string) (string, error) {
	now, at := r.s.Pool.Now()
	holder, _, err := sqldb.First(ctx, r.s.Pool, "lock.holder",
		"SELECT node_id FROM scheduler_job_lock WHERE id = ? AND expire_time > "+now,
		append([]any{lockID(name)}, at...), sqlvalue.ScanText)
	return holder, err
}

// change runs a transaction that knows the store's time. The outcome of a lost
// commit is not looked up: the lease ends by itself.
func (r *Locks) change(ctx context.Context, name string,
	fn func(ctx context.Context, c *sqldb.Conn, now time.Time) error,
) error {
	err := r.s.Change(ctx, repository.LaneComplete, name, func(ctx context.Context, c *sqldb.Conn) error {
		now, err := c.StoreTime(ctx)
		if err != nil {
			return err
		}
		return fn(ctx, c, now)
	})
	if errors.Is(err, repository.ErrCommitUnknown) {
		return apperror.Unavailable(err)
	}
	return err
}

// lockClaim says who takes locks and for how long; own: those that the holder
// has are renewed.
type lockClaim struct {
	now    time.Time
	ttl    time.Duration
	holder string
	own    bool
}

// update is the statement that takes the locks of a condition. It reads the
// former holder before it writes the new one: MySQL assigns from left to right.
func (l lockClaim) update(d *dialect.Dialect, in string, ids []any) (query string, args []any) {
	now, holds := sqlvalue.TimeText(l.now), "node_id = ? AND expire_time > ?"
	free := "expire_time <= ?"
	args = []any{l.holder, now, l.holder, now, now, l.holder, sqlvalue.TimeText(l.now.Add(l.ttl))}
	args = append(append(args, ids...), now)
	if l.own {
		free = "(expire_time <= ? OR node_id = ?)"
		args = append(args, l.holder)
	}
	return "UPDATE scheduler_job_lock" + d.ByPrimary + " SET token = token + CASE WHEN " + holds + " THEN 0 ELSE 1 END," +
		" lock_time = CASE WHEN " + holds + " THEN lock_time ELSE ? END, node_id = ?, expire_time = ? WHERE " + in + " AND " +
		free, args
}

// claimLocks takes what it may of the locks and returns their rows as they are
// then, and how many of them it took.
func claimLocks(ctx context.Context, c *sqldb.Conn, names []string,
	l lockClaim,
) (rows []lockRow, taken int64, err error) {
	in, ids := c.Dialect.In("id", lockIDs(names))
	update, args := l.update(c.Dialect, in, ids)
	for {
		if taken, err = c.Exec(ctx, "lock.take", update, args...); err != nil {
			return nil, 0, err
		}
		rows, err = sqldb.Collect(ctx, c, "lock.read",
			"SELECT id, node_id, token, expire_time FROM scheduler_job_lock"+c.Dialect.ByPrimary+" WHERE "+in, ids, scanLock)
		if err != nil || len(rows) == len(names) {
			return rows, taken, err
		}
		if err := addLocks(ctx, c, names, rows, l.now); err != nil {
			return nil, 0, err
		}
	}
}

// addLocks makes the rows of locks that nobody has taken before.
func addLocks(ctx context.Context, c *sqldb.Conn, names []string, found []lockRow, now time.Time) error {
	var values []string
	var args []any
	for _, name := range names {
		id := lockID(name)
		if !slices.ContainsFunc(found, func(r lockRow) bool { return r.id == id }) {
			values = append(values, "(?, '', '', ?, ?, ?, ?, 0)")
			args = append(args, id, lockKey(name), sqlvalue.TimeText(now), neverHeld, sqlvalue.TimeText(now))
		}
	}
	_, err := c.Exec(ctx, "lock.add",
		"INSERT INTO scheduler_job_lock (id, job_id, node_id, lock_key, lock_time, expire_time, create_time, token) VALUES "+
			strings.Join(values, ", ")+c.Dialect.OnDuplicateKeep("id"), args...)
	return err
}

// lockID is the row of a name: as wide as the column, whatever the name holds.
func lockID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:25])
}

// lockIDs is in the order of the rows, so that two claims meet in one order.
func lockIDs(names []string) []string {
	ids := convert.All(names, lockID)
	slices.Sort(ids)
	return ids
}

// lockKey is the name for people who look at the table; a name that its column
// does not hold, or would compare with the wrong ones, is shown as a hash.
func lockKey(name string) string {
	const hashed, width = "sha256:", 100
	strange := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
	if !strange && len(name) <= width && !strings.HasPrefix(name, hashed) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return hashed + hex.EncodeToString(sum[:])
}
