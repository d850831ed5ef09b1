package sqldb

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// listMark stands in a query where the condition on a list of ids belongs.
const listMark = "{in}"

// CollectIn reads the rows whose column is one of many ids, in statements of bounded size. The
// query has {in} where the condition belongs; args stand before it.
func CollectIn[T any](ctx context.Context, c *Conn, name, query, column string, ids []string,
	scan func(*sql.Rows) (T, error), args ...any,
) (out []T, err error) {
	for part := range slices.Chunk(ids, c.Dialect.MaxRows) {
		in, list := c.Dialect.In(column, part)
		if len(args) > 0 {
			list = slices.Concat(args, list)
		}
		found, err := Collect(ctx, c, name, strings.Replace(query, listMark, in, 1), list, scan)
		if err != nil {
			return nil, err
		}
		if out == nil { // one statement is the rule
			out = found
		} else {
			out = append(out, found...)
		}
	}
	return out, nil
}

// ExecIn is CollectIn for a statement that changes the rows.
func (c *Conn) ExecIn(ctx context.Context, name, query, column string, ids []string, args ...any) error {
	for part := range slices.Chunk(ids, c.Dialect.MaxRows) {
		in, list := c.Dialect.In(column, part)
		if _, err := c.Exec(ctx, name, strings.Replace(query, listMark, in, 1), slices.Concat(args, list)...); err != nil {
			return err
		}
	}
	return nil
}

// First reads the first row of a query; ok is false where there is none.
func First[T any](ctx context.Context, c *Conn, name, query string, args []any, scan func(*sql.Rows) (T, error),
) (first T, ok bool, err error) {
	found, err := Collect(ctx, c, name, query, args, scan)
	if err != nil || len(found) == 0 {
		return first, false, err
	}
	return found[0], true, nil
}

// One reads the row of a query; missing is the error where there is none.
func One[T any](ctx context.Context, c *Conn, name, query string, args []any, scan func(*sql.Rows) (T, error),
	missing error,
) (T, error) {
	one, ok, err := First(ctx, c, name, query, args, scan)
	if err == nil && !ok {
		err = missing
	}
	return one, err
}

// Number reads the one number of a query, such as a count; it is 0 where there is none.
func (c *Conn) Number(ctx context.Context, name, query string, args ...any) (int, error) {
	n, _, err := First(ctx, c, name, query, args, sqlvalue.ScanInt)
	return int(n), err
}
