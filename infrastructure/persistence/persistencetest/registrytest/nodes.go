// Package registrytest is the contract of nodes.
package registrytest

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/persistencetest/storetest"
)

// Nodes runs the suite over stores that open gives.
func Nodes(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	n := entity.Node{
		ID: "host-1:8080", IP: "::1", Port: 8080, Roles: []string{"api", "executor"}, Labels: map[string]string{"zone": "ä"},
		Version: "1.2.3", Slots: 8, Weight: 2, LastHeartbeat: storetest.Noon, CreateTime: storetest.Noon,
		UpdateTime: storetest.Noon,
		Life: entity.NodeLife{
			Lease: 3 * time.Second, Boot: "boot-1", Server: "uuid@1", LockSession: 7,
			Sessions: []int64{7, 9},
		},
	}
	var wg sync.WaitGroup
	var sum atomic.Int64
	for range 4 { // one id, many starts at once: each gets an epoch of its own
		wg.Go(func() {
			epoch, err := s.Register(t.Context(), n)
			if err == nil {
				sum.Add(epoch)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1+2+3+4, sum.Load())
	nodes, now, err := s.View(t.Context())
	require.NoError(t, err)
	made := nodes[0].CreateTime
	require.WithinDuration(t, now, made, time.Minute, "by the store's clock")
	later := n
	later.Version = "1.3"
	epoch, err := s.Register(t.Context(), later)
	require.NoError(t, err)
	require.EqualValues(t, 5, epoch)
	nodes, now, err = s.View(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now, nodes[0].LastHeartbeat, time.Minute, "a registration is a beat, whatever the node says")
	later.CreateTime, later.Status, later.Epoch = made, entity.NodeUp, 5
	later.LastHeartbeat, later.UpdateTime = nodes[0].LastHeartbeat, nodes[0].LastHeartbeat
	require.Equal(t, []entity.Node{later}, nodes, "the time of creation stays")

	beat := later
	beat.Roles, beat.Running, beat.Slots, beat.CPU, beat.Memory, beat.ClockOffset = []string{"api"}, 3, 9, 0.5, 1<<33,
		-1500*time.Millisecond
	ok, err := s.Heartbeat(t.Context(), beat)
	require.NoError(t, err)
	require.True(t, ok)
	nodes, now, err = s.View(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now, nodes[0].LastHeartbeat, time.Minute, "by the store's clock")
	require.False(t, nodes[0].LastHeartbeat.After(now))
	beat.LastHeartbeat, beat.UpdateTime = nodes[0].LastHeartbeat, nodes[0].LastHeartbeat
	require.Equal(t, []entity.Node{beat}, nodes)
	stale := beat
	stale.Epoch = 4
	ok, err = s.Heartbeat(t.Context(), stale)
	require.NoError(t, err)
	require.False(t, ok, "somebody took the id over")
	require.NoError(t, s.Leave(t.Context(), n.ID, 4))
	require.Equal(t, entity.NodeUp, statusOf(t, s, n.ID), "a former life cannot sign the present one off")
	require.NoError(t, s.Leave(t.Context(), n.ID, 5))
	require.Equal(t, entity.NodeDown, statusOf(t, s, n.ID))
	require.Equal(t, entity.DownLeft, nodeOf(t, s, n.ID).DownCause)
	ok, err = s.Heartbeat(t.Context(), beat)
	require.NoError(t, err)
	require.False(t, ok, "who was declared dead must register anew")
	_, err = s.Register(t.Context(), beat)
	require.NoError(t, err)
	back := nodeOf(t, s, n.ID)
	require.Equal(t, []any{entity.NodeUp, ""}, []any{back.Status, back.DownCause})
	former := n
	former.Life = entity.NodeLife{}
	_, err = s.Register(t.Context(), former)
	require.NoError(t, err)
	require.Equal(t, entity.NodeLife{}, nodeOf(t, s, n.ID).Life, "what one life publishes is not the next one's")

	_, err = s.Register(t.Context(), entity.Node{ID: "another"})
	require.NoError(t, err)
	nodes, err = s.All(t.Context())
	require.NoError(t, err)
	require.Equal(t, "another", nodes[0].ID, "by id")
	now, err = s.StoreTime(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, now, nodes[0].LastHeartbeat, time.Minute, "the store's time stands in")
	require.Equal(t, time.UTC, now.Location())
	require.WithinDuration(t, time.Now(), now, time.Minute)
}

func statusOf(t *testing.T, s *persistence.Store, id string) entity.NodeStatus {
	t.Helper()
	return nodeOf(t, s, id).Status
}

func nodeOf(t *testing.T, s *persistence.Store, id string) entity.Node {
	t.Helper()
	nodes, _, err := s.View(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if n.ID == id {
			return n
		}
	}
	return entity.Node{}
}

// Marks runs the suite over stores that open gives.
func Marks(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	n := entity.Node{ID: "n1", Roles: []string{"scheduler"}}
	var err error
	n.Epoch, err = s.Register(t.Context(), n)
	require.NoError(t, err)
	view, _, err := s.View(t.Context())
	require.NoError(t, err)
	seen := view[0]
	old := seen
	old.Epoch--
	late := seen
	late.LastHeartbeat = late.LastHeartbeat.Add(-time.Second)
	for _, wrong := range []entity.Node{old, late, {ID: "n2", Epoch: 1}} {
		ok, err := s.Mark(t.Context(), wrong, entity.NodeDown, entity.DownLease)
		require.NoError(t, err)
		require.False(t, ok, "not as it was seen")
	}
	mark := func(status entity.NodeStatus, want bool) {
		ok, err := s.Mark(t.Context(), seen, status, "")
		require.NoError(t, err)
		require.Equal(t, want, ok)
	}
	mark(entity.NodeSuspect, true)
	mark(entity.NodeSuspect, false)
	ok, err := s.Heartbeat(t.Context(), n)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, entity.NodeUp, statusOf(t, s, "n1"), "a beat clears the suspicion")

	require.NoError(t, s.Drain(t.Context(), "n1", true))
	require.NoError(t, s.Drain(t.Context(), "n1", true))
	ok, err = s.Heartbeat(t.Context(), n)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, entity.NodeDraining, statusOf(t, s, "n1"), "a beat does not end a drain")
	require.NoError(t, s.Drain(t.Context(), "n1", false))
	require.Equal(t, entity.NodeUp, statusOf(t, s, "n1"))
	for _, id := range []string{"n2", "", "caf\u00e9"} {
		require.True(t, apperror.Is(s.Drain(t.Context(), id, true), apperror.KindNotFound))
	}
	require.NoError(t, s.Leave(t.Context(), "n1", n.Epoch))
	require.True(t, apperror.Is(s.Drain(t.Context(), "n1", true), apperror.KindConflict))
}

// Returns runs the suite over stores that open gives: the row of a node that is DOWN knows whether it drained, also
// where the node itself could not look any more. A new process does not drain.
func Returns(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	for name, c := range map[string]struct {
		// drains are what a person asks for before the node is declared DOWN.
		drains []bool
		fresh  bool
		want   entity.NodeStatus
	}{
		"none":                 {nil, false, entity.NodeUp},
		"drained":              {[]bool{true}, false, entity.NodeDraining},
		"drained and resumed":  {[]bool{true, false}, false, entity.NodeUp},
		"drained, new process": {[]bool{true}, true, entity.NodeUp},
	} {
		n := entity.Node{ID: strings.NewReplacer(" ", "-", ",", "").Replace(name)}
		var err error
		n.Epoch, err = s.Register(t.Context(), n)
		require.NoError(t, err)
		for _, draining := range c.drains {
			require.NoError(t, s.Drain(t.Context(), n.ID, draining))
		}
		ok, err := s.Mark(t.Context(), nodeOf(t, s, n.ID), entity.NodeDown, entity.DownLease)
		require.NoError(t, err)
		require.True(t, ok)
		back := n
		if c.fresh {
			back.Epoch = 0
		}
		n.Epoch, err = s.Register(t.Context(), back)
		require.NoError(t, err)
		require.Equal(t, c.want, statusOf(t, s, n.ID), name)
		require.NoError(t, s.Drain(t.Context(), n.ID, false))
		ok, err = s.Mark(t.Context(), nodeOf(t, s, n.ID), entity.NodeDown, entity.DownLease)
		require.NoError(t, err)
		require.True(t, ok)
		_, err = s.Register(t.Context(), n)
		require.NoError(t, err)
		require.Equal(t, entity.NodeUp, statusOf(t, s, n.ID), "%s: the former drain is over", name)
	}
}

// Abilities runs the suite over stores that open gives: what a node can do is in its
// row as long as the life that published it.
func Abilities(t *testing.T, open storetest.Opener) {
	s := open(t, nil)
	handlers := []string{"bill", "settle", "überweisen"}
	n := entity.Node{
		ID: "n1", Slots: 8, CommandSlots: 4, Handlers: handlers, HandlersHash: entity.HandlersHash(handlers), Weight: 1,
	}
	bare := entity.Node{ID: "n2", CommandSlots: 3, HandlersHash: entity.HandlersHash(nil), Weight: 1}
	former := entity.Node{ID: "n3", Slots: 2, Weight: 1}
	for _, node := range []*entity.Node{&n, &bare, &former} {
		var err error
		node.Epoch, err = s.Register(t.Context(), *node)
		require.NoError(t, err)
		node.Status = entity.NodeUp
	}
	want := []entity.Node{n, bare, former}
	all, err := s.All(t.Context())
	require.NoError(t, err)
	for i := range min(len(all), len(want)) { // the store's
		want[i].LastHeartbeat, want[i].CreateTime, want[i].UpdateTime = all[i].LastHeartbeat, all[i].CreateTime,
			all[i].UpdateTime
	}
	require.Equal(t, want, all)
	for range 2 { // read from the store, then remembered
		seen, _, err := s.View(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, seen)
	}
	require.True(t, n.Publishes() && bare.Publishes() && !former.Publishes())

	n.Epoch, err = s.Register(t.Context(), entity.Node{
		ID: "n1", Slots: 8, CommandSlots: 2, Handlers: handlers[:1], HandlersHash: entity.HandlersHash(handlers[:1]),
	})
	require.NoError(t, err)
	require.Equal(t, []string{"bill"}, nodeOf(t, s, "n1").Handlers, "a new life has a list of its own")
	n.CommandSlots, n.CommandRunning = 2, 1
	ok, err := s.Heartbeat(t.Context(), n)
	require.NoError(t, err)
	require.True(t, ok)
	running, slots := nodeOf(t, s, "n1").Load(entity.SlotCommand)
	require.Equal(t, []int{1, 2}, []int{running, slots})

	_, err = s.Register(t.Context(), entity.Node{ID: "n1", Slots: 5})
	require.NoError(t, err)
	require.False(t, nodeOf(t, s, "n1").Publishes(), "what a former life published is over")
}
