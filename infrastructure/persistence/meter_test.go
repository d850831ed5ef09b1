package persistence_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"
	"testing"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// traffic is what goes between a store and its driver.
type traffic struct {
	// Statements are counted one by one, START TRANSACTION and COMMIT included.
	Statements int
	// Rows were written or read.
	Rows int
	// Values were bound to statements or read from rows.
	Values int
	// Bytes are the texts of the statements and the values of both ways.
	Bytes int
}

// meter counts the traffic of a store. Safe for concurrent use.
type meter struct {
	mu sync.Mutex
	// tx is the traffic of write transactions, pool that of reads beside them.
	tx, pool flow
}

type flow struct {
	sum        traffic
	statements []string
	// each is the traffic of one transaction after the other, before the sum when
	// the present one began.
	each   []traffic
	before traffic
}

// Reset forgets what was counted.
func (m *meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tx, m.pool = flow{}, flow{}
}

// Transactions are the traffic of write transactions since the last Reset, and
// their statements; Reads are the same of what is read beside them.
func (m *meter) Transactions() (traffic, []string) { return m.read(&m.tx) }

// Reads are described at Transactions.
func (m *meter) Reads() (traffic, []string) { return m.read(&m.pool) }

// Each is the traffic of each write transaction since the last Reset.
func (m *meter) Each() []traffic {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]traffic(nil), m.tx.each...)
}

func (m *meter) read(t *flow) (traffic, []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return t.sum, append([]string(nil), t.statements...)
}

// metered opens a store with a meter between it and its driver; what opening
// costs is not counted. As a MySQL server it is treated that knows no lists of
// VALUES, if plain is set: MySQL 8 is one.
func metered(t testing.TB, cfg persistence.Config, plain bool) (*persistence.Store, *meter) {
	t.Helper()
	m := &meter{}
	cfg.Connect = func(c driver.Connector) *sql.DB { return sql.OpenDB(&meteredConnector{c, m}) }
	s := dbtest.Open(t, cfg)
	if plain {
		s.Dialect.ValuesLists, s.Dialect.NoWait = false, ""
	}
	m.Reset()
	return s, m
}

// add counts a statement, or without a query a row that was read.
func (c *meteredConn) add(query string, args []driver.NamedValue, rows, values, bytes int) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	switch query {
	case "START TRANSACTION", "BEGIN IMMEDIATE":
		c.writes, rows = true, 0 // SQLite tells the rows of the statement before
	case "COMMIT", "ROLLBACK":
		rows = 0
	}
	t := &c.m.pool
	if c.writes {
		t = &c.m.tx
	}
	if query != "" {
		t.sum.Statements++
		t.sum.Bytes += len(query)
		t.statements = append(t.statements, query)
	}
	for _, a := range args {
		t.sum.Bytes += size(a.Value)
	}
	t.sum.Rows += rows
	t.sum.Values += len(args) + values
	t.sum.Bytes += bytes
	if query == "COMMIT" || query == "ROLLBACK" {
		c.writes = false
		t.each = append(t.each, traffic{
			Statements: t.sum.Statements - t.before.Statements, Rows: t.sum.Rows - t.before.Rows,
			Values: t.sum.Values - t.before.Values, Bytes: t.sum.Bytes - t.before.Bytes,
		})
		t.before = t.sum
	}
}

// size is how many bytes a value has; a number counts as eight, so that its
// value does not change the figure.
func size(v driver.Value) int {
	switch v := v.(type) {
	case nil:
		return 0
	case []byte:
		return len(v)
	case string:
		return len(v)
	default:
		return 8
	}
}

type meteredConnector struct {
	driver.Connector
	m *meter
}

func (c *meteredConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &meteredConn{wholeConn: conn.(wholeConn), m: c.m}, nil
}

// wholeConn is what both drivers' connections can do.
type wholeConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type meteredConn struct {
	wholeConn
	m *meter
	// writes: a transaction is open; guarded by the meter's mutex.
	writes bool
}

// CheckNamedValue implements driver.NamedValueChecker as the connection does,
// or as database/sql does for one that does not.
func (c *meteredConn) CheckNamedValue(v *driver.NamedValue) (err error) {
	if checker, ok := c.wholeConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(v)
	}
	v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	return err
}

func (c *meteredConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	res, err := c.wholeConn.ExecContext(ctx, query, args)
	return c.executed(query, args, res, err)
}

func (c *meteredConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.wholeConn.QueryContext(ctx, query, args)
	return c.queried(query, args, rows, err)
}

func (c *meteredConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.wholeConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return &meteredStmt{stmt.(wholeStmt), query, c}, nil
}

type wholeStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type meteredStmt struct {
	wholeStmt
	query string
	c     *meteredConn
}

func (s *meteredStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	res, err := s.wholeStmt.ExecContext(ctx, args)
	return s.c.executed(s.query, args, res, err)
}

func (s *meteredStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.wholeStmt.QueryContext(ctx, args)
	return s.c.queried(s.query, args, rows, err)
}

func (c *meteredConn) executed(query string, args []driver.NamedValue, res driver.Result,
	err error,
) (driver.Result, error) {
	if err != nil {
		return nil, err
	}
	n, err := res.RowsAffected()
	c.add(query, args, int(n), 0, 0)
	return res, err
}

func (c *meteredConn) queried(query string, args []driver.NamedValue, rows driver.Rows,
	err error,
) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	c.add(query, args, 0, 0, 0)
	return &meteredRows{rows, c}, nil
}

type meteredRows struct {
	driver.Rows
	c *meteredConn
}

func (r *meteredRows) Next(dest []driver.Value) error {
	if err := r.Rows.Next(dest); err != nil {
		return err
	}
	bytes := 0
	for _, v := range dest {
		bytes += size(v)
	}
	r.c.add("", nil, 1, len(dest), bytes)
	return nil
}
