package slots

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func usedOf(s *Set) int {
	used, _ := s.Load(entity.SlotGeneral)
	return used
}

var slotsBegin = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The order of slots: direct starts yield to the backlog, and nobody starts
// anything while the node drains (engine rules 14 and 28).
func TestWhoMayTakeSlots(t *testing.T) {
	for _, c := range []struct {
		name              string
		backlog, draining bool
		direct, claim     int
	}{
		{"an idle node", false, false, 3, 3},
		{"runs wait in the store", true, false, 0, 3},
		{"the node drains", false, true, 0, 0},
		{"both", true, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, take := range []struct {
				want int
				of   func(s *Set) int
			}{
				{c.direct, func(s *Set) int { return s.Reserve(entity.Slots{3}).Total() }},
				{c.claim, func(s *Set) int { return s.ReserveForClaim(entity.SlotGeneral, 3) }},
			} {
				s := New(entity.Slots{5})
				if c.backlog {
					s.SetBacklog(entity.SlotGeneral)
				}
				if c.draining {
					s.Drain()
				}
				require.Equal(t, take.want, take.of(s))
				require.Equal(t, take.want, usedOf(s))
			}
		})
	}
}

func TestNoMoreSlotsAreTakenThanThereAre(t *testing.T) {
	s := New(entity.Slots{4})
	require.Equal(t, 3, s.Reserve(entity.Slots{3}).Total())
	require.Equal(t, 1, s.ReserveForClaim(entity.SlotGeneral, 3))
	require.Zero(t, s.Reserve(entity.Slots{1}).Total())
	require.Zero(t, s.ReserveForClaim(entity.SlotGeneral, 1))
	require.Equal(t, 4, usedOf(s))
	s.Release(entity.Slots{2})
	require.Equal(t, 2, usedOf(s))
	require.Equal(t, 2, s.Reserve(entity.Slots{10}).Total())
}

// A waiter for a change is told of a release and of the backlog's end,
// and of nothing else.
func TestWhatIsAnnounced(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(s *Set)
		want bool
	}{
		{"a release", func(s *Set) { s.Release(entity.Slots{1}) }, true},
		{"a release of nothing", func(s *Set) { s.Release(entity.Slots{0}) }, false},
		{"the backlog's end", func(s *Set) {
			s.SetBacklog(entity.SlotGeneral)
			s.ClearBacklog(entity.SlotGeneral, s.BacklogGeneration(entity.SlotGeneral))
		}, true},
		{"a backlog", func(s *Set) { s.SetBacklog(entity.SlotGeneral) }, false},
		{"no backlog as before", func(s *Set) {
			s.ClearBacklog(entity.SlotGeneral, s.BacklogGeneration(entity.SlotGeneral))
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := New(entity.Slots{2})
			s.Reserve(entity.Slots{2})
			changed := s.freed
			c.do(s)
			select {
			case <-changed:
				require.True(t, c.want)
			default:
				require.False(t, c.want)
			}
		})
	}
}

// A claimer that finds a slot free must not begin to wait for one: the release
// it would wait for has happened. It waits only where runs are known to wait.
func TestAFreeSlotIsNotWaitedFor(t *testing.T) {
	s := New(entity.Slots{2, 1})
	require.Nil(t, s.Freed(), "nobody waits")
	s.SetBacklog(entity.SlotGeneral)
	<-s.Freed()
	s.ReserveForClaim(entity.SlotGeneral, 2)
	changed := s.Freed()
	require.NotNil(t, changed)
	select {
	case <-changed:
		require.Fail(t, "nothing has changed")
	default:
	}
	s.Release(entity.Slots{1})
	<-changed
	<-s.Freed() // it came free before somebody asked
	s.ReserveForClaim(entity.SlotGeneral, 1)
	s.ClearBacklog(entity.SlotGeneral, s.BacklogGeneration(entity.SlotGeneral))
	require.Nil(t, s.Freed(), "nobody waits")
	s.SetBacklog(entity.SlotCommand)
	s.ReserveForClaim(entity.SlotCommand, 1)
	require.NotNil(t, s.Freed(), "each kind counts")
	s.Drain()
	require.Nil(t, s.Freed(), "nothing will start any more")
}

func TestRoomIsWhatDirectStartsMayTake(t *testing.T) {
	c := clocktest.NewManual(slotsBegin)
	s := New(entity.Slots{2})
	require.Equal(t, 2, s.WaitFree(t.Context(), c, time.Second, never))
	s.Reserve(entity.Slots{2})
	require.Zero(t, s.WaitFree(t.Context(), c, 0, never), "without a wait")
	require.Zero(t, s.WaitFree(t.Context(), c, -1, never))
	s.Release(entity.Slots{2})
	s.Drain()
	require.Zero(t, s.WaitFree(t.Context(), c, time.Hour, never), "nothing will start any more")
}

// waitForRoom asks for room on another goroutine, and returns when it waits.
func waitForRoom(ctx context.Context, t *testing.T, s *Set, c *watchedClock, slotWait time.Duration) <-chan int {
	t.Helper()
	got := make(chan int, 1)
	go func() { got <- s.WaitFree(ctx, c, slotWait, never) }()
	<-c.waiting
	return got
}

// Room waits for what frees it: a release, or the backlog's end.
func TestRoomWaitsForAChangeForTheBetter(t *testing.T) {
	for name, free := range map[string]func(s *Set){
		"a release":         func(s *Set) { s.Release(entity.Slots{1}) },
		"the backlog's end": func(s *Set) { s.ClearBacklog(entity.SlotGeneral, s.BacklogGeneration(entity.SlotGeneral)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newWatchedClock()
			s := New(entity.Slots{2})
			if name == "a release" {
				s.Reserve(entity.Slots{2})
			} else {
				s.SetBacklog(entity.SlotGeneral)
			}
			got := waitForRoom(t.Context(), t, s, c, time.Second)
			free(s)
			require.Positive(t, <-got)
		})
	}
}

// After one wait in vain nobody waits again, until something changed.
func TestRoomThatIsHopelessIsNotWaitedFor(t *testing.T) {
	c := newWatchedClock()
	s := New(entity.Slots{1})
	s.Reserve(entity.Slots{1})
	got := waitForRoom(t.Context(), t, s, c, time.Second)
	c.Advance(time.Second)
	require.Zero(t, <-got)
	require.Zero(t, s.WaitFree(t.Context(), c, time.Hour, never), "waitFailed")
	s.Release(entity.Slots{1})
	s.Reserve(entity.Slots{1})
	got = waitForRoom(t.Context(), t, s, c, time.Second)
	s.Release(entity.Slots{1})
	require.Equal(t, 1, <-got)
}

// While ends are on their way to a slow store, slotWait begins again, up to a
// bound: then fires are recorded as WAITING after all.
func TestRoomWaitsForEndsOnTheirWay(t *testing.T) {
	const slotWait = maxSlotWait / 4
	c := newWatchedClock()
	s := New(entity.Slots{1})
	s.Reserve(entity.Slots{1})
	got := make(chan int, 1)
	go func() { got <- s.WaitFree(t.Context(), c, slotWait, func() bool { return true }) }()
	for range maxSlotWait/slotWait - 1 {
		<-c.waiting
		c.Advance(slotWait)
	}
	<-c.waiting
	require.Empty(t, got)
	c.Advance(slotWait)
	require.Zero(t, <-got)
	require.True(t, s.waitFailed)
}

func never() bool { return false }

func TestRoomIsNotWaitedForBeyondTheContext(t *testing.T) {
	c := newWatchedClock()
	s := New(entity.Slots{1})
	s.Reserve(entity.Slots{1})
	ctx, cancel := context.WithCancel(t.Context())
	got := waitForRoom(ctx, t, s, c, time.Hour)
	cancel()
	require.Zero(t, <-got)
	require.False(t, s.waitFailed, "giving up early says nothing about the slots")
}

func TestSlotsAreNeverTakenTwice(t *testing.T) {
	s := New(entity.Slots{7})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 500 {
				n := s.Reserve(entity.Slots{3}).Total() + s.ReserveForClaim(entity.SlotGeneral, 2)
				if used := usedOf(s); used > 7 || used < n {
					t.Errorf("%d of 7 slots are used while %d are held here", used, n)
				}
				s.Release(entity.Slots{n})
			}
		})
	}
	all.Wait()
	require.Zero(t, usedOf(s))
}

// watchedClock tells when somebody sets a timer.
type watchedClock struct {
	*clocktest.Manual
	waiting chan struct{}
}

func newWatchedClock() *watchedClock {
	return &watchedClock{Manual: clocktest.NewManual(slotsBegin), waiting: make(chan struct{}, 1)}
}

func (w *watchedClock) NewTimer(d time.Duration) clock.Timer {
	timer := w.Manual.NewTimer(d)
	w.waiting <- struct{}{}
	return timer
}

// Rule 14: news of waiting runs that arrives while the store is asked must not
// be lost when it answers that it had none.
func TestNewsOfABacklogOutlivesAnOlderAnswer(t *testing.T) {
	s := New(entity.Slots{2})
	s.SetBacklog(entity.SlotGeneral)
	asked := s.BacklogGeneration(entity.SlotGeneral)
	s.SetBacklog(entity.SlotGeneral)
	s.ClearBacklog(entity.SlotGeneral, asked)
	require.Zero(t, s.Reserve(entity.Slots{1}).Total(), "somebody waits")
	s.ClearBacklog(entity.SlotGeneral, s.BacklogGeneration(entity.SlotGeneral))
	require.Equal(t, 1, s.Reserve(entity.Slots{1}).Total())
}
