package sqldb

import (
	"sync/atomic"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// waryFor is how long fires look before they write after they met a row that others
// had locked.
const waryFor = 10 * time.Second

// wary remembers until when rows of jobs are expected to be locked, in monotonic
// nanoseconds. Where a statement cannot refuse to wait (MySQL), each batch that meets a
// lock would wait for it for a second; so only the first one does. Safe for
// concurrent use.
type wary struct{ until atomic.Int64 }

// looksFirst reports whether a transaction begins with a look.
func (s *Core) looksFirst(lane repository.Lane) bool {
	return lane == repository.LaneFire && !s.Dialect.IsSQLite() && s.Dialect.NoWait == "" &&
		int64(s.Clock.Monotonic()) < s.wary.until.Load()
}

// noteLocks keeps fires wary while locks are met.
func (s *Core) noteLocks(c *Conn) {
	if c.LocksMet {
		s.wary.until.Store(int64(s.Clock.Monotonic() + waryFor))
	}
}
