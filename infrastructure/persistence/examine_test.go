package persistence_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// examined is a statement that a server has answered.
type examined struct {
	Name, Text string
	Args       []driver.NamedValue
	// Read is how many rows and index entries the server has looked at.
	Read int
	// Plan is what EXPLAIN says of it, a line a table: table, access, key, rows.
	Plan []string
	// Scans: a line of the plan goes through a whole table or index.
	Scans bool
}

// examiner asks a MySQL or MariaDB server about each statement of a store, on the
// connection and in the transaction that runs it. Safe for concurrent use.
type examiner struct {
	mu sync.Mutex
	on bool
	// unnamed are the latest statements of each goroutine: a statement is told by name when
	// it is over, and by the goroutine that ran it.
	unnamed map[string][]examined
	all     []examined
}

// examinedStore opens a store with an examiner between it and its driver.
func examinedStore(t *testing.T, cfg persistence.Config) (*persistence.Store, *examiner) {
	t.Helper()
	e := &examiner{unnamed: map[string][]examined{}}
	cfg.Connect = func(c driver.Connector) *sql.DB { return sql.OpenDB(&examinedConnector{c, e}) }
	cfg.Observe = func(statement string, _ time.Duration, _ error) { e.name(statement) }
	return dbtest.Open(t, cfg), e
}

// Watch begins or ends the questions, and returns what was seen in between.
func (e *examiner) Watch(on bool) []examined {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.on = on
	out := e.all
	e.all, e.unnamed = nil, map[string][]examined{}
	return out
}

func (e *examiner) watches() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.on
}

func (e *examiner) add(s examined) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := goroutine()
	e.unnamed[g] = append(e.unnamed[g], s)
}

func (e *examiner) name(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	g := goroutine()
	for _, s := range e.unnamed[g] {
		s.Name = name
		e.all = append(e.all, s)
	}
	delete(e.unnamed, g)
}

// goroutine is the number of this one.
func goroutine() string {
	var stack [64]byte
	return string(bytes.Fields(stack[:runtime.Stack(stack[:], false)])[1])
}

type examinedConnector struct {
	driver.Connector
	e *examiner
}

func (c *examinedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &examinedConn{wholeConn: conn.(wholeConn), e: c.e}, nil
}

type examinedConn struct {
	wholeConn
	e *examiner
}

// CheckNamedValue implements driver.NamedValueChecker as the connection does.
func (c *examinedConn) CheckNamedValue(v *driver.NamedValue) error {
	return c.wholeConn.(driver.NamedValueChecker).CheckNamedValue(v)
}

// PrepareContext is never met: the drivers' connections write the values into the text.
func (c *examinedConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return nil, errors.New("a statement is prepared")
}

func (c *examinedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	end, err := c.begin(ctx, query, args)
	if err != nil {
		return nil, err
	}
	res, err := c.wholeConn.ExecContext(ctx, query, args)
	return res, errors.Join(err, end())
}

func (c *examinedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	end, err := c.begin(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := c.wholeConn.QueryContext(ctx, query, args)
	if err != nil {
		return nil, err
	}
	return &examinedRows{rows, end}, nil
}

// begin notes what the server has read so far and how it will run the statement; end
// notes what it has read of it.
func (c *examinedConn) begin(
	ctx context.Context,
	query string,
	args []driver.NamedValue,
) (end func() error, err error) {
	text := strings.Join(strings.Fields(query), " ")
	// MariaDB has a setting for one statement, and explains it without that.
	text = strings.TrimPrefix(text, "SET STATEMENT innodb_lock_wait_timeout=0 FOR ")
	verb, _, _ := strings.Cut(strings.TrimLeft(text, "("), " ")
	if !c.e.watches() || !strings.Contains(" SELECT INSERT UPDATE DELETE WITH ", " "+verb+" ") {
		return func() error { return nil }, nil
	}
	s := examined{Text: text, Args: args}
	if s.Plan, s.Scans, err = c.explain(ctx, text, args); err != nil {
		return nil, fmt.Errorf("explain %.200s: %w", text, err)
	}
	first, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	before, err := c.read(ctx)
	return func() error {
		after, err := c.read(ctx)
		s.Read = after - before - (before - first) // the question itself reads, too
		c.e.add(s)
		return err
	}, err
}

// read is how many rows and index entries the session has read.
func (c *examinedConn) read(ctx context.Context) (sum int, err error) {
	err = c.each(ctx, "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_first', 'Handler_read_key', "+
		"'Handler_read_last', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd', 'Handler_read_rnd_next')", nil,
		func(_ []string, row map[string]string) error {
			n, err := strconv.Atoi(row["Value"])
			sum += n
			return err
		})
	return sum, err
}

func (c *examinedConn) explain(ctx context.Context, text string, args []driver.NamedValue) (plan []string, scans bool,
	err error,
) {
	explain := "EXPLAIN "
	if err := c.each(ctx, "SELECT VERSION() AS version", nil, func(_ []string, row map[string]string) error {
		if !strings.Contains(row["version"], "MariaDB") {
			explain = "EXPLAIN FORMAT=TRADITIONAL " // newer ones draw a tree
		}
		return nil
	}); err != nil {
		return nil, false, err
	}
	err = c.each(ctx, explain+text, args, func(_ []string, row map[string]string) error {
		plan = append(plan, fmt.Sprintf("%s: %s by %s, %s rows, %s", row["table"], row["type"], row["key"], row["rows"],
			row["Extra"]))
		// Derived tables are those of the statement's own values.
		derived := row["table"] == "" || strings.HasPrefix(row["table"], "<") || row["select_type"] == "INSERT"
		scans = scans || !derived && (row["type"] == "ALL" || row["type"] == "index")
		return nil
	})
	return plan, scans, err
}

// each reads a question of the examiner's own, in the text protocol.
func (c *examinedConn) each(ctx context.Context, query string, args []driver.NamedValue,
	do func(columns []string, row map[string]string) error,
) error {
	rows, err := c.wholeConn.QueryContext(ctx, query, args)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	columns := rows.Columns()
	values := make([]driver.Value, len(columns))
	for {
		if err := rows.Next(values); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		row := map[string]string{}
		for i, v := range values {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			if v != nil {
				row[columns[i]] = fmt.Sprint(v)
			}
		}
		if err := do(columns, row); err != nil {
			return err
		}
	}
}

type examinedRows struct {
	driver.Rows
	end func() error
}

// Close asks what was read when the last row is.
func (r *examinedRows) Close() error {
	if err := r.Rows.Close(); err != nil {
		return err
	}
	return r.end()
}
