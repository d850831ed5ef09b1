package repository

import (
	"encoding/base64"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
)

// Page asks for one page of a list. Cursor is what a former page returned.
type Page struct {
	Limit  int
	Cursor string
}

// WriteCursor hides the id that a page ends with, so that no client builds on it.
func WriteCursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

// ReadCursor returns what WriteCursor hid; an error for any other text.
func ReadCursor(cursor string) (id string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	return string(b), err
}

// SearchedUntil tells how far back the search for a page of n rows went, newest first. It is
// zero for a full page and for the last one: only a filter without an index ends a page early.
func (p Page) SearchedUntil(n int, next string) time.Time {
	if next == "" || n >= p.Limit {
		return time.Time{}
	}
	id, err := ReadCursor(next)
	if err != nil {
		return time.Time{}
	}
	until, _ := identity.TimeOf(id)
	return until
}
