package lock_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/lock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

var _ gocron.Elector = (*lock.Elector)(nil)

// term is a lease in these tests.
const term = 30 * time.Second

// poll is a node that stands for election in a test whose clock stands still.
type poll struct {
	*lock.Elector
	t     *testing.T
	locks *counted
	stop  func()
}

// election lets two nodes over one set of locks stand for election, by a clock that
// stands still. The goroutines of a bubble are at rest behind each step of the test.
func election(t *testing.T, test func(t *testing.T, c *clocktest.Manual, a, b *poll)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := clocktest.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
		cfg := dbtest.SQLite(t)
		cfg.Clock = c
		store := dbtest.Open(t, cfg)
		node := func(holder string) *poll {
			locks := &counted{Locker: store.Locks}
			return &poll{Elector: lock.NewElector(locks, c, silent(), "retention", holder, term), t: t, locks: locks}
		}
		test(t, c, node("a#1"), node("b#1"))
	})
}

// run starts the node, which asks for the lock at once.
func (p *poll) run() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	p.stop = func() {
		cancel()
		<-done
	}
	p.t.Cleanup(p.stop)
	synctest.Wait()
	p.asked("lock")
}

// asked requires that the node has made these calls since the last time, and no others.
func (p *poll) asked(calls ...string) {
	p.t.Helper()
	require.Equal(p.t, calls, p.locks.seen())
}

// leads requires that the node leads, or does not.
func (p *poll) leads(want bool) {
	p.t.Helper()
	err := p.IsLeader(p.t.Context())
	if want {
		require.NoError(p.t, err)
		return
	}
	require.ErrorIs(p.t, err, lock.ErrNotLeader)
}

// pass lets time pass, and the nodes act on it.
func pass(c *clocktest.Manual, d time.Duration) {
	c.Advance(d)
	synctest.Wait()
}

func TestOneLeadsAndKeepsTheLead(t *testing.T) {
	election(t, func(t *testing.T, c *clocktest.Manual, a, b *poll) {
		a.leads(false) // before it was elected
		a.run()
		a.leads(true)
		first, ok := a.Lease()
		require.True(t, ok)
		b.run()
		for range 10 {
			pass(c, term/3)
			a.asked("renew")
			b.asked("lock")
			a.leads(true)
			b.leads(false)
		}
		last, _ := a.Lease()
		require.Equal(t, first.Token, last.Token)

		a.stop()
		a.leads(false)
		pass(c, term/3)
		b.asked("lock")
		b.leads(true)
		next, _ := b.Lease()
		require.Greater(t, next.Token, last.Token, "the lead was given back, and not waited for")
	})
}

func TestALeaderThatCannotRenewStopsBeforeAnotherBegins(t *testing.T) {
	election(t, func(t *testing.T, c *clocktest.Manual, a, b *poll) {
		a.run()
		a.leads(true)
		a.locks.fail(errAway)
		pass(c, term/3)
		a.asked("renew")
		a.leads(true) // a failure alone takes nothing away
		pass(c, term/3*2-term/10-1)
		a.leads(true)
		b.run()
		pass(c, 1)
		a.leads(false)
		_, ok := a.Lease()
		require.False(t, ok)
		b.leads(false) // there is a pause between the two
		pass(c, term/3)
		b.asked("lock")
		b.leads(true)

		a.asked("renew", "renew")
		a.locks.fail(nil)
		pass(c, term/3)
		a.asked("renew", "lock")
		a.leads(false)
		b.leads(true)
	})
}

func TestALeaseThatWasNotTakenMeanwhileIsTakenUp(t *testing.T) {
	election(t, func(t *testing.T, c *clocktest.Manual, a, _ *poll) {
		a.run()
		a.leads(true)
		first, _ := a.Lease()
		a.locks.fail(errAway)
		pass(c, term-term/10)
		a.asked("renew")
		a.leads(false)
		a.locks.fail(nil)
		pass(c, term/3)
		a.asked("renew", "lock")
		a.leads(true)
		next, _ := a.Lease()
		require.Greater(t, next.Token, first.Token, "it had run out at the server, so this is another lease")
	})
}

// The lead is told with the moment it began, which a renewal does not move.
func TestALeaderKnowsSinceWhenItLeads(t *testing.T) {
	election(t, func(t *testing.T, c *clocktest.Manual, a, b *poll) {
		_, ok := a.Since()
		require.False(t, ok)
		pass(c, time.Minute)
		a.run()
		since := func(p *poll, want time.Duration) {
			t.Helper()
			got, ok := p.Since()
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		since(a, time.Minute)
		pass(c, term/3)
		a.asked("renew")
		since(a, time.Minute)
		b.run()
		a.stop()
		pass(c, term/3)
		b.asked("lock")
		since(b, time.Minute+term/3*2)
		_, ok = a.Since()
		require.False(t, ok)
	})
}

// An outage is two lines of the log, however long it lasts.
func TestAnOutageOfTheLocksIsToldOnce(t *testing.T) {
	election(t, func(t *testing.T, c *clocktest.Manual, a, _ *poll) {
		lines := make(chan string, 100)
		a.Elector = lock.NewElector(a.locks, c, slog.New(slog.NewTextHandler(lineWriter(lines), nil)), "retention", "a#1",
			term)
		a.locks.fail(errAway)
		a.run()
		for range 9 {
			pass(c, term/3)
			a.asked("lock")
		}
		a.locks.fail(nil)
		pass(c, term/3)
		a.leads(true)
		a.stop()
		require.Contains(t, <-lines, "do not answer")
		again := <-lines
		require.Contains(t, again, "answer again")
		require.Contains(t, again, "after=1m40s")
		require.Contains(t, <-lines, "this node leads")
		require.Empty(t, lines)
	})
}

// lineWriter hands on the lines of a log.
type lineWriter chan string

func (l lineWriter) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

// mute is a locker that says nothing until it is given up.
type mute struct{ repository.Locker }

func (mute) TryLock(ctx context.Context, _, _ string, _ time.Duration) (repository.Lease, bool, error) {
	<-ctx.Done()
	return repository.Lease{}, false, ctx.Err()
}

func TestALockerThatSaysNothingIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locks := &counted{Locker: mute{}}
		p := &poll{Elector: lock.NewElector(locks, clock.NewSystem(), silent(), "retention", "a#1", term), t: t, locks: locks}
		p.run()
		time.Sleep(term / 3)
		synctest.Wait()
		p.asked("lock")
		p.leads(false)
	})
}

func TestGocronAsksTheElector(t *testing.T) {
	cfg := dbtest.SQLite(t)
	var runs [2]atomic.Int32
	for n, holder := range []string{"a", "b"} {
		e := lock.NewElector(dbtest.Open(t, cfg).Locks, clock.NewSystem(), silent(), "duty", holder, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			e.Run(ctx)
		}()
		if n == 0 {
			require.Eventually(t, func() bool { return e.IsLeader(ctx) == nil }, 10*time.Second, time.Millisecond)
		}
		s, err := gocron.NewScheduler(gocron.WithDistributedElector(e))
		require.NoError(t, err)
		_, err = s.NewJob(gocron.DurationJob(5*time.Millisecond), gocron.NewTask(func() { runs[n].Add(1) }))
		require.NoError(t, err)
		s.Start()
		t.Cleanup(func() {
			require.NoError(t, s.Shutdown())
			cancel()
			<-done
		})
	}
	require.Eventually(t, func() bool { return runs[0].Load() >= 10 }, 10*time.Second, time.Millisecond)
	require.Zero(t, runs[1].Load())
}
