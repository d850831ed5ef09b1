// Package listing reads lists in pages: cursors, conditions, and scans where no index
// serves.
package listing

import (
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/sqlvalue"
)

// The bounds of a page.
const (
	defaultPage = 50
	maxPage     = 1000
)

// PageSize is how many rows a page of that limit has: the default for none, and
// never more than the maximum.
func PageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, maxPage)
}

// CutPage keeps limit of limit+1 rows that were asked for, and makes the cursor
// that goes on after the last of them; "" when there is no other.
func CutPage[T any](rows []T, limit int, id func(T) string) (page []T, next string) {
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], repository.WriteCursor(id(rows[limit-1]))
}

// ReadCursor reads what repository.WriteCursor wrote; "" is the first page.
func ReadCursor(cursor string) (string, error) {
	id, err := repository.ReadCursor(cursor)
	if err != nil || !sqlvalue.IsASCIIID(id) {
		return "", apperror.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
	}
	return id, nil
}

// ReadNameCursor is ReadCursor for lists by name, which need not be ASCII.
func ReadNameCursor(cursor string) (string, error) {
	name, err := repository.ReadCursor(cursor)
	if err != nil || !utf8.ValidString(name) || len(name) > 400 {
		return "", apperror.InvalidField("cursor", "invalid_cursor", "use the nextCursor of a former page, unchanged")
	}
	return name, nil
}
