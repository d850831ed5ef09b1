package sqldb

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// The bounds of what is known of rows that cannot be read.
const (
	unreadKept = 1000
	// unreadFor is how long a row is shown after it was met last.
	unreadFor = 5 * time.Minute
)

// unreadRows knows the rows that were met lately and could not be read in whole.
// Safe for concurrent use.
type unreadRows struct {
	clock clock.Clock
	log   *slog.Logger
	count func(kind string)

	mu   sync.Mutex
	seen map[unreadKey]*sighting
}

type unreadKey struct{ kind, id string }

type sighting struct {
	why   string
	first time.Time
	last  time.Duration
}

// note is told of a row each time it is met.
func (u *unreadRows) note(kind, id, why string) {
	if u.count != nil {
		u.count(kind)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget()
	key, now := unreadKey{kind, id}, u.clock.Monotonic()
	if s := u.seen[key]; s != nil {
		s.why, s.last = why, now
		return
	}
	u.log.Error("a row of the store cannot be read; it is passed over", "kind", kind, "id", id, "reason", why)
	if len(u.seen) < unreadKept {
		u.seen[key] = &sighting{why: why, first: u.clock.Now(), last: now}
	}
}

// forget drops what was not met for long; the caller holds the lock.
func (u *unreadRows) forget() {
	now := u.clock.Monotonic()
	for key, s := range u.seen {
		if now-s.last > unreadFor {
			delete(u.seen, key)
		}
	}
}

// Unreadable are the rows that were met lately, at most a thousand.
func (s *Core) Unreadable() []repository.UnreadableRow {
	u := s.unread
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget()
	out := make([]repository.UnreadableRow, 0, len(u.seen))
	for key, s := range u.seen {
		out = append(out, repository.UnreadableRow{Kind: key.kind, ID: key.id, Why: s.why, Since: s.first})
	}
	slices.SortFunc(out, func(a, b repository.UnreadableRow) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.Kind+a.ID, b.Kind+b.ID)
	})
	return out
}

// unreadOf tells what of a row that was read could not be.
func unreadOf(row any) (kind, id, why string) {
	switch v := row.(type) {
	case *entity.Job:
		return "job", v.ID, v.Unreadable()
	case *entity.Execution:
		return "execution", v.ID, v.Unreadable
	case entity.Group:
		return "group", v.Name, v.Unreadable
	case entity.Node:
		return "node", v.ID, v.Unreadable
	case entity.Backfill:
		return "backfill", v.ID, v.Unreadable
	}
	return "", "", ""
}

// NoteUnread reports those of the rows that could not be read in whole, and returns
// all of them.
func NoteUnread[T any](c *Conn, rows []T) []T {
	for _, row := range rows {
		if kind, id, why := unreadOf(row); why != "" {
			c.unread.note(kind, id, why)
		}
	}
	return rows
}
