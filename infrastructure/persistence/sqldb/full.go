package sqldb

import (
	"log/slog"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// fullFor is how long it is told that the store is full, after the latest answer that says so. A full store still
// takes small writes now and then, so that a write that succeeds proves nothing.
const fullFor = time.Minute

// fullness knows whether the store has lately refused a write for lack of room. Safe for concurrent use.
type fullness struct {
	clock clock.Clock
	log   *slog.Logger

	mu sync.Mutex
	// answer is what the store said last; empty: it has never been full.
	answer string
	last   time.Duration
}

// note is told of each error of the store.
func (f *fullness) note(d *dialect.Dialect, name string, err error) {
	if err == nil || !d.Full(err) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Monotonic()
	if f.answer == "" || now-f.last > fullFor {
		f.log.Error("the store has no room: it refuses to write; make room on its disk", "statement", name, "error", err)
	}
	f.answer, f.last = err.Error(), now
}

// Full returns what the store answered when it refused a write for lack of room within the last minute; empty: it did
// not.
func (s *Core) Full() string {
	f := s.full
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clock.Monotonic()-f.last > fullFor {
		return ""
	}
	return f.answer
}
