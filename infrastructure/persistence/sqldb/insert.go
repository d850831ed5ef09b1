package sqldb

import (
	"context"
	"strings"
)

// Insert adds rows in statements of bounded size. suffix ends each statement.
func Insert[T any](ctx context.Context, c *Conn, name, into string, width int, suffix string, rows []T, values func(args []any, row T) []any) error {
	per := c.Dialect.MaxRows
	if c.Dialect.IsSQLite() {
		per = 1 // one prepared text for any number of rows
	}
	for _, part := range Chunks(rows, per) {
		args := make([]any, 0, len(part)*width)
		for _, row := range part {
			args = values(args, row)
		}
		if _, err := c.Exec(ctx, name, "INSERT INTO "+into+" VALUES "+Tuples(width, len(part))+suffix, args...); err != nil {
			return err
		}
	}
	return nil
}

// Tuples is n bracketed lists of width question marks.
func Tuples(width, n int) string {
	mark := "(" + Marks(width) + ")"
	return strings.Repeat(mark+",", n-1) + mark
}
