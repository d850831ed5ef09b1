package persistence

import (
	"context"
	"strings"
)

// insert adds rows in statements of bounded size. suffix ends each statement.
func insert[T any](ctx context.Context, c *conn, name, into string, width int, suffix string, rows []T, values func(args []any, row T) []any) error {
	per := c.d.maxRows
	if c.d.lite() {
		per = 1 // one prepared text for any number of rows
	}
	for _, part := range chunks(rows, per) {
		args := make([]any, 0, len(part)*width)
		for _, row := range part {
			args = values(args, row)
		}
		if _, err := c.exec(ctx, name, "INSERT INTO "+into+" VALUES "+tuples(width, len(part))+suffix, args...); err != nil {
			return err
		}
	}
	return nil
}

// tuples is n bracketed lists of width question marks.
func tuples(width, n int) string {
	mark := "(" + marks(width) + ")"
	return strings.Repeat(mark+",", n-1) + mark
}
