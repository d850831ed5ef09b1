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
	t.Parallel()
	zone := map[string]string{"zone": "a"}
	for _, c := range []struct {
		q                         entity.Queue
		node                      string
		labelled, unplaced, ready bool
	}{
		{entity.CommonQueue, "", false, false, true},
		{entity.NodeQueue("host-1", entity.SlotGeneral), "host-1", false, false, true},
		{entity.NodeQueue("host-1", entity.SlotCommand), "host-1", false, false, true},
		{entity.ClassQueue(entity.NodeClass{Command: true}), "", true, false, true},
		{entity.ClassQueue(entity.NodeClass{Labels: zone, Handler: "settle"}), "", true, false, true},
		{entity.UnroutableQueue(entity.NodeClass{Command: true}, entity.WaitCommand), "", false, true, false},
		{entity.UnroutableQueue(entity.NodeClass{Handler: "settle"}, entity.WaitHandler), "", false, true, false},
		{entity.LabelQueue(zone), "", true, false, true},
		{entity.ClassQueue(entity.NodeClass{Workers: "shop"}), "", true, false, true},
		{entity.ClassQueue(entity.NodeClass{Workers: "shop", Labels: zone, Command: true}), "", true, false, true},
		{entity.NodeQueue("@shop.0123456789abc", entity.SlotGeneral), "@shop.0123456789abc", false, false, true},
		{entity.UnroutableQueue(entity.NodeClass{Labels: zone}, entity.WaitNode), "", false, true, false},
		{entity.UnroutableQueue(entity.NodeClass{Labels: nil}, entity.WaitNode), "", false, true, false},
	} {
		node, ok := c.q.Node()
		require.Equal(t, c.node, node, c.q)
		require.Equal(t, c.node != "", ok, c.q)
		require.Equal(t, []bool{c.labelled, c.unplaced}, []bool{c.q.OfClass(), c.q.Unroutable()}, c.q)
		key := c.q.Key(7, start)
		require.Equal(t, c.q, key.Queue())
		require.Equal(t, c.ready, key.Ready(), key)
		require.LessOrEqual(t, len(key), 64)
		fair, ok := key.FairTime()
		require.True(t, ok)
		require.Equal(t, start, fair)
		require.Equal(t, entity.CommonQueue.Key(7, start), key.In(entity.CommonQueue), "the place is kept")
	}
	for _, k := range []entity.ClaimKey{
		"", "W", "W*", entity.ScheduledKey(start), entity.QueuedKey("job", 1),
		entity.RunningKey("node-1-that-is-long-enough"),
	} {
		require.Empty(t, k.Queue(), k)
		require.Empty(t, k.SortKey(), k)
		_, ok := k.FairTime()
		require.False(t, ok, k)
	}
}

// The queues of one worker group stand together, and the queues of all groups do. So a gateway asks for its own alone,
// and a node passes over all of them.
func TestQueuesOfWorkerGroupsStandTogether(t *testing.T) {
	t.Parallel()
	group := rapid.StringMatching(`[a-z0-9._-]{1,32}`)
	labels := rapid.MapOf(rapid.String(), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		shop, other := group.Draw(t, "group"), group.Draw(t, "other")
		class := entity.NodeClass{Workers: shop, Labels: labels.Draw(t, "labels"), Command: rapid.Bool().Draw(t, "command")}
		q := entity.ClassQueue(class)
		key := q.Key(rapid.IntRange(1, 10).Draw(t, "priority"), start)
		require.True(t, entity.WorkerClasses().Of(key))
		require.True(t, entity.WorkerClassesOf(shop).Of(key))
		require.Equal(t, shop == other, entity.WorkerClassesOf(other).Of(key))
		require.Equal(t, class.Kind(), q.Kind())
		require.LessOrEqual(t, len(key), entity.MaxClaimKey)
		lo, hi := q.Range()
		require.True(t, lo <= key && key < hi)
		for _, foreign := range []entity.NodeClass{
			{Labels: class.Labels, Command: true}, {Labels: class.Labels, Handler: shop}, {Labels: map[string]string{"a": "b"}},
		} {
			require.False(t, entity.WorkerClasses().Of(entity.ClassQueue(foreign).Key(5, start)))
		}
		class.Command = !class.Command
		require.NotEqual(t, q, entity.ClassQueue(class))
	})
}

// The longest keys fit the column of the claim key, and the longest of a node of
// the former release its narrower one.
func TestTheLongestKeyFits(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("n", 49)
	require.LessOrEqual(t, len(entity.NodeQueue(id, entity.SlotCommand).Key(1, start)), entity.MaxClaimKey)
	require.LessOrEqual(t, len(entity.NodeQueue(id, entity.SlotGeneral).Key(1, start)), 64)
}

// The claim looks at the greatest key alone to know whether anything is routed,
// and the sweep whether anything has no node.
func TestQueuesStandInOrder(t *testing.T) {
	t.Parallel()
	id := rapid.StringMatching(`[A-Za-z0-9._-]{1,49}`)
	labels := rapid.MapOf(rapid.String(), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		set, handler := labels.Draw(t, "labels"), "x"+rapid.String().Draw(t, "handler")
		ofHandler, ofCommands := entity.ClassQueue(entity.NodeClass{Labels: set, Handler: handler}),
			entity.ClassQueue(entity.NodeClass{Labels: set, Command: true})
		nobody := entity.UnroutableQueue(entity.NodeClass{Labels: set}, entity.WaitNode)
		general, commands := entity.NodeQueue(a, entity.SlotGeneral), entity.NodeQueue(a, entity.SlotCommand)
		require.True(t, slices.IsSorted([]entity.Queue{entity.CommonQueue, general, commands, ofCommands, ofHandler, nobody}))
		require.Greater(t, entity.NodeQueues, entity.CommonQueue.Key(1, start.AddDate(5000, 0, 0)))
		require.Less(t, entity.NodeQueues, general.Key(10, time.Time{}))
		require.Less(t, entity.ClassQueues, ofCommands.Key(10, time.Time{}))
		of := entity.NodeQueueSpan(a)
		require.True(t, of.Of(general.Key(1, start)) && of.Of(commands.Key(10, start)))
		all := []entity.Queue{
			entity.CommonQueue, general, commands, entity.NodeQueue(b, entity.SlotGeneral),
			entity.NodeQueue(b, entity.SlotCommand),
			entity.LabelQueue(set), ofCommands, ofHandler, nobody,
			entity.UnroutableQueue(entity.NodeClass{Labels: set, Command: true}, entity.WaitCommand),
		}
		for i, q := range all {
			lo, hi := q.Range()
			for j, o := range all {
				key := o.Key(rapid.IntRange(1, 10).Draw(t, "priority"), start)
				require.Equal(t, i == j || q == o, lo <= key && key < hi, "%s in %s", key, q)
			}
			require.Equal(t, i == 2 || i == 4 || i == 6, q.Kind() == entity.SlotCommand, q)
		}
	})
}

// Which queue a run of a class waits in, and that no two classes share one.
func TestAClassHasAQueueOfItsOwn(t *testing.T) {
	t.Parallel()
	zone := map[string]string{"zone": "a"}
	seen := map[entity.Queue]bool{}
	for _, c := range []entity.NodeClass{
		{},
		{Labels: zone},
		{Command: true},
		{Labels: zone, Command: true},
		{Handler: "settle"},
		{Labels: zone, Handler: "settle"},
		{Handler: "bill"},
		{Handler: "settle4:zone1:a"},
	} {
		seen[entity.ClassQueue(c)] = true
	}
	require.Len(t, seen, 8)
	require.Equal(t, entity.CommonQueue, entity.ClassQueue(entity.NodeClass{}))
	for _, frozen := range []struct {
		class entity.NodeClass
		want  entity.Queue
	}{
		{entity.NodeClass{Labels: zone}, "W~84ff584996ba31fd!"},
		{entity.NodeClass{Command: true}, "W~Cab30c85be4e40be8!"},
		{entity.NodeClass{Labels: zone, Handler: "settle"}, "W~Hf18b1492e4e7704f!"},
		{entity.NodeClass{Workers: "shop", Labels: zone, Handler: "a"}, "W~K46dc5e18e28e240988309939c811399f!"},
		{entity.NodeClass{Workers: "shop", Labels: zone, Handler: "b"}, "W~K46dc5e18e28e24093bc84ca4c4aaae9c!"},
	} {
		require.Equal(t, frozen.want, entity.ClassQueue(frozen.class), "nodes of all releases must agree")
	}
	for _, c := range []struct {
		job  entity.Job
		want entity.NodeClass
		kind entity.SlotKind
	}{
		{entity.Job{Type: entity.JobHTTP, Class: "x"}, entity.NodeClass{}, entity.SlotGeneral},
		{entity.Job{Type: entity.JobCustom, Class: "noop"}, entity.NodeClass{}, entity.SlotGeneral},
		{entity.Job{Type: entity.JobCustom, Class: "settle"}, entity.NodeClass{Handler: "settle"}, entity.SlotGeneral},
		{entity.Job{Type: entity.JobCommand, Class: "settle"}, entity.NodeClass{Command: true}, entity.SlotCommand},
		{
			entity.Job{Type: entity.JobCommand, Routing: entity.Routing{Labels: zone}},
			entity.NodeClass{Labels: zone, Command: true},
			entity.SlotCommand,
		},
	} {
		require.Equal(t, c.want, entity.NodeClassOf(&c.job))
		require.Equal(t, c.kind, c.want.Kind())
		require.Equal(t, c.kind, c.job.SlotKind())
	}
}

func TestALabelQueueIsThatOfItsLabels(t *testing.T) {
	t.Parallel()
	require.Equal(t, entity.LabelQueue(map[string]string{"a": "1", "b": "2"}),
		entity.LabelQueue(map[string]string{"b": "2", "a": "1"}))
	sets := []map[string]string{
		{},
		{"a": "1"},
		{"a": "2"},
		{"b": "1"},
		{"a": "1", "b": "2"},
		{"a": ""},
		{"a1": ""},
		{"a": "1:b"},
		{"a:1": "b"},
	}
	seen := map[entity.Queue]bool{}
	for _, set := range sets {
		seen[entity.LabelQueue(set)] = true
	}
	require.Len(t, seen, len(sets))
	require.Equal(t, entity.Queue("W~84ff584996ba31fd!"), entity.LabelQueue(map[string]string{"zone": "a"}),
		"frozen: nodes of all releases must agree")
}
