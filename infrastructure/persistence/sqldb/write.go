package sqldb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/failpoint"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb/dialect"
)

// The bounds of a transaction's second chances. Together they stay below the
// ten seconds in which firing must resume after an outage.
const (
	// maxLost is how often a transaction may lose against others.
	maxLost = 8
	// maxBroken is how often its connection may die under it.
	maxBroken = 3
	// maxWait is the time after which it is not tried again.
	maxWait = 8 * time.Second
)

// ErrVerifyFirst ends a transaction in which a batch met rows, of runs or of jobs, that
// are not as the caller believes. The batch is written blindly first, which is
// cheap and almost always right; on a mismatch everything is rolled back and
// the transaction runs again, looking before it writes.
var ErrVerifyFirst = errors.New("some rows are not held any more")

// transaction is one open write transaction; Commit and Rollback end it.
type transaction interface {
	gorm.ConnPool
	// Commit heeds the deadline of ctx. After its error the outcome may be unknown.
	Commit(ctx context.Context) error
	Rollback() error
}

// Change runs fn in a transaction, again where that can help.
func (s *Core) Change(ctx context.Context, lane repository.Lane, name string,
	fn func(ctx context.Context, c *Conn) error,
) error {
	return s.ChangeWaiting(ctx, lane, name, false, fn)
}

// ChangeWaiting is change. With oneWait a lock wait that times out is not retried.
func (s *Core) ChangeWaiting(ctx context.Context, lane repository.Lane, name string, oneWait bool,
	fn func(ctx context.Context, c *Conn) error,
) error {
	ctx, cancel := repository.BoundStatement(ctx)
	defer cancel()
	start := s.Clock.Monotonic()
	careful, lost, broken := s.looksFirst(lane), 0, 0
	for {
		err := s.attempt(ctx, lane, name, careful, fn)
		if err == nil || errors.Is(err, repository.ErrCommitUnknown) {
			return err
		}
		if ctx.Err() != nil {
			return s.Dialect.Unavailable(fmt.Errorf("write %s: %w", name, err))
		}
		if errors.Is(err, ErrVerifyFirst) && !careful {
			careful = true
			continue
		}
		again := s.Clock.Monotonic()-start < maxWait
		switch s.Dialect.Kind(err) {
		case dialect.Retry:
			if oneWait && s.Dialect.LockWait(err) {
				err = fmt.Errorf("write %s: %w: %w", name, repository.ErrLocked, err)
				if lane == repository.LaneFire {
					return err
				}
				return apperror.Unavailable(err)
			}
			lost++
			again = again && lost < maxLost
		case dialect.Broken:
			broken++
			again = again && broken < maxBroken
		case dialect.Away:
			return apperror.Unavailable(fmt.Errorf("write %s: %w", name, err))
		default:
			return err
		}
		if !again {
			return apperror.Unavailable(fmt.Errorf("write %s, %d times: %w", name, lost+broken, err))
		}
		s.Log.Debug("a transaction is tried again", "transaction", name, "error", err)
		if err := s.pause(ctx, lost+broken); err != nil {
			return s.Dialect.Unavailable(err)
		}
	}
}

// attempt runs one transaction from begin to commit.
func (s *Core) attempt(ctx context.Context, lane repository.Lane, name string, careful bool,
	fn func(ctx context.Context, c *Conn) error,
) error {
	start := s.Clock.Monotonic()
	tx, err := s.begin(ctx, lane)
	if err != nil {
		s.full.note(s.Dialect, "begin "+name, err)
		return s.Dialect.Describe("begin "+name, err)
	}
	open := true
	defer func() {
		if open { // fn failed or panicked
			_ = tx.Rollback() // a connection that cannot roll back is closed, which does the same
		}
	}()
	c := &Conn{
		ConnPool: tx, Dialect: s.Dialect, Clock: s.Clock, observe: s.observe, orm: s.orm, unread: s.unread, full: s.full,
		Transaction: name, VerifyFirst: careful,
	}
	defer s.noteLocks(c)
	if err := fn(ctx, c); err != nil {
		if c.aborted != nil && s.Dialect.Kind(err) != s.Dialect.Kind(c.aborted) {
			return fmt.Errorf("%w: %w", err, c.aborted)
		}
		return err
	}
	if c.aborted != nil {
		return c.aborted
	}
	_ = failpoint.Hit(name, "before-commit")
	open = false
	err = tx.Commit(ctx)
	if s.observe != nil {
		s.observe("tx."+name, s.Clock.Monotonic()-start, err)
	}
	if c.EventsAdded && s.eventsAdded != nil {
		s.eventsAdded()
	}
	if s.todosAdded != nil {
		for _, kind := range c.TodosAdded {
			s.todosAdded(kind)
		}
	}
	if err != nil {
		return s.commitError(name, err)
	}
	_ = failpoint.Hit(name, "after-commit")
	if err := failpoint.Hit(name, "reply-lost"); err != nil {
		return s.commitError(name, err)
	}
	return nil
}

// commitError tells a commit that certainly did not happen from one that may
// have. Only an answer of the server is certain; silence is not.
func (s *Core) commitError(name string, err error) error {
	s.full.note(s.Dialect, "commit "+name, err)
	if s.Dialect.Refused(err) {
		return s.Dialect.Describe("commit "+name, err)
	}
	return fmt.Errorf("commit %s: %w: %w", name, repository.ErrCommitUnknown, err)
}

// pause waits a little, longer each time and never the same for two.
func (s *Core) pause(ctx context.Context, n int) error {
	limit := min(5*time.Millisecond<<min(n, 8), 500*time.Millisecond)
	return clock.Sleep(ctx, s.Clock, time.Duration(rand.Int64N(int64(limit)))+time.Millisecond)
}

// begin opens a transaction in the lane.
func (s *Core) begin(ctx context.Context, lane repository.Lane) (transaction, error) {
	if s.writer != nil {
		return s.writer.begin(ctx, lane)
	}
	return beginMySQL(ctx, s.conns.of(ctx))
}

// ExecAtOnce runs one statement that commits by itself: no lock of
// it outlives its answer, whoever freezes. A statement that lost against others
// is tried again.
func (s *Core) ExecAtOnce(ctx context.Context, lane repository.Lane, name, query string,
	args ...any,
) (found int64, err error) {
	if s.writer != nil {
		err = s.Change(ctx, lane, name, func(ctx context.Context, c *Conn) error {
			found, err = c.Exec(ctx, name, query, args...)
			return err
		})
		return found, err
	}
	ctx, cancel := repository.BoundStatement(ctx)
	defer cancel()
	for try := 1; ; try++ {
		found, err = s.Pool.Exec(ctx, name, query, args...)
		if err == nil || s.Dialect.Kind(err) != dialect.Retry || try == maxBroken || ctx.Err() != nil {
			return found, err
		}
	}
}
