package answer

import (
	"context"
	"database/sql/driver"
)

// conn is a connection whose statements may be answered.
type conn struct {
	driver.Conn
	store *Store
	// touched: the transaction has had a statement that the rule names.
	touched bool
	session Session
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	if w := c.store.Wire; w != nil {
		defer w.Closed(&c.session)
	}
	return c.Conn.Close()
}

func (c *conn) exec(ctx context.Context, query string) (driver.Result, error) {
	return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, nil)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return over(ctx, c, query, args,
		func() (driver.Result, error) { return c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args) },
		func() (driver.Result, error) { return c.exec(ctx, "ROLLBACK") })
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	run := func() (driver.Rows, error) { return c.Conn.(driver.QueryerContext).QueryContext(ctx, query, args) }
	return over(ctx, c, query, args, run, run)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &stmt{Stmt: s, conn: c, query: query}, nil
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession implements driver.SessionResetter.
func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

type stmt struct {
	driver.Stmt
	conn  *conn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return over(ctx, s.conn, s.query, args,
		func() (driver.Result, error) { return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args) },
		func() (driver.Result, error) { return s.conn.exec(ctx, "ROLLBACK") })
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	run := func() (driver.Rows, error) { return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args) }
	return over(ctx, s.conn, s.query, args, run, run)
}
