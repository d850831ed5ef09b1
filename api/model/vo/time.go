// Package vo holds what the API answers with: the contract's names, and
// nothing that is not meant for callers.
package vo

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// Time is a moment, or null when it is zero.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + clock.Text(time.Time(t)) + `"`), nil
}

// String is the moment as it stands in answers; "" when it is zero.
func (t Time) String() string {
	if time.Time(t).IsZero() {
		return ""
	}
	return clock.Text(time.Time(t))
}

// Times converts a list; it is never null.
func Times(times []time.Time) []Time {
	return convert.All(times, func(t time.Time) Time { return Time(t) })
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T `json:"items"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor" extensions:"x-nullable"`
	// SearchedUntil is there where few rows match a filter, and the page ends before it is
	// full: nothing older has been looked at. Go on with NextCursor.
	SearchedUntil *Time `json:"searchedUntil,omitempty" swaggertype:"string" format:"date-time"`
}

// NewPage wraps items; next is empty on the last page.
func NewPage[T any](items []T, next string) Page[T] {
	return Page[T]{Items: whole(items), NextCursor: optional(next)}
}

// whole makes a list that is never null.
func whole[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// optional is null for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
