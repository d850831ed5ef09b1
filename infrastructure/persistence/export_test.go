package persistence

import (
	"context"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Exec runs a bare statement inside a transaction, for measurements and for
// looking behind the repositories.
func Exec(ctx context.Context, tx repository.Tx, query string, args ...any) (int64, error) {
	return tx.Executions.(*executionWriter).c.exec(ctx, "test", query, args...)
}

// QueryText reads one value inside a transaction.
func QueryText(ctx context.Context, tx repository.Tx, query string, args ...any) (string, error) {
	rows, err := collect(ctx, tx.Executions.(*executionWriter).c, "test", query, args, scanText)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0], nil
}

// SetInsertRows changes how many runs one INSERT adds.
func SetInsertRows(s *Store, n int) { s.dialect.insertRows = n }

// SetScanWindow changes how many rows the first window of a filtered list has.
func SetScanWindow(s *Store, n int) { s.dialect.scanWindow = n }

// StampText is the text of a time as the tables hold it.
var StampText = stampText

// SetNoWait changes how a statement refuses to wait for locks.
func SetNoWait(s *Store, prefix string) { s.dialect.noWait = prefix }
