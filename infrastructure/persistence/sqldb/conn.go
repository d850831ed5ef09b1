package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// Observer is told of every statement by name, with its duration and error.
// It is called from many goroutines and must not block.
type Observer func(statement string, d time.Duration, err error)

// Conn is where statements run: a pool, or one transaction. Every statement
// carries a name, by which metrics and errors know it.
type Conn struct {
	gorm.ConnPool
	Dialect *dialect.Dialect
	Clock   clock.Clock
	observe Observer
	orm     *gorm.DB
	unread  *unreadRows
	full    *fullness
	// Transaction is the transaction's name, empty for a pool.
	Transaction string
	// aborted is the first error that ended the transaction at the server. The
	// next statement must not run: after a deadlock it would commit by itself.
	aborted error
	// VerifyFirst: Finish and Move look before they write, see ErrVerifyFirst.
	VerifyFirst bool
	// LocksMet: the transaction met rows of jobs that others had locked.
	LocksMet bool
	// EventsAdded: the transaction has added events; see Config.
	EventsAdded bool
	// TodosAdded are the kinds of what the transaction has added that is owed, each once; see Config.
	TodosAdded []entity.TodoKind
}

// Exec runs a statement and returns how many rows it found.
func (c *Conn) Exec(ctx context.Context, name, query string, args ...any) (int64, error) {
	if c.aborted != nil {
		return 0, c.aborted
	}
	start := c.Clock.Monotonic()
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

// ExecEach runs n statements, one for each row of a batch, and reports them as
// one. found is told how many rows each of them met.
func (c *Conn) ExecEach(ctx context.Context, name string, n int,
	statement func(i int) (query string, args []any), found func(i int, rows int64) error,
) error {
	if c.aborted != nil {
		return c.aborted
	}
	start := c.Clock.Monotonic()
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
func (c *Conn) done(name string, start time.Duration, err error) error {
	if c.observe != nil {
		c.observe(name, c.Clock.Monotonic()-start, err)
	}
	if err == nil {
		return nil
	}
	c.full.note(c.Dialect, name, err)
	k := c.Dialect.Kind(err)
	err = c.Dialect.Describe(name, err)
	if c.Transaction == "" {
		return c.Dialect.Unavailable(err)
	}
	if k == dialect.Retry || k == dialect.Broken || k == dialect.Away || k == dialect.Unknown {
		c.aborted = err
	}
	return err
}

// Collect runs a query and reads every row. A pool repeats it once when it met
// a connection that had died.
func Collect[T any](ctx context.Context, c *Conn, name, query string, args []any,
	scan func(*sql.Rows) (T, error),
) ([]T, error) {
	if c.aborted != nil {
		return nil, c.aborted
	}
	ctx, cancel := repository.BoundStatement(ctx)
	defer cancel()
	start := c.Clock.Monotonic()
	out, err := sqlvalue.ReadAll(ctx, c, query, args, scan)
	if err != nil && c.Transaction == "" && c.Dialect.Kind(err) == dialect.Broken && ctx.Err() == nil {
		out, err = sqlvalue.ReadAll(ctx, c, query, args, scan)
	}
	if err = c.done(name, start, err); err != nil {
		return nil, err
	}
	return NoteUnread(c, out), nil
}

// named is a Conn under the name of one statement, for GORM.
type named struct {
	*Conn
	name string
}

// GORM gives a GORM session whose statements run on this Conn under a name.
func (c *Conn) GORM(ctx context.Context, name string) *gorm.DB {
	db := c.orm.Session(&gorm.Session{NewDB: true, Context: ctx})
	db.Statement.ConnPool = &named{Conn: c, name: name}
	return db
}

// ExecContext implements gorm.ConnPool.
func (n *named) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if n.aborted != nil {
		return nil, n.aborted
	}
	start := n.Clock.Monotonic()
	res, err := n.ConnPool.ExecContext(ctx, query, args...)
	return res, n.done(n.name, start, err)
}

// QueryContext implements gorm.ConnPool.
func (n *named) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if n.aborted != nil {
		return nil, n.aborted
	}
	start := n.Clock.Monotonic()
	rows, err := n.ConnPool.QueryContext(ctx, query, args...)
	return rows, n.done(n.name, start, err)
}

// boundGormReads bounds what GORM reads, see repository.BoundStatement: its rows are
// read after QueryContext has returned. The writes of GORM are inside
// of transactions, which are bounded as a whole.
func boundGormReads(orm *gorm.DB) error {
	const key = "ps:statement-timeout"
	reads := orm.Callback().Query()
	err := reads.Before("*").Register(key+":begin", func(db *gorm.DB) {
		ctx, cancel := repository.BoundStatement(db.Statement.Context)
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
