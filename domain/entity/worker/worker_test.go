package worker_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// An id stays over restarts, has its group in it, is never that of a node, and fits where ids of nodes do (V2).
func TestAnIDTellsAWorkerFromANode(t *testing.T) {
	longest := strings.Repeat("g", worker.MaxGroup)
	nodeID := regexp.MustCompile(`^[A-Za-z0-9._-]{1,49}$`)
	seen := map[string]bool{}
	for _, of := range [][2]string{
		{"shop", "a"},
		{"shop", "b"},
		{"sho", "pa"},
		{"shop.eu", "a"},
		{"shop", "eu.a"},
		{longest, "a"},
		{"shop", ""},
		{"shop", strings.Repeat("x", worker.MaxInstance)},
		{"shop", "名前"},
	} {
		id := worker.ID(of[0], of[1])
		require.Equal(t, id, worker.ID(of[0], of[1]))
		require.False(t, seen[id], id)
		seen[id] = true
		require.LessOrEqual(t, len(id), 49)
		require.True(t, worker.IsID(id))
		require.False(t, nodeID.MatchString(id))
		require.Regexp(t, `^@`+regexp.QuoteMeta(of[0])+`\.[0-9a-z]{13}$`, id)
		require.Equal(t, of[0], worker.GroupOf(id))
	}
	for _, other := range []string{"", "node-1", "w-1", "x-a_1"} {
		require.False(t, worker.IsID(other))
		require.Empty(t, worker.GroupOf(other))
	}
}

func TestNamesOfWorkerGroups(t *testing.T) {
	for name, want := range map[string]bool{
		"shop": true, "a.b-c_9": true, strings.Repeat("g", 32): true,
		"": false, strings.Repeat("g", 33): false, "Shop": false, "a b": false, "a/b": false, "@a": false, "ä": false,
		"a\x00": false, "a~": false, "a!": false,
	} {
		require.Equal(t, want, worker.ValidGroup(name), "%q", name)
	}
}

func TestAWorkerIsSuspectAfterTwoBeats(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	w := &worker.Worker{Status: worker.Up, Beat: 5 * time.Second, Lease: 20 * time.Second, LastBeat: noon}
	require.Equal(t, noon.Add(20*time.Second), w.LeaseUntil())
	require.False(t, w.Suspect(noon.Add(10*time.Second)))
	require.True(t, w.Suspect(noon.Add(10*time.Second+1)))
	w.Status = worker.Down
	require.False(t, w.Suspect(noon.Add(time.Hour)))
}

func TestListsOfHandlersHaveNames(t *testing.T) {
	a, b := worker.HandlersHash([]string{"a", "b"}), worker.HandlersHash([]string{"ab"})
	require.NotEqual(t, a, b)
	require.Len(t, a, 32)
	require.Len(t, worker.HandlersHash(nil), 32)
}
