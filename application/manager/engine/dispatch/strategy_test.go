package dispatch_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// turns requires that any n choices in a row meet n nodes.
func turns(t *testing.T, at []string, n int) {
	t.Helper()
	for i := range len(at) - n + 1 {
		require.Len(t, tally(at[i:i+n]), n, "%v", at)
	}
}

func TestRoundRobinMeetsAllInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		turns(t, c.ran(c.fire(c.job(by(entity.RouteRoundRobin)).ID, 9)), 3)
		sharded := c.job(func(j *entity.Job) { j.Routing.Strategy, j.ShardCount = entity.RouteRoundRobin, 2 })
		turns(t, c.ran(c.fire(sharded.ID, 6)), 3)
	})
}

// The number of a fire is kept over retries and while it waits for its job.
func TestRoundRobinKeepsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		for _, n := range c.nodes {
			n.Script.Reply(enginetest.Always(entity.Failed(entity.ReasonError, "no")))
		}
		job := c.job(func(j *entity.Job) {
			j.Routing.Strategy, j.Overlap, j.Retry.MaxRetries, j.Retry.IntervalMs = entity.RouteRoundRobin, entity.OverlapSerial,
				1, 1000
		})
		execs := c.fire(job.ID, 6)
		c.await("all are dead", func() bool {
			for _, n := range c.nodes {
				if _, err := n.Repairs.PromoteScheduled(t.Context()); err != nil {
					return false
				}
			}
			return tally(enginetest.States(c.read(execs)))["DEAD(ERROR)"] == len(execs)
		})
		at := nodesOf(c.read(execs))
		turns(t, at, 3)
		for i, exec := range execs {
			attempts, err := c.nodes[0].Store.Executions.Attempts(t.Context(), exec.ID)
			require.NoError(t, err)
			require.Len(t, attempts, 1)
			require.Equal(t, at[i], attempts[0].NodeID)
		}
	})
}

func TestRandomMeetsAllAndWeightedByWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Weight: 1}, enginetest.Options{Weight: 1}, enginetest.Options{Weight: 98}).
			start()
		for _, n := range tally(c.ran(c.fire(c.job(by(entity.RouteRandom)).ID, 60))) {
			require.Greater(t, n, 4)
		}
		require.Greater(t, tally(c.ran(c.fire(c.job(by(entity.RouteWeighted)).ID, 60)))["node-3"], 45)
	})
}

func TestLeastLoadedSpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Slots: 4}, enginetest.Options{Slots: 4}, enginetest.Options{Slots: 8}).start()
		for _, n := range c.nodes {
			n.Script.Hold()
		}
		job := c.job(by(entity.RouteLeastLoaded))
		// One node gives out all of them, before anybody tells their load.
		var execs []*entity.Execution
		for range 8 {
			execs = append(execs, c.nodes[0].Trigger(t, job.ID)...)
		}
		require.Equal(t, map[string]int{"node-1": 2, "node-2": 2, "node-3": 4},
			tally(nodesOf(c.became(entity.StatusRunning, execs...))))
		c.await("a claim gives back what it did not need", func() bool {
			return !slices.ContainsFunc(c.nodes, func(n *enginetest.Node) bool {
				used, total := n.Runner.Load(entity.SlotGeneral)
				return used != total/2
			})
		})
		c.nodes[0].Clock.Advance(time.Second)
		enginetest.Beat(t, c.nodes...)
		execs = execs[:0]
		for range 4 {
			execs = append(execs, c.nodes[2].Trigger(t, job.ID)...)
		}
		require.Equal(t, map[string]int{"node-1": 1, "node-2": 1, "node-3": 2},
			tally(nodesOf(c.became(entity.StatusRunning, execs...))), "what runs is known")
	})
}

func TestAShardStaysWithItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		job := c.job(func(j *entity.Job) { j.Routing.Strategy, j.ShardCount = entity.RouteConsistentHash, 12 })
		first := c.ran(c.nodes[0].Trigger(t, job.ID))
		require.Greater(t, len(tally(first)), 1)
		require.Equal(t, first, c.ran(c.nodes[1].Trigger(t, job.ID)))
		silent(t, c, 2)
		for i, at := range c.ran(c.nodes[0].Trigger(t, job.ID)) {
			require.NotEqual(t, "node-3", at)
			if first[i] != "node-3" {
				require.Equal(t, first[i], at, "only the shards of the lost node move")
			}
		}
	})
}

// The strategy reads from the store what ran where, so that it does not matter who fires.
func TestUsageCountsOverAllSchedulers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, s := range []entity.RoutingStrategy{entity.RouteLFU, entity.RouteLRU} {
			c := three(t).start()
			job := c.job(by(s))
			var at []string
			for i := range 9 {
				at = append(at, c.one(job.ID, i%3))
				c.nodes[0].Clock.Advance(time.Second)
			}
			require.Equal(t, map[string]int{"node-1": 3, "node-2": 3, "node-3": 3}, tally(at), s)
			if s == entity.RouteLRU {
				turns(t, at, 3)
			}
		}
	})
}

func TestBusyOverAvoidsNodesThatRunTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		for _, n := range c.nodes {
			n.Script.Hold()
		}
		job := c.job(by(entity.RouteBusyOver))
		var at []string
		for i := range 4 {
			at = append(at, nodesOf(c.became(entity.StatusRunning, c.nodes[i%3].Trigger(t, job.ID)...))...)
		}
		require.Equal(t, []string{"node-1", "node-2", "node-3", "node-1"}, at)
	})
}

func TestFirstLastAndFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		first, last, failover := c.job(by(entity.RouteFirst)), c.job(by(entity.RouteLast)), c.job(by(entity.RouteFailover))
		for i := range 3 {
			require.Equal(t, []string{"node-1", "node-3", "node-1"},
				[]string{c.one(first.ID, i), c.one(last.ID, i), c.one(failover.ID, i)})
		}
		c.nodes[0].Drain(t, true)
		enginetest.Beat(t, c.nodes...)
		require.Equal(t, []string{"node-2", "node-2"}, []string{c.one(first.ID, 1), c.one(failover.ID, 1)})
	})
}

// The schedule's fires are routed as those by hand are, also those that wait
// for their job.
func TestFiresOfTheScheduleAreRouted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		for name, change := range map[string]func(j *entity.Job){
			"plain":  func(*entity.Job) {},
			"serial": func(j *entity.Job) { j.Overlap = entity.OverlapSerial },
		} {
			job := c.job(func(j *entity.Job) {
				enginetest.Every(time.Second)(j)
				change(j)
				j.Routing.Strategy = entity.RouteLast
			})
			for range 4 {
				c.nodes[0].Clock.Advance(time.Second)
				c.nodes[0].Fire(t)
			}
			execs := c.nodes[0].Executions(t, job.ID)
			require.NotEmpty(t, execs, name)
			require.Equal(t, map[string]int{"node-3": len(execs)}, tally(c.ran(execs)), name)
			c.nodes[0].Change(t, job.ID, func(j *entity.Job) {
				j.Status, j.DueTime, j.Version = entity.JobPaused, time.Time{}, 2
			})
		}
	})
}
