package lock_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
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
	locks *counted
	stop  func()
}

// election gives two nodes over one set of locks.
func election(t *testing.T) (c *clocktest.Manual, a, b *poll) {
	c = clocktest.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	cfg := dbtest.SQLite(t)
	cfg.Clock = c
	store := dbtest.Open(t, cfg)
	node := func(holder string) *poll {
		locks := &counted{Locker: store.Locks, told: make(chan string, 100)}
		return &poll{Elector: lock.NewElector(locks, c, silent(), "retention", holder, term), locks: locks}
	}
	return c, node("a#1"), node("b#1")
}

// run starts the node and waits until it has asked for the lock.
func (p *poll) run(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Run(ctx)
	}()
	p.stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(p.stop)
	p.waitFor(t, "lock")
}

// waitFor waits for a call of the locker, passing over others.
func (p *poll) waitFor(t *testing.T, call string) {
	t.Helper()
	for {
		select {
		case got := <-p.locks.told:
			if got == call {
				return
			}
		case <-time.After(10 * time.Second):
			require.Fail(t, "nobody calls "+call)
		}
	}
}

// leads waits until the node has drawn its conclusion from the last call.
func (p *poll) leads(t *testing.T, want bool) {
	t.Helper()
	require.Eventually(t, func() bool { return (p.IsLeader(t.Context()) == nil) == want }, 10*time.Second, time.Millisecond, "leads: %v", want)
}

func TestOneLeadsAndKeepsTheLead(t *testing.T) {
	c, a, b := election(t)
	require.ErrorIs(t, a.IsLeader(t.Context()), lock.ErrNotLeader, "before it was elected")
	a.run(t)
	a.leads(t, true)
	first, ok := a.Lease()
	require.True(t, ok)
	b.run(t)
	for range 10 {
		c.Advance(term / 3)
		a.waitFor(t, "renew")
		b.waitFor(t, "lock")
		a.leads(t, true)
		require.ErrorIs(t, b.IsLeader(t.Context()), lock.ErrNotLeader)
	}
	last, _ := a.Lease()
	require.Equal(t, first.Token, last.Token)

	a.stop()
	require.ErrorIs(t, a.IsLeader(t.Context()), lock.ErrNotLeader)
	c.Advance(term / 3)
	b.waitFor(t, "lock")
	b.leads(t, true)
	next, _ := b.Lease()
	require.Greater(t, next.Token, last.Token, "the lead was given back, and not waited for")
}

func TestALeaderThatCannotRenewStopsBeforeAnotherBegins(t *testing.T) {
	c, a, b := election(t)
	a.run(t)
	a.leads(t, true)
	a.locks.fail(errAway)
	c.Advance(term / 3)
	a.waitFor(t, "renew")
	require.NoError(t, a.IsLeader(t.Context()), "a failure alone takes nothing away")
	c.Advance(term/3*2 - term/10 - 1)
	require.NoError(t, a.IsLeader(t.Context()))
	b.run(t)
	c.Advance(1)
	require.ErrorIs(t, a.IsLeader(t.Context()), lock.ErrNotLeader)
	_, ok := a.Lease()
	require.False(t, ok)
	require.ErrorIs(t, b.IsLeader(t.Context()), lock.ErrNotLeader, "there is a pause between the two")
	c.Advance(term / 3)
	b.waitFor(t, "lock")
	b.leads(t, true)

	a.locks.fail(nil)
	c.Advance(term / 3)
	a.waitFor(t, "renew")
	a.waitFor(t, "lock")
	require.ErrorIs(t, a.IsLeader(t.Context()), lock.ErrNotLeader)
	b.leads(t, true)
}

func TestALeaseThatWasNotTakenMeanwhileIsTakenUp(t *testing.T) {
	c, a, _ := election(t)
	a.run(t)
	a.leads(t, true)
	first, _ := a.Lease()
	a.locks.fail(errAway)
	c.Advance(term - term/10)
	a.waitFor(t, "renew")
	a.leads(t, false)
	a.locks.fail(nil)
	c.Advance(term / 3)
	a.waitFor(t, "renew")
	a.waitFor(t, "lock")
	a.leads(t, true)
	next, _ := a.Lease()
	require.Greater(t, next.Token, first.Token, "it had run out at the server, so this is another lease")
}

// The lead is told with the moment it began, which a renewal does not move.
func TestALeaderKnowsSinceWhenItLeads(t *testing.T) {
	c, a, b := election(t)
	_, ok := a.Since()
	require.False(t, ok)
	c.Advance(time.Minute)
	a.run(t)
	a.leads(t, true)
	since := func(p *poll, want time.Duration) {
		t.Helper()
		got, ok := p.Since()
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	since(a, time.Minute)
	c.Advance(term / 3)
	a.waitFor(t, "renew")
	since(a, time.Minute)
	b.run(t)
	a.stop()
	c.Advance(term / 3)
	b.waitFor(t, "lock")
	b.leads(t, true)
	since(b, time.Minute+term/3*2)
	_, ok = a.Since()
	require.False(t, ok)
}

// An outage is two lines of the log, however long it lasts.
func TestAnOutageOfTheLocksIsToldOnce(t *testing.T) {
	c, a, _ := election(t)
	lines := make(chan string, 100)
	a.Elector = lock.NewElector(a.locks, c, slog.New(slog.NewTextHandler(lineWriter(lines), nil)), "retention", "a#1", term)
	a.locks.fail(errAway)
	a.run(t)
	for range 9 {
		c.Advance(term / 3)
		a.waitFor(t, "lock")
	}
	a.locks.fail(nil)
	c.Advance(term / 3)
	a.waitFor(t, "lock")
	a.leads(t, true)
	a.stop()
	require.Contains(t, <-lines, "do not answer")
	again := <-lines
	require.Contains(t, again, "answer again")
	require.Contains(t, again, "after=1m40s")
	require.Contains(t, <-lines, "this node leads")
	require.Empty(t, lines)
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
	locks := &counted{Locker: mute{}, told: make(chan string, 100)}
	p := &poll{Elector: lock.NewElector(locks, clock.NewSystem(), silent(), "retention", "a#1", 30*time.Millisecond), locks: locks}
	p.run(t)
	p.waitFor(t, "lock")
	p.waitFor(t, "lock")
	require.ErrorIs(t, p.IsLeader(t.Context()), lock.ErrNotLeader)
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
