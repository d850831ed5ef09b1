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
	var inOrder []entity.ClaimKey
	for priority := 10; priority >= 1; priority-- {
		for _, fair := range []time.Time{{}, time.UnixMilli(1), start, start.Add(time.Millisecond), start.AddDate(500, 0, 0)} {
			inOrder = append(inOrder, entity.ReadyKey(priority, fair))
		}
	}
	require.True(t, slices.IsSorted(inOrder), "%v", inOrder)
	require.Len(t, slices.Compact(inOrder), 50)
	require.Equal(t, entity.ReadyKey(10, start), entity.ReadyKey(99, start), "what is out of range counts as the bound")
	require.Equal(t, entity.ReadyKey(1, start), entity.ReadyKey(-3, start))
}

func TestClaimKeysOrderLikeTheirMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Int64Range(0, 1<<47)
		a, b := moment.Draw(t, "a"), moment.Draw(t, "b")
		x, y := time.UnixMilli(a), time.UnixMilli(b)
		priority := rapid.IntRange(1, 10).Draw(t, "priority")
		require.Equal(t, a < b, entity.ReadyKey(priority, x) < entity.ReadyKey(priority, y))
		require.Equal(t, a < b, entity.ParkedKey(x) < entity.ParkedKey(y))
		require.Equal(t, a < b, entity.QueuedKey("job", a) < entity.QueuedKey("job", b))
		if priority > 1 {
			require.Less(t, entity.ReadyKey(priority, x), entity.ReadyKey(priority-1, y))
		}
		back, ok := entity.ParkedKey(x).ParkedUntil()
		require.True(t, ok)
		require.True(t, back.Equal(x))
	})
}

func TestKindsOfClaimKeys(t *testing.T) {
	ready, parked := entity.ReadyKey(5, start), entity.ParkedKey(start)
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
		_, ok := c.key.ParkedUntil()
		require.Equal(t, c.parked, ok, "%q", c.key)
	}
	require.Less(t, entity.QueuedKey("a", 2), entity.QueuedKey("b", 1), "a job's waiters stand together")
}

func TestKeysOfGroupsWithALimit(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	delayed := entity.DelayedKey(at)
	until, parked := delayed.ParkedUntil()
	require.True(t, parked && delayed.Delayed() && until.Equal(at))
	require.False(t, entity.ParkedKey(at).Delayed())
	require.Less(t, delayed, entity.ParkedKey(at.Add(time.Millisecond)), "within what has come due")
	waits := entity.GroupQueue("billing").Key(7, at)
	require.True(t, waits.Grouped() && !waits.Ready() && !waits.Queued())
	require.Empty(t, waits.Queue(), "nobody takes from it")
	require.Equal(t, entity.ReadyKey(7, at), waits.In(entity.CommonQueue), "priority and fair time are kept")
	require.NotEqual(t, waits, entity.GroupQueue("Billing").Key(7, at))
	require.LessOrEqual(t, len(waits), 64)
	require.Greater(t, waits, entity.ClaimKey("C"))
	require.Less(t, waits, entity.ClaimKey(entity.ClaimQueuedPrefix))
}

func TestAKeyTellsWhatTheRunWaitsFor(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for key, want := range map[entity.ClaimKey]entity.Wait{
		"": "", entity.RunningKey("n1"): "", entity.ReadyKey(5, at): entity.WaitSlot, entity.NodeQueue("n1").Key(5, at): entity.WaitSlot,
		entity.UnplacedQueue(nil).Key(5, at): entity.WaitNode, entity.ParkedKey(at): entity.WaitTime, entity.DelayedKey(at): entity.WaitTime,
		entity.QueuedKey("j", 1): entity.WaitJob, entity.GroupQueue("g").Key(5, at): entity.WaitGroup,
	} {
		require.Equal(t, want, key.WaitsFor(), key)
	}
}
