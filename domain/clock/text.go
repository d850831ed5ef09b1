package clock

import "time"

// StoreClock tells the time of the store, by which schedules go: all nodes share it.
type StoreClock interface {
	Now() time.Time
}

// LatestClock tells what the store's clock shows at most.
type LatestClock interface {
	Latest() time.Time
}

// Layout is how users read a time: RFC 3339 in UTC, always with milliseconds.
const Layout = "2006-01-02T15:04:05.000Z"

// Text is a time in Layout; what is below a millisecond is cut off.
func Text(t time.Time) string { return t.UTC().Format(Layout) }
