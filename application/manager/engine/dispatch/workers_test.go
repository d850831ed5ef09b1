package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/worker"
)

// worker stores a worker of the group shop that is up.
func (c *cluster) worker(instance string, handlers ...string) worker.Worker {
	c.t.Helper()
	store := c.nodes[0].Store
	if _, err := store.WorkerGroups.WorkerGroup(c.t.Context(), "shop"); err != nil {
		_, err := store.WorkerGroups.PutWorkerGroup(c.t.Context(), worker.Group{
			Name: "shop", JobGroups: []string{"default"}, MaxWorkers: 2000,
		}, nil)
		require.NoError(c.t, err)
	}
	w, err := store.RegisterWorker(c.t.Context(), worker.ID("shop", instance), "shop",
		func(_ *worker.Worker, now time.Time) (worker.Worker, error) {
			return worker.Worker{
				ID: worker.ID("shop", instance), Group: "shop", Instance: instance, Boot: "b", Epoch: 1, Status: worker.Up,
				Slots: entity.Slots{20}, Handlers: handlers, Beat: 5 * time.Second, Lease: 20 * time.Second, LastBeat: now,
				BeginTime: now,
			}, nil
		})
	require.NoError(c.t, err)
	return w
}

// serves lets the group run jobs of these job groups alone.
func (c *cluster) serves(jobGroups ...string) {
	c.t.Helper()
	store := c.nodes[0].Store.WorkerGroups
	g, err := store.WorkerGroup(c.t.Context(), "shop")
	require.NoError(c.t, err)
	g.JobGroups = jobGroups
	_, err = store.PutWorkerGroup(c.t.Context(), g, nil)
	require.NoError(c.t, err)
}

func forWorkers(change func(j *entity.Job)) func(j *entity.Job) {
	return func(j *entity.Job) {
		j.Class, j.Routing.Workers = "settle", "shop"
		change(j)
	}
}

// placed waits until a run waits in a queue, and for something.
func (c *cluster) placed(exec *entity.Execution, want entity.Queue, waits entity.Wait) {
	c.t.Helper()
	c.await("the run waits in "+string(want), func() bool {
		c.nodes[0].Sweep(c.t)
		return c.read([]*entity.Execution{exec})[0].Claim.Queue() == want
	})
	require.Equal(c.t, []entity.Wait{waits}, c.waitsFor(exec))
}

// A run waits for any worker of its group. Where none can take it for a while, it says what is missing, until one can.
func TestARunOfWorkersWaitsVisibly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Handlers: []string{"settle"}}).start()
		job := c.job(forWorkers(func(*entity.Job) {}))
		class := entity.NodeClassOf(job)
		exec := c.fire(job.ID, 1)[0]
		require.Equal(t, entity.ClassQueue(class), exec.Claim.Queue())
		began := c.nodes[0].Clock.Now()
		c.placed(exec, entity.UnroutableQueue(class, entity.WaitWorker), entity.WaitWorker)
		require.GreaterOrEqual(t, c.nodes[0].Clock.Now().Sub(began), 5*time.Second)
		reason, _ := c.nodes[0].Dispatch.Unroutable()
		require.Equal(t, "1 run waits for a worker of the group shop that is up", reason)
		c.worker("a", "bill")
		c.placed(exec, entity.UnroutableQueue(class, entity.WaitHandler), entity.WaitHandler)
		reason, _ = c.nodes[0].Dispatch.Unroutable()
		require.Equal(t, `1 run waits for a worker of the group shop with the handler "settle"`, reason)
		c.worker("b", "bill", "settle")
		c.placed(exec, entity.ClassQueue(class), entity.WaitSlot)
		c.serves()
		c.placed(exec, entity.UnroutableQueue(class, entity.WaitWorker), entity.WaitWorker)
		require.Empty(t, c.nodes[0].Script.Runs(), "a node with the handler runs nothing of workers")
	})
}

// Strategies choose among the workers of the group. What waits for one that is gone goes to another.
func TestStrategiesChooseAmongWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{}).start()
		a, b := c.worker("a", "settle"), c.worker("b", "settle")
		c.worker("c", "bill")
		first, last := a, b
		if b.ID < a.ID {
			first, last = b, a
		}
		job := c.job(forWorkers(by(entity.RouteFirst)))
		exec := c.fire(job.ID, 1)[0]
		require.Equal(t, entity.NodeQueue(first.ID, entity.SlotGeneral), exec.Claim.Queue())
		turns := map[entity.Queue]int{}
		for _, e := range c.fire(c.job(forWorkers(by(entity.RouteRoundRobin))).ID, 6) {
			turns[e.Claim.Queue()]++
		}
		require.Equal(t, map[entity.Queue]int{
			entity.NodeQueue(first.ID, entity.SlotGeneral): 3, entity.NodeQueue(last.ID, entity.SlotGeneral): 3,
		}, turns)
		gone, err := c.nodes[0].Store.LeaveWorker(t.Context(), first.ID, 1)
		require.NoError(t, err)
		require.True(t, gone)
		c.placed(exec, entity.NodeQueue(last.ID, entity.SlotGeneral), entity.WaitSlot)
		require.NoError(t, c.nodes[0].Store.DrainWorker(t.Context(), last.ID, true))
		c.placed(exec, entity.UnroutableQueue(entity.NodeClassOf(job), entity.WaitHandler), entity.WaitHandler)
	})
}

// A worker that comes back without a handler keeps nothing waiting that it cannot run any more.
func TestAWorkerWithoutTheHandlerKeepsNothingWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{}).start()
		first, last := c.worker("a", "settle"), c.worker("b", "settle")
		if last.ID < first.ID {
			first, last = last, first
		}
		exec := c.fire(c.job(forWorkers(by(entity.RouteFirst))).ID, 1)[0]
		require.Equal(t, entity.NodeQueue(first.ID, entity.SlotGeneral), exec.Claim.Queue())
		c.worker(first.Instance, "bill")
		c.placed(exec, entity.NodeQueue(last.ID, entity.SlotGeneral), entity.WaitSlot)
	})
}

// swept waits until sweeps have failed the runs.
func (c *cluster) swept(execs ...*entity.Execution) (now []*entity.Execution) {
	c.t.Helper()
	c.await("the runs fail", func() bool {
		c.nodes[0].Sweep(c.t)
		now = c.read(execs)
		return !slices.ContainsFunc(now, func(e *entity.Execution) bool { return e.Status != entity.StatusFailed })
	})
	return now
}

func everyWorker(j *entity.Job) { j.Broadcast, j.Retry.MaxRetries = true, 3 }

// Rule 18 holds for workers: each one that is up and fit has a run of its own, which goes nowhere else.
func TestABroadcastRunsOnEveryWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Handlers: []string{"settle"}}).start()
		job := c.job(forWorkers(everyWorker))
		require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(c.fire(job.ID, 1)), "there is no group")
		stays, back, gone := c.worker("stays", "settle"), c.worker("back", "settle"), c.worker("gone", "settle")
		c.worker("other", "bill")
		drains := c.worker("drains", "settle")
		require.NoError(t, c.nodes[0].Store.DrainWorker(t.Context(), drains.ID, true))
		execs := c.fire(job.ID, 1)
		require.Len(t, execs, 3)
		of := map[string]*entity.Execution{}
		for i, exec := range execs {
			require.Equal(t, []int{i, 3}, []int{exec.ShardIndex, exec.ShardTotal})
			require.Equal(t, entity.NodeQueue(exec.NodeID, entity.SlotGeneral), exec.Claim.Queue())
			of[exec.NodeID] = exec
		}
		_, err := c.nodes[0].Store.LeaveWorker(t.Context(), gone.ID, 1)
		require.NoError(t, err)
		c.worker("back", "bill")
		lost := c.swept(of[gone.ID], of[back.ID])
		require.Equal(t, entity.ReasonNodeLost, lost[0].Reason)
		require.Equal(t, entity.ReasonInvalid, lost[1].Reason)
		require.Equal(t, "the worker back came back without the handler settle", lost[1].ErrorMessage)
		left := c.read([]*entity.Execution{of[stays.ID]})[0]
		require.Equal(t, of[stays.ID].Claim, left.Claim, "it still waits for its worker")
		c.serves()
		refused := c.swept(of[stays.ID])[0]
		require.Contains(t, refused.ErrorMessage, "the worker group shop runs no jobs")
		require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(c.fire(job.ID, 1)))
		require.Zero(t, c.places(job.ID))
		require.Empty(t, c.nodes[0].Script.Runs(), "no node runs any of them")
	})
}

// A group of more workers than one transaction reads gets no broadcast. A run in the queue of its last one stays.
func TestABroadcastToTooManyWorkersFails(t *testing.T) {
	c := newCluster(t, enginetest.Options{})
	job := c.job(forWorkers(everyWorker))
	for i := range 1000 {
		c.worker(fmt.Sprintf("w%04d", i), "settle")
	}
	execs := c.fire(job.ID, 1)
	require.Len(t, execs, 1000)
	slices.SortFunc(execs, func(a, b *entity.Execution) int { return strings.Compare(a.NodeID, b.NodeID) })
	c.worker("0-first", "settle")
	refused := c.fire(job.ID, 1)
	require.Equal(t, []string{"FAILED(INVALID)"}, enginetest.States(refused))
	require.Contains(t, refused[0].ErrorMessage, "the worker group shop has more than 1000 workers")
	c.nodes[0].Clock.Advance(time.Minute)
	require.Zero(t, c.nodes[0].Sweep(t))
	require.Equal(t, entity.StatusWaiting, c.read(execs[999:])[0].Status)
}
