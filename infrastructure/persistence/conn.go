package persistence

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Observer is told of every statement by name, with its duration and error.
// It is called from many goroutines and must not block.
type Observer func(statement string, d time.Duration, err error)

// conn is where statements run: a pool, or one transaction. Every statement
// carries a name, by which metrics and errors know it.
type conn struct {
	gorm.ConnPool
	d       *dialect
	clock   clock.Clock
	observe Observer
	orm     *gorm.DB
	unread  *unreadRows
	// tx is the transaction's name, empty for a pool.
	tx string
	// void is the first error that ended the transaction at the server. What
	// follows must not run: after a deadlock it would commit by itself.
	void error
	// careful: Finish and Move look before they write, see errCareful.
	careful bool
}

// exec runs a statement and returns how many rows it found.
func (c *conn) exec(ctx context.Context, name, query string, args ...any) (int64, error) {
	if c.void != nil {
		return 0, c.void
	}
	start := c.clock.Monotonic()
	res, err := c.ExecContext(ctx, query, args...)
	if err = c.done(name, start, err); err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("%s: count rows: %w", name, err)
	}
	return n, nil
}

// execEach runs n statements, one for each row of a batch, and reports them as
// one. found is told how many rows each of them met.
func (c *conn) execEach(ctx context.Context, name string, n int,
	statement func(i int) (query string, args []any), found func(i int, rows int64) error,
) error {
	if c.void != nil {
		return c.void
	}
	start := c.clock.Monotonic()
	for i := range n {
		query, args := statement(i)
		res, err := c.ExecContext(ctx, query, args...)
		if err != nil {
			return c.done(name, start, err)
		}
		rows, err := res.RowsAffected()
		if err != nil {
			return fmt.Errorf("%s: count rows: %w", name, err)
		}
		if err := found(i, rows); err != nil {
			return err
		}
	}
	return c.done(name, start, nil)
}

// done reports a statement and describes its error.
func (c *conn) done(name string, start time.Duration, err error) error {
	if c.observe != nil {
		c.observe(name, c.clock.Monotonic()-start, err)
	}
	if err == nil {
		return nil
	}
	k := c.d.kind(err)
	err = c.d.describe(name, err)
	if c.tx == "" {
		return c.d.away(err)
	}
	if k == kindRetry || k == kindBroken || k == kindAway {
		c.void = err
	}
	return err
}

// collect runs a query and reads every row. A pool repeats it once when it met
// a connection that had died.
func collect[T any](ctx context.Context, c *conn, name, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if c.void != nil {
		return nil, c.void
	}
	ctx, cancel := repository.Patient(ctx)
	defer cancel()
	start := c.clock.Monotonic()
	out, err := readAll(ctx, c, query, args, scan)
	if err != nil && c.tx == "" && c.d.kind(err) == kindBroken && ctx.Err() == nil {
		out, err = readAll(ctx, c, query, args, scan)
	}
	if err = c.done(name, start, err); err != nil {
		return nil, err
	}
	return noteUnread(c, out), nil
}

func readAll[T any](ctx context.Context, c asker, query string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// texts reads the one column of a query.
func texts(ctx context.Context, c asker, query string, args ...any) ([]string, error) {
	return readAll(ctx, c, query, args, scanText)
}

// scanText and scanInt read a row of one column.
func scanText(rows *sql.Rows) (s string, err error) { err = rows.Scan(&s); return s, err }

func scanInt(rows *sql.Rows) (n int64, err error) { err = rows.Scan(&n); return n, err }

// named is a conn under the name of one statement, for GORM.
type named struct {
	*conn
	name string
}

// gorm gives a GORM session whose statements run on this conn under a name.
func (c *conn) gorm(ctx context.Context, name string) *gorm.DB {
	db := c.orm.Session(&gorm.Session{NewDB: true, Context: ctx})
	db.Statement.ConnPool = &named{conn: c, name: name}
	return db
}

// ExecContext implements gorm.ConnPool.
func (n *named) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if n.void != nil {
		return nil, n.void
	}
	start := n.clock.Monotonic()
	res, err := n.ConnPool.ExecContext(ctx, query, args...)
	return res, n.done(n.name, start, err)
}

// QueryContext implements gorm.ConnPool.
func (n *named) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if n.void != nil {
		return nil, n.void
	}
	start := n.clock.Monotonic()
	rows, err := n.ConnPool.QueryContext(ctx, query, args...)
	return rows, n.done(n.name, start, err)
}

// heedPatience bounds what GORM reads, see repository.Patient: its rows are
// read after QueryContext has returned. What GORM writes is inside of
// transactions, which are bounded as a whole.
func heedPatience(orm *gorm.DB) error {
	const key = "ps:patience"
	reads := orm.Callback().Query()
	err := reads.Before("*").Register(key+":begin", func(db *gorm.DB) {
		ctx, cancel := repository.Patient(db.Statement.Context)
		db.Statement.Context = ctx
		db.InstanceSet(key, cancel)
	})
	if err != nil {
		return err
	}
	return reads.After("*").Register(key+":end", func(db *gorm.DB) {
		if cancel, ok := db.InstanceGet(key); ok {
			cancel.(context.CancelFunc)()
		}
	})
}
