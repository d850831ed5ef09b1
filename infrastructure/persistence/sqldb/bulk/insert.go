package bulk

import (
	"context"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// Insert adds rows in statements of bounded size. suffix ends each statement.
func Insert[T any](ctx context.Context, c *sqldb.Conn, name, into string, width int, suffix string, rows []T,
	values func(args []any, row T) []any,
) error {
	per := c.Dialect.MaxRows
	if c.Dialect.IsSQLite() {
		per = 1 // one prepared text for any number of rows
	}
	for part := range slices.Chunk(rows, per) {
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
	mark := "(" + dialect.Marks(width) + ")"
	return strings.Repeat(mark+",", n-1) + mark
}
