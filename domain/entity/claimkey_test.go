package entity_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

var start = time.Date(2026, 11, 20, 21, 33, 0, 0, time.UTC)

func TestReadyKeysOrderByPriorityThenFairTime(t *testing.T) {
	t.Parallel()
	var inOrder []entity.ClaimKey
	for priority := 10; priority >= 1; priority-- {
		for _, fair := range []time.Time{
			{},
			time.UnixMilli(1), start, start.Add(time.Millisecond),
			start.AddDate(500, 0, 0),
		} {
			inOrder = append(inOrder, entity.CommonQueue.Key(priority, fair))
		}
	}
	require.True(t, slices.IsSorted(inOrder), "%v", inOrder)
	require.Len(t, slices.Compact(inOrder), 50)
	require.Equal(t, entity.CommonQueue.Key(10, start), entity.CommonQueue.Key(99, start),
		"what is out of range counts as the bound")
	require.Equal(t, entity.CommonQueue.Key(1, start), entity.CommonQueue.Key(-3, start))
}

func TestClaimKeysOrderLikeTheirMoments(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Int64Range(0, 1<<47)
		a, b := moment.Draw(t, "a"), moment.Draw(t, "b")
		x, y := time.UnixMilli(a), time.UnixMilli(b)
		priority := rapid.IntRange(1, 10).Draw(t, "priority")
		require.Equal(t, a < b, entity.CommonQueue.Key(priority, x) < entity.CommonQueue.Key(priority, y))
		require.Equal(t, a < b, entity.ScheduledKey(x) < entity.ScheduledKey(y))
		require.Equal(t, a < b, entity.QueuedKey("job", a) < entity.QueuedKey("job", b))
		if priority > 1 {
			require.Less(t, entity.CommonQueue.Key(priority, x), entity.CommonQueue.Key(priority-1, y))
		}
		back, ok := entity.ScheduledKey(x).ScheduledUntil()
		require.True(t, ok)
		require.True(t, back.Equal(x))
	})
}

func TestKindsOfClaimKeys(t *testing.T) {
	t.Parallel()
	ready, parked := entity.CommonQueue.Key(5, start), entity.ScheduledKey(start)
	queued, running := entity.QueuedKey("job", 7), entity.RunningKey("node")
	for _, c := range []struct {
		key                   entity.ClaimKey
		ready, queued, parked bool
	}{
		{ready, true, false, false},
		{parked, false, false, true},
		{queued, false, true, false},
		{running, false, false, false},
		{"", false, false, false},
		{"W*", false, false, false},
		{"Bxyz", false, false, false},
		{"B", false, false, false},
	} {
		require.Equal(t, c.ready, c.key.Ready(), "%q", c.key)
		require.Equal(t, c.queued, c.key.Queued(), "%q", c.key)
		_, ok := c.key.ScheduledUntil()
		require.Equal(t, c.parked, ok, "%q", c.key)
	}
	require.Less(t, entity.QueuedKey("a", 2), entity.QueuedKey("b", 1), "a job's waiters stand together")
}

func TestKeysOfGroupsWithALimit(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	delayed := entity.ScheduledLimitedKey(at)
	until, parked := delayed.ScheduledUntil()
	require.True(t, parked && delayed.ScheduledLimited() && until.Equal(at))
	require.False(t, entity.ScheduledKey(at).ScheduledLimited())
	require.Less(t, delayed, entity.ScheduledKey(at.Add(time.Millisecond)), "within what has come due")
	waits := entity.GroupQueue("billing").Key(7, at)
	require.True(t, waits.Grouped() && !waits.Ready() && !waits.Queued())
	require.Empty(t, waits.Queue(), "nobody takes from it")
	require.Equal(t, entity.CommonQueue.Key(7, at), waits.In(entity.CommonQueue), "priority and fair time are kept")
	require.NotEqual(t, waits, entity.GroupQueue("Billing").Key(7, at))
	require.LessOrEqual(t, len(waits), 64)
	require.True(t, entity.GroupedSpan().Of(waits))
}

func TestAKeyTellsWhatTheRunWaitsFor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for key, want := range map[entity.ClaimKey]entity.Wait{
		"": "", entity.RunningKey("n1"): "", entity.CommonQueue.Key(5, at): entity.WaitSlot,
		entity.NodeQueue("n1", entity.SlotGeneral).Key(5, at):                                      entity.WaitSlot,
		entity.UnroutableQueue(entity.NodeClass{}, entity.WaitNode).Key(5, at):                     entity.WaitNode,
		entity.UnroutableQueue(entity.NodeClass{Command: true}, entity.WaitCommand).Key(5, at):     entity.WaitCommand,
		entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitHandler).Key(5, at): entity.WaitHandler,
		entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitNode).Key(5, at):    entity.WaitNode,
		entity.ClassQueue(entity.NodeClass{Handler: "settle"}).Key(5, at):                          entity.WaitSlot,
		entity.NodeQueue("n1", entity.SlotCommand).Key(5, at):                                      entity.WaitSlot,
		entity.DetachedKey(at): "", entity.DetachedKey(time.Time{}): "", entity.ScheduledKey(at): entity.WaitTime,
		entity.ScheduledLimitedKey(at): entity.WaitTime,
		entity.QueuedKey("j", 1):       entity.WaitJob, entity.GroupQueue("g").Key(5, at): entity.WaitGroup,
	} {
		require.Equal(t, want, key.WaitsFor(), key)
	}
}

// Whatever letter a key begins with, the overview counts it once: as waiting, or
// as running where the key says so.
func TestEveryLetterIsCountedOnce(t *testing.T) {
	t.Parallel()
	running := ""
	for letter := 'A'; letter <= 'Z'; letter++ {
		key := entity.ClaimKey(string(letter) + "x!5000000000000")
		counted := 0
		for _, s := range entity.RunningSpans() {
			if s.Of(key) {
				running += string(letter)
				counted++
			}
		}
		for _, s := range entity.WaitingSpans() {
			if s.Of(key) {
				counted++
			}
		}
		require.Equal(t, 1, counted, "%c", letter)
		require.True(t, entity.AllClaims().Of(key))
	}
	require.Equal(t, "OR", running)
}

func TestDetachedRunsEndInOrder(t *testing.T) {
	t.Parallel()
	early, late, never := entity.DetachedKey(start), entity.DetachedKey(start.Add(time.Millisecond)),
		entity.DetachedKey(time.Time{})
	require.True(t, slices.IsSorted([]entity.ClaimKey{early, late, never}))
	for key, want := range map[entity.ClaimKey]bool{
		early: true, late: true, never: true, entity.RunningKey("n"): false,
		"": false,
	} {
		require.Equal(t, want, key.Detached(), key)
	}
	until, ok := early.DetachedUntil()
	require.True(t, ok && until.Equal(start))
	_, ok = never.DetachedUntil()
	require.False(t, ok)
	require.Equal(t, entity.ClaimKey("Offffffffffff"), never)
}

func TestAKeyTellsOnWhomTheRunWaits(t *testing.T) {
	t.Parallel()
	for _, kind := range entity.SlotKinds() {
		require.Equal(t, "n-1", entity.NodeQueue("n-1", kind).Key(5, start).WaitsOn())
	}
	for _, key := range []entity.ClaimKey{
		"", entity.CommonQueue.Key(5, start), entity.RunningKey("n"),
		entity.ScheduledKey(start), entity.ClassQueue(entity.NodeClass{Command: true}).Key(5, start),
	} {
		require.Empty(t, key.WaitsOn(), key)
	}
}
