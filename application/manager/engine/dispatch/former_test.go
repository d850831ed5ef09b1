package dispatch_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// oldNode enters a node of the former release: its row says nothing of what it can.
func (c *cluster) oldNode(id string, slots int) (leave func()) {
	c.t.Helper()
	epoch, err := c.nodes[0].Store.Register(c.t.Context(), entity.Node{
		ID: id, Slots: slots, Weight: 1, Roles: []string{entity.RoleScheduler, entity.RoleExecutor},
	})
	require.NoError(c.t, err)
	enginetest.Beat(c.t, c.nodes...)
	return func() {
		require.NoError(c.t, c.nodes[0].Store.Leave(c.t.Context(), id, epoch))
		enginetest.Beat(c.t, c.nodes...)
	}
}

// ranWell stores that a job ended well on a node some time ago.
func (c *cluster) ranWell(job *entity.Job, node string) {
	c.t.Helper()
	now := c.nodes[0].Clock.Now()
	c.nodes[0].Write(c.t, func(ctx context.Context, tx repository.Tx) error {
		return tx.Executions.Insert(ctx, []*entity.Execution{{
			ID: uuid.Must(uuid.NewV7()).String(), JobID: job.ID, FireKey: "before", ScheduledTime: now, DueTime: now,
			Trigger:    entity.TriggerManual,
			ShardTotal: 1, JobVersion: 1, Priority: 5, Status: entity.StatusSuccess, NodeID: node, Attempt: 1, Token: 1,
			StartTime: now, EndTime: now,
			CreateTime: now, UpdateTime: now,
		}})
	})
}

// Beside a node of the former release new nodes write its keys, and put nothing
// where it would do harm: a handler's runs go to a node that is known to have it.
func TestBesideTheFormerReleaseItsQueuesAreUsed(t *testing.T) {
	c := newCluster(t, enginetest.Options{CommandSlots: 8},
		enginetest.Options{CommandSlots: 8, Handlers: []string{"settle"}})
	c.oldNode("old", 8)
	general := func(id string) entity.Queue { return entity.NodeQueue(id, entity.SlotGeneral) }
	zone := map[string]string{"zone": "a"}
	proven := c.job(handler("bill"))
	c.ranWell(proven, "old")
	for name, w := range map[string]struct {
		job  *entity.Job
		want []entity.Queue
	}{
		"plain":           {c.job(func(*entity.Job) {}), []entity.Queue{entity.CommonQueue}},
		"handler":         {c.job(handler("settle")), []entity.Queue{general("node-2")}},
		"of the old node": {proven, []entity.Queue{general("old")}},
		"of nobody": {
			c.job(handler("nobody")),
			[]entity.Queue{entity.UnroutableQueue(entity.NodeClass{Handler: "nobody"}, entity.WaitHandler)},
		},
		"command": {c.job(commands), []entity.Queue{entity.CommonQueue}},
		"command by labels": {c.job(func(j *entity.Job) {
			commands(j)
			j.Routing.Labels = zone
		}), []entity.Queue{entity.UnroutableQueue(entity.NodeClass{Command: true, Labels: zone}, entity.WaitNode)}},
		"command, first": {c.job(func(j *entity.Job) {
			commands(j)
			by(entity.RouteFirst)(j)
		}), []entity.Queue{general("node-1")}},
		"command, last": {c.job(func(j *entity.Job) {
			commands(j)
			by(entity.RouteLast)(j)
		}), []entity.Queue{general("old")}},
		"everywhere": {c.job(func(j *entity.Job) {
			commands(j)
			j.Broadcast = true
		}), []entity.Queue{general("node-1"), general("node-2"), general("old")}},
	} {
		require.Equal(t, w.want, c.queues(c.nodes[0].Trigger(t, w.job.ID)), name)
	}
}

// What new nodes take from those queues and cannot run does no harm, and in the
// end everything has run: also what was put by kind once the old node is gone.
func TestTheFormerReleaseLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{CommandSlots: 1},
			enginetest.Options{CommandSlots: 1, Handlers: []string{"settle"}})
		leave := c.oldNode("old", 8)
		var execs []*entity.Execution
		flood := c.job(func(j *entity.Job) { commands(j); j.Priority = 10 })
		for _, job := range []*entity.Job{
			flood, flood, flood, flood, c.job(handler("settle")), c.job(func(j *entity.Job) {
				commands(j)
				by(entity.RouteLast)(j)
			}),
			c.job(func(j *entity.Job) { commands(j); by(entity.RouteFirst)(j) }),
		} {
			execs = append(execs, c.nodes[0].Trigger(t, job.ID)...)
		}
		lost := c.nodes[0].Trigger(t, c.job(handler("settle")).ID)
		c.put(entity.CommonQueue, lost...) // the old node fired it
		plain := c.nodes[0].Trigger(t, c.job(func(*entity.Job) {}).ID)
		c.start()
		require.Len(t, c.ran(plain), 1)
		require.Equal(t, []string{"node-2"}, c.ran(lost))
		require.Equal(t, []entity.Queue{entity.NodeQueue("old", entity.SlotGeneral)}, c.queues(execs[5:6]))
		leave()
		require.Equal(t, 1, c.nodes[0].Sweep(t), "the queue of the old node")
		c.ran(execs)
		for _, exec := range c.read(append(execs, lost...)) {
			require.Equal(t, []any{1, 0, 0}, []any{exec.Attempt, exec.RetryCount, exec.NodeLosses}, exec.ID)
		}
	})
}
