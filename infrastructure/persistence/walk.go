package persistence

import (
	"context"
	"time"
)

const (
	// scanBudget is what a page may cost before it ends short. One window comes
	// on top of it.
	scanBudget = 20 * time.Millisecond
	// maxScanGrowth bounds a window, in first windows.
	maxScanGrowth = 8
)

// walk answers a filter that no index serves: it reads rows from the newest
// back, window by window, until the page is full, no row is left, or the page
// has cost scanBudget. Then it is short, with a cursor to go on: what a page
// costs does not depend on how rare its rows are.
type walk[T any] struct {
	c *conn
	// statement names the statement that looks for the end of a window in the
	// rows of table with the id column key.
	statement, table, key string
	// where, if not empty, narrows the rows by what an index leads to.
	where string
	args  []any
	// page reads up to limit matching rows with lo ≤ id < hi, newest first.
	page func(ctx context.Context, lo, hi string, limit int) (rows []T, next string, err error)
}

// run reads a page of matching rows with lo ≤ id < hi, where empty bounds are
// open.
func (w walk[T]) run(ctx context.Context, lo, hi string, limit int) ([]T, string, error) {
	var out []T
	began := w.c.clock.Monotonic()
	// The first window is small, so that common rows are cheap.
	for size := w.c.d.scanWindow; ; size = min(2*size, maxScanGrowth*w.c.d.scanWindow) {
		edge, err := w.edge(ctx, lo, hi, size)
		if err != nil {
			return nil, "", err
		}
		rows, next, err := w.page(ctx, max(lo, edge), hi, limit-len(out))
		if err != nil {
			return nil, "", err
		}
		out = append(out, rows...)
		if next != "" || edge == "" {
			return out, next, nil
		}
		hi = edge
		if len(out) == limit || w.c.clock.Monotonic()-began >= scanBudget {
			return out, writeCursor(hi), nil
		}
	}
}

// edge is the id that ends the window of n rows below hi, or "" when the rest
// is smaller.
func (w walk[T]) edge(ctx context.Context, lo, hi string, n int) (string, error) {
	where, args := joinConditions(idBounds(w.key, lo, hi), condition{w.where, w.args})
	ids, err := collect(ctx, w.c, w.statement, "SELECT "+w.key+" FROM "+w.table+where+" ORDER BY "+w.key+" DESC LIMIT 1 OFFSET ?",
		append(args, n), scanText)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// condition is a part of a WHERE clause; one without text is none.
type condition struct {
	text string
	args []any
}

// equals is a condition on a column; an empty value is no condition.
func equals(column, value string) condition {
	if value == "" {
		return condition{}
	}
	return condition{column + " = ?", []any{value}}
}

// idBounds is lo ≤ key < hi, where empty bounds are open.
func idBounds(key, lo, hi string) condition {
	switch {
	case lo == "" && hi == "":
		return condition{}
	case lo == "":
		return condition{key + " < ?", []any{hi}}
	case hi == "":
		return condition{key + " >= ?", []any{lo}}
	}
	return condition{key + " >= ? AND " + key + " < ?", []any{lo, hi}}
}

// joinConditions is the WHERE clause of those conditions that are some.
func joinConditions(all ...condition) (where string, args []any) {
	for _, c := range all {
		if c.text == "" {
			continue
		}
		if where == "" {
			where = " WHERE " + c.text
		} else {
			where += " AND " + c.text
		}
		args = append(args, c.args...)
	}
	return where, args
}
