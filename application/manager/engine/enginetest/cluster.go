package enginetest

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/admission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// Join is further nodes on the store and the clock of n, named after their
// place: node-2 and so on. Each sees all of them.
func (n *Node) Join(t testing.TB, options ...Options) []*Node {
	t.Helper()
	nodes := []*Node{n}
	for i, o := range options {
		o.Clock = n.Clock
		if o.NodeID == "" {
			o.NodeID = "node-" + strconv.Itoa(i+2)
		}
		nodes = append(nodes, On(t, n.Store, o))
	}
	Beat(t, nodes...)
	return nodes
}

// describe is what the registry will tell of the node.
func (n *Node) describe(o Options) {
	n.self = entity.Node{
		ID: o.NodeID, Status: entity.NodeUp, Roles: []string{entity.RoleScheduler, entity.RoleExecutor},
		Labels: o.Labels, Slots: o.Slots, Weight: o.Weight,
		CommandSlots: o.CommandSlots, Handlers: o.Handlers, HandlersHash: entity.HandlersHash(o.Handlers),
	}
}

// join enters the node into the registry.
func (n *Node) join(t testing.TB) {
	t.Helper()
	var err error
	n.self.Epoch, err = n.Store.Register(t.Context(), n.self)
	require.NoError(t, err)
	Beat(t, n)
}

// Beat does what the nodes do at each beat: all tell their load, then all look
// around. Nodes that are left out are silent.
func Beat(t testing.TB, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		n.self.Running, n.self.Slots = n.Runner.Load(entity.SlotGeneral)
		n.self.CommandRunning, n.self.CommandSlots = n.Runner.Load(entity.SlotCommand)
		_, err := n.Store.Heartbeat(t.Context(), n.self)
		require.NoError(t, err)
	}
	for _, n := range nodes {
		n.look(t)
	}
}

func (n *Node) look(t testing.TB) {
	t.Helper()
	view, err := n.Store.All(t.Context())
	require.NoError(t, err)
	n.view.Store(&view)
	i := slices.IndexFunc(view, func(o entity.Node) bool { return o.ID == n.self.ID })
	n.Runner.Suspend(view[i].Status == entity.NodeDraining)
}

func (n *Node) seen() []entity.Node { return *n.view.Load() }

// Die marks a node as DOWN, as the others do when it is silent for long.
func (n *Node) Die(t testing.TB) {
	t.Helper()
	require.NoError(t, n.Store.Leave(t.Context(), n.self.ID, n.self.Epoch))
}

// Drain keeps new runs away from the node, or lets them in again. The nodes
// know with their next beat.
func (n *Node) Drain(t testing.TB, draining bool) {
	t.Helper()
	require.NoError(t, n.Store.Drain(t.Context(), n.self.ID, draining))
}

// ID is the name of the node.
func (n *Node) ID() string { return n.self.ID }

// Trigger fires a job by hand on this node, as the service does.
func (n *Node) Trigger(t testing.TB, jobID string) []*entity.Execution {
	t.Helper()
	var a admission.Admission
	n.Clock.Advance(time.Microsecond) // ids of one moment have no order
	fire := entity.ExtraFire(entity.TriggerManual, n.Time.Now(), n.Time.Now(), n.Time.Now(), "")
	n.Admitter.PrepareIDs(t.Context(), jobID)
	require.NoError(t, n.guard.Write(t.Context(), repository.LaneAPI, "test",
		func(ctx context.Context, tx repository.Tx) error {
			jobs, err := n.Admitter.Lock(ctx, tx, []string{jobID})
			if err != nil {
				return err
			}
			a, err = n.Admitter.Fire(ctx, tx, n.Time.Now(), jobs[jobID], fire)
			return err
		}))
	n.Commits.AfterCommit(a.PostCommit)
	return a.Executions
}

// Sweep looks after the queues.
func (n *Node) Sweep(t testing.TB) (moved int) {
	t.Helper()
	moved, err := n.Dispatch.Sweep(t.Context())
	require.NoError(t, err)
	return moved
}
