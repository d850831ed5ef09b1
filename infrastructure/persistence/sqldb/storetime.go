package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// StoreTime is the time of the store: the server's clock in UTC, to the
// millisecond. SQLite has no server, so its time is the process's clock.
func (c *Conn) StoreTime(ctx context.Context) (time.Time, error) {
	if c.Dialect.IsSQLite() {
		return c.Clock.Now().Truncate(time.Millisecond), nil
	}
	now, _ := c.Now()
	rows, err := Collect(ctx, c, "store.time", "SELECT "+now, nil,
		func(rows *sql.Rows) (t sqlvalue.DBTime, err error) {
			err = rows.Scan(&t)
			return t, err
		})
	if err != nil {
		return time.Time{}, err
	}
	if len(rows) != 1 {
		return time.Time{}, fmt.Errorf("store.time: %d rows", len(rows))
	}
	return rows[0].Time(), nil
}

// Now is the store's clock inside a statement.
func (c *Conn) Now() (sql string, args []any) {
	if c.Dialect.IsSQLite() {
		return "?", []any{sqlvalue.TimeArg(c.Clock.Now())}
	}
	return failpoint.StoreNow("UTC_TIMESTAMP(3)"), nil
}
