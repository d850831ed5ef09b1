package app_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/service/job"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// routed makes a job that fires five times a second.
func routed(name string, change func(j *entity.Job)) *entity.Job {
	return newJob(name, func(j *entity.Job) {
		every(200 * time.Millisecond)(j)
		change(j)
	})
}

// since are the nodes of the job's runs that are final and due after a moment,
// in the order of their fires.
func (n *node) since(jobID string, after time.Time) (at []string) {
	n.t.Helper()
	for _, r := range n.rows(jobID) {
		if r.DueTime.After(after) && r.Status.Final() {
			require.Equal(n.t, entity.StatusSuccess, r.Status, r.Reason)
			at = append(at, r.NodeID)
		}
	}
	return at
}

// seen reports whether each of the nodes sees another one in a state.
func seen(nodes []*node, id string, status entity.NodeStatus) bool {
	return !slices.ContainsFunc(nodes, func(n *node) bool {
		return !slices.ContainsFunc(n.Member.Nodes(), func(o entity.Node) bool { return o.ID == id && o.Status == status })
	})
}

// Three real nodes on one server: strategies, labels, broadcast, a drain and a
// node that leaves.
func TestThreeNodesRouteTheirRuns(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles, allRoles)
	cfgs[1].Node.Labels = map[string]string{"gpu": "yes"}
	var nodes []*node
	for _, cfg := range cfgs {
		nodes = append(nodes, startNode(t, cfg, &script{}))
	}
	a, c := nodes[0], nodes[2]
	defer a.stop()
	defer nodes[1].stop()
	a.await("each sees the others at work", func() bool { return met(nodes) })
	round := a.create(routed("round", func(j *entity.Job) { j.Routing.Strategy = entity.RouteRoundRobin }))
	last := a.create(routed("last", func(j *entity.Job) { j.Routing.Strategy = entity.RouteLast }))
	gpu := a.create(routed("gpu", func(j *entity.Job) { j.Routing.Labels = map[string]string{"gpu": "yes"} }))
	all := a.create(routed("all", func(j *entity.Job) { j.Broadcast = true }))
	begun := time.Time{}
	for _, c := range []struct {
		job  *entity.Job
		want []string
	}{
		{round, []string{"node-a", "node-b", "node-c"}},
		{last, []string{"node-c"}},
		{gpu, []string{"node-b"}},
		{all, []string{"node-a", "node-b", "node-c"}},
	} {
		a.await(c.job.Name, func() bool { return len(a.since(c.job.ID, begun)) >= 9 })
		at := a.since(c.job.ID, begun)
		slices.Sort(at)
		require.Equal(t, c.want, slices.Compact(at), c.job.Name)
	}

	drained, err := a.Nodes.Drain(t.Context(), "node-c")
	require.NoError(t, err)
	require.Equal(t, entity.NodeDraining, drained.Status)
	require.NotEmpty(t, drained.Partitions, "it plans on")
	a.await("everybody knows", func() bool { return seen(nodes, "node-c", entity.NodeDraining) })
	quiet := a.Clock.Now().Add(time.Second)
	a.await("runs go elsewhere", func() bool {
		return len(a.since(last.ID, quiet)) >= 5 && len(a.since(round.ID, quiet)) >= 5
	})
	require.NotContains(t, slices.Concat(a.since(last.ID, quiet), a.since(round.ID, quiet)), "node-c")
	_, err = a.Nodes.Resume(t.Context(), "node-c")
	require.NoError(t, err)
	back := a.Clock.Now().Add(time.Second)
	a.await("it runs again", func() bool { return slices.Contains(a.since(last.ID, back), "node-c") })

	c.stop()
	a.await("everybody knows", func() bool { return seen(nodes[:2], "node-c", entity.NodeDown) })
	gone := a.Clock.Now().Add(time.Second)
	a.await("the others take over", func() bool { return len(a.since(last.ID, gone)) >= 5 })
	require.NotContains(t, a.since(last.ID, gone), "node-c")
	_, err = a.Nodes.Drain(t.Context(), "node-c")
	require.ErrorContains(t, err, "down")
}

// A run that nobody can take waits for a node, and starts when one joins.
func TestARunWaitsForANodeThatJoins(t *testing.T) {
	cfgs := peers(t, allRoles, allRoles)
	cfgs[1].Node.Labels = map[string]string{"gpu": "yes"}
	first := startNode(t, cfgs[0], &script{})
	defer first.stop()
	j := first.create(newJob("gpu", func(j *entity.Job) { j.Routing.Labels = map[string]string{"gpu": "yes"} }))
	ids, err := first.Jobs.Trigger(t.Context(), j.ID, job.Trigger{Source: entity.TriggerManual})
	require.NoError(t, err)
	require.True(t, first.row(ids[0]).Claim.Queue().Unroutable())
	second := startNode(t, cfgs[1], &script{})
	defer second.stop()
	require.Equal(t, "node-b", first.awaitStatus(ids[0], entity.StatusSuccess).NodeID)
}
