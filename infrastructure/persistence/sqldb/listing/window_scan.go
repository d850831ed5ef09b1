package listing

import (
	"cmp"
	"context"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

const (
	// scanBudget is what a page may cost before it ends short. One window comes
	// on top of it.
	scanBudget = 20 * time.Millisecond
	// maxScanGrowth bounds a window, in first windows.
	maxScanGrowth = 8
)

// WindowScan answers a filter that no index serves: it reads rows from the newest
// back, window by window, until the page is full, no row is left, or the page
// has cost scanBudget. Then it is short, with a cursor to go on: what a page
// costs does not depend on how rare its rows are.
type WindowScan[T any] struct {
	Conn *sqldb.Conn
	// Statement names the statement that looks for the end of a window in the
	// rows of table with the id column key.
	Statement, Table, Key string
	// Where, if not empty, narrows the rows by what an index leads to.
	Where string
	Args  []any
	// Budget replaces scanBudget; zero does not.
	Budget time.Duration
	// Wide begins with the widest window: for scans that want all rows, however many match.
	Wide bool
	// Page reads up to limit matching rows with lo ≤ id < hi, newest first.
	Page func(ctx context.Context, lo, hi string, limit int) (rows []T, next string, err error)
}

// Run reads a page of matching rows with lo ≤ id < hi, where empty bounds are
// open.
func (w WindowScan[T]) Run(ctx context.Context, lo, hi string, limit int) ([]T, string, error) {
	var out []T
	budget := cmp.Or(w.Budget, scanBudget)
	began := w.Conn.Clock.Monotonic()
	// The first window is small, so that common rows are cheap.
	size, widest := w.Conn.Dialect.ScanWindow, maxScanGrowth*w.Conn.Dialect.ScanWindow
	if w.Wide {
		size = widest
	}
	for ; ; size = min(2*size, widest) {
		edge, err := w.edge(ctx, lo, hi, size)
		if err != nil {
			return nil, "", err
		}
		rows, next, err := w.Page(ctx, max(lo, edge), hi, limit-len(out))
		if err != nil {
			return nil, "", err
		}
		out = append(out, rows...)
		if next != "" || edge == "" {
			return out, next, nil
		}
		hi = edge
		if len(out) == limit || w.Conn.Clock.Monotonic()-began >= budget {
			return out, repository.WriteCursor(hi), nil
		}
	}
}

// edge is the id that ends the window of n rows below hi, or "" when the rest
// is smaller.
func (w WindowScan[T]) edge(ctx context.Context, lo, hi string, n int) (string, error) {
	where, args := JoinConditions(IDBounds(w.Key, lo, hi), Condition{w.Where, w.Args})
	ids, err := sqldb.Collect(ctx, w.Conn, w.Statement,
		"SELECT "+w.Key+" FROM "+w.Table+where+" ORDER BY "+w.Key+" DESC LIMIT 1 OFFSET ?",
		append(args, n), sqlvalue.ScanText)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}
