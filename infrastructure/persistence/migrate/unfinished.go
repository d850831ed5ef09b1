package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// UnfinishedCopy is a table that stands in the target while a copy is not
// finished: no server opens such a store, and the next copy starts it over.
const UnfinishedCopy = "scheduler_copy_unfinished"

// UnfinishedFile is where a restore makes the SQLite store of a path. No server opens the store while it is there, and
// the next restore starts it over.
func UnfinishedFile(path string) string { return path + ".restoring" }

// RefuseRestoring is an error where a restore has not finished the SQLite store of a path.
func RefuseRestoring(path string) error {
	if _, err := os.Stat(UnfinishedFile(path)); err == nil {
		return fmt.Errorf("a restore of %s was interrupted; run `platform-scheduler store restore` again, which starts it "+
			"over, or remove %s", path, UnfinishedFile(path))
	}
	return nil
}

// CopyUnfinished reports whether a MySQL store is what an interrupted copy left.
func CopyUnfinished(ctx context.Context, db *sql.DB) (bool, error) {
	found, err := sqlvalue.Texts(ctx, db,
		"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?", UnfinishedCopy)
	if err != nil {
		return false, fmt.Errorf("look for an unfinished copy: %w", err)
	}
	return len(found) > 0, nil
}

// refuseUnfinished is an error for a store that an interrupted copy left.
func (m *Migrator) refuseUnfinished(ctx context.Context, driver string) error {
	if driver != dialect.MySQL {
		return nil
	}
	unfinished, err := CopyUnfinished(ctx, m.db)
	if err == nil && unfinished {
		err = errors.New("a copy into this store was interrupted; run `platform-scheduler migrate copy` or `store restore` " +
			"again, which starts it over, or use another database")
	}
	return err
}
