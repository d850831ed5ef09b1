package persistence

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// storeTime is the time of the store: the server's clock in UTC, to the
// millisecond. SQLite has no server, so its time is the process's clock.
func (c *conn) storeTime(ctx context.Context) (time.Time, error) {
	if c.d.lite() {
		return c.clock.Now().Truncate(time.Millisecond), nil
	}
	rows, err := collect(ctx, c, "store.time", "SELECT UTC_TIMESTAMP(3)", nil, func(rows *sql.Rows) (t stamp, err error) {
		err = rows.Scan(&t)
		return t, err
	})
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("store.time: %d rows", len(rows))
	}
	return rows[0].time(), nil
}

// now is the store's clock inside a statement.
func (c *conn) now() (sql string, args []any) {
	if c.d.lite() {
		return "?", []any{text(c.clock.Now())}
	}
	return "UTC_TIMESTAMP(3)", nil
}
