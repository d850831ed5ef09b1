package sqldb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// maxPrepared bounds the statements kept prepared. The product has fewer; the
// bound is there for texts that nobody foresaw.
const maxPrepared = 256

// sqliteWriter owns the one connection that writes to a SQLite file. Its
// statements stay prepared: preparing costs more than a small statement runs.
type sqliteWriter struct {
	db    *sql.DB
	lanes laneLock

	// Below: only touched by the holder of the lane lock.
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// begin waits for the writer's turn and starts a transaction that already
// holds SQLite's write lock.
func (w *sqliteWriter) begin(ctx context.Context, lane repository.Lane) (transaction, error) {
	if err := w.lanes.lock(ctx, lane); err != nil {
		return nil, err
	}
	if err := w.start(ctx); err != nil {
		w.reset()
		w.lanes.unlock()
		return nil, err
	}
	return &sqliteTx{w: w}, nil
}

func (w *sqliteWriter) start(ctx context.Context) error {
	if w.conn == nil {
		conn, err := w.db.Conn(ctx)
		if err != nil {
			return fmt.Errorf("open the writer: %w", err)
		}
		w.conn, w.prepared = conn, make(map[string]*sql.Stmt)
	}
	return w.run("BEGIN IMMEDIATE")
}

// run executes a statement that must not be interrupted half-way.
func (w *sqliteWriter) run(query string) error {
	stmt, err := w.prepare(query)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background())
	return err
}

func (w *sqliteWriter) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := w.prepared[query]; ok {
		return stmt, nil
	}
	if len(w.prepared) >= maxPrepared {
		for text, stmt := range w.prepared {
			_ = stmt.Close()
			delete(w.prepared, text)
		}
	}
	stmt, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	w.prepared[query] = stmt
	return stmt, nil
}

// reset drops the connection, so that the next transaction starts on a new one.
func (w *sqliteWriter) reset() {
	if w.conn == nil {
		return
	}
	for _, stmt := range w.prepared {
		_ = stmt.Close()
	}
	_ = w.conn.Close()
	w.conn, w.prepared = nil, nil
}

// close waits for a running transaction and closes the connection.
func (w *sqliteWriter) close() error {
	if err := w.lanes.lock(context.Background(), repository.LaneFire); err != nil {
		return err
	}
	defer w.lanes.unlock()
	w.reset()
	return w.db.Close()
}

// sqliteTx is one transaction of the writer. Its statements take microseconds,
// so the caller's context is looked at between them and not within: watching
// it would cost a goroutine for each.
type sqliteTx struct {
	w     *sqliteWriter
	ended bool
}

// PrepareContext implements gorm.ConnPool.
func (t *sqliteTx) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return t.w.conn.PrepareContext(ctx, query)
}

// ExecContext implements gorm.ConnPool.
func (t *sqliteTx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

// QueryContext implements gorm.ConnPool.
func (t *sqliteTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// QueryRowContext implements gorm.ConnPool. A transaction that has ended gives
// a row whose Scan fails.
func (t *sqliteTx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if t.ended {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return t.w.db.QueryRowContext(over, query, args...)
	}
	return t.w.conn.QueryRowContext(ctx, query, args...)
}

func (t *sqliteTx) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if t.ended {
		return nil, sql.ErrTxDone
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.w.prepare(query)
}

// Commit makes the transaction durable, as far as synchronous says. A caller
// whose time is over does not cut it off.
func (t *sqliteTx) Commit(context.Context) error { return t.end("COMMIT") }

// Rollback undoes the transaction.
func (t *sqliteTx) Rollback() error { return t.end("ROLLBACK") }

func (t *sqliteTx) end(how string) error {
	if t.ended {
		return sql.ErrTxDone
	}
	t.ended = true
	defer t.w.lanes.unlock()
	err := t.w.run(how)
	if err != nil { // closing the connection rolls back what is left
		t.w.reset()
	}
	return err
}
