package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func broadcast(j *entity.Job) { j.Broadcast = true }

// places counts the live fires of a job.
func (c *cluster) places(jobID string) int {
	c.t.Helper()
	return len(c.nodes[0].InFlightFires(c.t, jobID))
}

func TestABroadcastRunsOnEveryNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		job := c.job(broadcast)
		for i := range 3 {
			execs := c.nodes[i].Trigger(t, job.ID)
			require.Len(t, execs, 3)
			for shard, exec := range execs {
				require.Equal(t, []any{shard, 3, entity.StatusWaiting}, []any{exec.ShardIndex, exec.ShardTotal, exec.Status})
			}
			require.Equal(t, []string{"node-1", "node-2", "node-3"}, c.ran(execs))
		}
		require.Zero(t, c.places(job.ID))
	})
}

func TestABroadcastGoesToTheNodesWithItsLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := func(z string) enginetest.Options {
			return enginetest.Options{Labels: map[string]string{"zone": z}}
		}
		c := newCluster(t, zone("a"), zone("b"), zone("a")).start()
		job := c.job(func(j *entity.Job) { broadcast(j); labelled("zone", "a")(j) })
		require.Equal(t, []string{"node-1", "node-3"}, c.ran(c.nodes[1].Trigger(t, job.ID)))
	})
}

// The nodes are read in the transaction: one that has just joined is served
// although nobody's view shows it yet.
func TestABroadcastKnowsTheNewestNode(t *testing.T) {
	c := three(t)
	job := c.job(broadcast)
	enginetest.On(t, c.nodes[0].Store, enginetest.Options{NodeID: "node-4", Clock: c.nodes[0].Clock})
	require.Equal(t, []string{"node-1", "node-2", "node-3", "node-4"}, nodesOf(c.nodes[0].Trigger(t, job.ID)))
}

func TestABroadcastToNobodyIsOneSkippedFire(t *testing.T) {
	c := three(t)
	job := c.job(func(j *entity.Job) {
		broadcast(j)
		labelled("gpu", "yes")(j)
		enginetest.Every(time.Second)(j)
	})
	c.nodes[0].Fire(t)
	require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(c.nodes[0].Executions(t, job.ID)))
	require.Zero(t, c.places(job.ID))
	require.Len(t, c.nodes[0].Events(t), 1)
}

// Rule 18: a run of a lost node fails, whether it had begun or not; it is never
// given to another.
func TestANodeIsLostWithItsBroadcasts(t *testing.T) {
	for name, begun := range map[string]bool{"before it claimed": false, "while it ran": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := three(t)
				c.nodes[0].Start(t)
				c.nodes[1].Start(t)
				if begun {
					c.nodes[2].Start(t)
					c.nodes[2].Script.Hold()
				}
				job := c.job(func(j *entity.Job) { broadcast(j); j.OnNodeLoss, j.Retry.MaxRetries = entity.NodeLossRetry, 3 })
				execs := c.nodes[0].Trigger(t, job.ID)
				c.ran(execs[:2])
				if begun {
					c.became(entity.StatusRunning, execs[2])
				}
				silent(t, c, 2)
				c.nodes[0].Sweep(t)
				held, err := c.nodes[1].Runner.Reap(t.Context(), "node-3", 1)
				require.NoError(t, err)
				require.Equal(t, map[bool]int{true: 1, false: 0}[begun], held)
				lost := c.became(entity.StatusFailed, execs[2])[0]
				require.Equal(t, []any{entity.ReasonNodeLost, "node-3"}, []any{lost.Reason, lost.NodeID})
				require.Zero(t, c.places(job.ID), "the fire is over")
				require.Zero(t, c.nodes[0].Sweep(t))
			})
		})
	}
}

func TestABroadcastsRetryStaysOnItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		for _, n := range c.nodes {
			n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
				if run.Execution.Attempt == 1 {
					return entity.Failed(entity.ReasonError, "the first time")
				}
				return entity.Succeeded("done")
			})
		}
		job := c.job(func(j *entity.Job) { broadcast(j); j.Retry.MaxRetries, j.Retry.IntervalMs = 1, 1000 })
		execs := c.nodes[0].Trigger(t, job.ID)
		require.Equal(t, []string{"node-1", "node-2", "node-3"}, c.ran(execs))
		for i, n := range c.nodes {
			require.Len(t, n.Script.Runs(), 2)
			require.Equal(t, execs[i].ID, n.Script.Runs()[1].Execution.ID)
		}
	})
}

// A run that waits for its node is not run there once its job is for workers.
func TestABroadcastOfAJobThatWentToWorkersFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Handlers: []string{"settle"}})
		job := c.job(func(j *entity.Job) { broadcast(j); j.Class = "settle" })
		exec := c.nodes[0].Trigger(t, job.ID)[0]
		c.nodes[0].Change(t, job.ID, func(j *entity.Job) { j.Routing.Workers, j.Version = "shop", 2 })
		c.start()
		failed := c.became(entity.StatusFailed, exec)[0]
		require.Equal(t, entity.ReasonInvalid, failed.Reason)
		require.Contains(t, failed.ErrorMessage, "the job is for the workers of shop now")
		require.Empty(t, c.nodes[0].Script.Runs())
	})
}

// A node that drains begins nothing, and its broadcast waits for it.
func TestABroadcastWaitsForANodeThatDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t)
		execs := c.nodes[0].Trigger(t, c.job(broadcast).ID)
		c.nodes[2].Drain(t, true)
		enginetest.Beat(t, c.nodes...)
		require.Zero(t, c.nodes[0].Sweep(t))
		c.start().ran(execs[:2])
		require.Equal(t, []entity.Queue{entity.NodeQueue("node-3", entity.SlotGeneral)}, c.queues(execs[2:]))
		c.nodes[2].Drain(t, false)
		enginetest.Beat(t, c.nodes...)
		require.Equal(t, []string{"node-3"}, c.ran(execs[2:]))
	})
}

// The list of nodes is frozen when the fire is recorded, not when it starts.
func TestABroadcastThatWaitsForItsJobIsFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		release := c.nodes[0].Script.Hold()
		job := c.job(func(j *entity.Job) { broadcast(j); j.Overlap = entity.OverlapSerial })
		first := c.nodes[0].Trigger(t, job.ID)
		c.became(entity.StatusRunning, first[0])
		second := c.nodes[0].Trigger(t, job.ID)
		late := enginetest.On(t, c.nodes[0].Store, enginetest.Options{NodeID: "node-4", Clock: c.nodes[0].Clock})
		enginetest.Beat(t, append(c.nodes, late)...)
		release()
		require.Equal(t, []string{"node-1", "node-2", "node-3"}, c.ran(second))
	})
}
