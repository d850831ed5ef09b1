package entity_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func TestWhatAQueueIsOf(t *testing.T) {
	zone := map[string]string{"zone": "a"}
	for _, c := range []struct {
		q                         entity.Queue
		node                      string
		labelled, unplaced, ready bool
	}{
		{entity.CommonQueue, "", false, false, true},
		{entity.NodeQueue("host-1"), "host-1", false, false, true},
		{entity.LabelQueue(zone), "", true, false, true},
		{entity.UnplacedQueue(zone), "", false, true, false},
		{entity.UnplacedQueue(nil), "", false, true, false},
	} {
		node, ok := c.q.Node()
		require.Equal(t, c.node, node, c.q)
		require.Equal(t, c.node != "", ok, c.q)
		require.Equal(t, []bool{c.labelled, c.unplaced}, []bool{c.q.Labelled(), c.q.Unplaced()}, c.q)
		key := c.q.Key(7, start)
		require.Equal(t, c.q, key.Queue())
		require.Equal(t, c.ready, key.Ready(), key)
		require.LessOrEqual(t, len(key), 64)
		fair, ok := key.FairTime()
		require.True(t, ok)
		require.Equal(t, start, fair)
		require.Equal(t, entity.ReadyKey(7, start), key.In(entity.CommonQueue), "the place is kept")
	}
	for _, k := range []entity.ClaimKey{"", "W", "W*", entity.ParkedKey(start), entity.QueuedKey("job", 1), entity.RunningKey("node-1-that-is-long-enough")} {
		require.Empty(t, k.Queue(), k)
		require.Empty(t, k.Place(), k)
		_, ok := k.FairTime()
		require.False(t, ok, k)
	}
}

// The longest node id fills the column of the claim key.
func TestTheLongestKeyFits(t *testing.T) {
	require.Len(t, entity.NodeQueue(strings.Repeat("n", 49)).Key(1, start), 64)
}

// The claim looks at the greatest key alone to know whether anything is routed,
// and the sweep whether anything has no node.
func TestQueuesStandInOrder(t *testing.T) {
	id := rapid.StringMatching(`[A-Za-z0-9._-]{1,49}`)
	labels := rapid.MapOf(rapid.String(), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		set := labels.Draw(t, "labels")
		inOrder := []entity.Queue{entity.CommonQueue, entity.NodeQueue(a), entity.LabelQueue(set), entity.UnplacedQueue(set)}
		require.True(t, slices.IsSorted(inOrder))
		require.Greater(t, entity.NodeQueues, entity.CommonQueue.Key(1, start.AddDate(5000, 0, 0)))
		require.Less(t, entity.NodeQueues, entity.NodeQueue(a).Key(10, time.Time{}))
		require.Less(t, entity.LabelQueues, entity.LabelQueue(set).Key(10, time.Time{}))
		for i, q := range append(inOrder, entity.NodeQueue(b)) {
			lo, hi := q.Range()
			for j, o := range append(inOrder, entity.NodeQueue(b)) {
				key := o.Key(rapid.IntRange(1, 10).Draw(t, "priority"), start)
				require.Equal(t, i == j || q == o, lo <= key && key < hi, "%s in %s", key, q)
			}
		}
	})
}

func TestALabelQueueIsThatOfItsLabels(t *testing.T) {
	require.Equal(t, entity.LabelQueue(map[string]string{"a": "1", "b": "2"}), entity.LabelQueue(map[string]string{"b": "2", "a": "1"}))
	sets := []map[string]string{{}, {"a": "1"}, {"a": "2"}, {"b": "1"}, {"a": "1", "b": "2"}, {"a": ""}, {"a1": ""}, {"a": "1:b"}, {"a:1": "b"}}
	seen := map[entity.Queue]bool{}
	for _, set := range sets {
		seen[entity.LabelQueue(set)] = true
	}
	require.Len(t, seen, len(sets))
	require.Equal(t, entity.Queue("W~84ff584996ba31fd!"), entity.LabelQueue(map[string]string{"zone": "a"}), "frozen: nodes of all releases must agree")
}
