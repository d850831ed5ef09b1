package registry

import (
	"context"
	"database/sql"
	"sync/atomic"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
)

// handlerLists keeps the lists of handlers by their hash. A look at the registry
// comes with each beat, and the lists are long and rarely change. Safe for
// concurrent use.
type handlerLists struct {
	known atomic.Pointer[map[string]string]
}

// fill puts the lists of the rows in their place, and reads those from the store
// that no look has seen. A set that no row names any more is forgotten.
func (l *handlerLists) fill(ctx context.Context, c *sqldb.Conn, rows []nodeRow) error {
	known := map[string]string{}
	if seen := l.known.Load(); seen != nil {
		known = *seen
	}
	next := make(map[string]string, len(rows))
	for i := range rows {
		row := &rows[i]
		if row.HandlersHash == "" {
			continue
		}
		list, ok := known[row.HandlersHash]
		if !ok {
			// With its hash: the node may have published another list since.
			read, err := sqldb.Collect(ctx, c, "node.handlers",
				"SELECT handlers_hash, handlers FROM scheduler_node_registry WHERE id = ?",
				[]any{row.ID}, func(rows *sql.Rows) (r nodeRow, err error) {
					err = rows.Scan(&r.HandlersHash, &r.Handlers)
					return r, err
				})
			if err != nil {
				return err
			}
			if len(read) == 0 { // forgotten meanwhile
				continue
			}
			row.HandlersHash, list = read[0].HandlersHash, read[0].Handlers.String
		}
		next[row.HandlersHash] = list
		row.Handlers = sql.NullString{String: list, Valid: true}
	}
	l.known.Store(&next)
	return nil
}
