package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	registry "github.com/platform-scheduler/platform-scheduler/application/service/node"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func handledBy(name string) func(j *entity.Job) {
	return func(j *entity.Job) { j.Class = name }
}

// unplaced is what a node tells of runs without a node; empty for none.
func (n *node) unplaced() string {
	for _, trouble := range n.Degraded(n.t.Context()) {
		if trouble.Part == "unplaced" {
			return trouble.Reason
		}
	}
	return ""
}

// A handler that one of three nodes has gets all of its runs there, whichever
// node is asked; one that is rolled out later is waited for, and nothing fails
// (engine rule 34).
func TestAClusterOfDifferentHandlers(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles, allRoles)
	a, b := startNode(t, cfgs[0], &script{}), startNode(t, cfgs[1], &script{})
	defer a.stop()
	c := startNode(t, cfgs[2], &script{handlers: []string{"settle"}})
	defer c.stop()
	nodes := []*node{a, b, c}
	a.await("each sees the others at work", func() bool { return met(nodes) })
	settle := b.create(newJob("settle", handledBy("settle")))
	for i := range 12 {
		_, err := nodes[i%3].Jobs.Trigger(t.Context(), settle.ID, job.Trigger{Source: entity.TriggerManual})
		require.NoError(t, err)
	}
	a.await("12 of 12 end well", func() bool { return len(a.since(settle.ID, settle.CreateTime)) == 12 })
	for _, row := range a.rows(settle.ID) {
		require.Equal(t, []any{"node-c", 1, 0}, []any{row.NodeID, row.Attempt, row.RetryCount})
	}

	bill := a.create(newJob("bill", handledBy("bill")))
	warnings := a.Nodes.Warnings(t.Context(), settle, bill)
	require.Empty(t, warnings[0])
	require.Equal(t, "no_handler", warnings[1][0].Code)
	var ids []string
	for _, n := range nodes {
		started, err := n.Jobs.Trigger(t.Context(), bill.ID, job.Trigger{Source: entity.TriggerManual})
		require.NoError(t, err)
		ids = append(ids, started...)
	}
	for _, id := range ids {
		require.Equal(t, entity.WaitHandler, a.row(id).Claim.WaitsFor())
	}
	a.await("people are told", func() bool {
		return strings.Contains(a.unplaced(), `3 runs wait for a node with the handler "bill"`)
	})
	b.stop()
	b = startNode(t, cfgs[1], &script{handlers: []string{"bill", "settle"}})
	defer b.stop()
	for _, id := range ids {
		row := a.awaitStatus(id, entity.StatusSuccess)
		require.Equal(t, []any{"node-b", 1, 0}, []any{row.NodeID, row.Attempt, row.RetryCount})
	}
	a.await("all is well again", func() bool { return a.unplaced() == "" })
	handlers, err := c.Nodes.Handlers(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(handlers, func(h registry.Handler) bool { return h.Name == "settle" })
	require.Equal(t, []string{"node-b", "node-c"}, handlers[at].Nodes)
}
