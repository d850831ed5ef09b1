package dispatch_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

func commands(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobCommand, "", `{"command":["true"]}` }

func handler(name string) func(j *entity.Job) {
	return func(j *entity.Job) { j.Class = name }
}

func (c *cluster) waitsFor(execs ...*entity.Execution) (waits []entity.Wait) {
	for _, exec := range c.read(execs) {
		waits = append(waits, exec.Claim.WaitsFor())
	}
	return waits
}

// A run goes to a node that has its handler, whoever fires it (engine rule 34).
func TestARunGoesWhereItsHandlerIs(t *testing.T) {
	for name, change := range map[string]func(j *entity.Job){
		"any":      func(*entity.Job) {},
		"by turns": by(entity.RouteRoundRobin),
		"the last": by(entity.RouteLast),
		"limited":  func(j *entity.Job) { j.MaxConcurrency = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, enginetest.Options{}, enginetest.Options{Handlers: []string{"bill", "settle"}},
					enginetest.Options{Handlers: []string{"bill"}}).start()
				job := c.job(func(j *entity.Job) { handler("settle")(j); change(j) })
				ran := c.ran(c.fire(job.ID, 12))
				require.Equal(t, map[string]int{"node-2": 12}, tally(ran))
				for _, exec := range c.nodes[0].Executions(t, job.ID) {
					require.Equal(t, []any{1, 0, entity.ReasonNone}, []any{exec.Attempt, exec.RetryCount, exec.Reason})
				}
			})
		})
	}
}

func TestABroadcastIsForNodesOfItsClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{CommandSlots: 1}, enginetest.Options{Handlers: []string{"settle"}},
			enginetest.Options{CommandSlots: 2, Handlers: []string{"settle"}}).start()
		everywhere := func(j *entity.Job) { j.Broadcast = true }
		for want, change := range map[string]func(j *entity.Job){
			"node-1 node-2 node-3": func(*entity.Job) {}, "node-2 node-3": handler("settle"), "node-1 node-3": commands,
		} {
			job := c.job(func(j *entity.Job) { everywhere(j); change(j) })
			require.Equal(t, want, strings.Join(c.ran(c.nodes[0].Trigger(t, job.ID)), " "))
		}
		execs := c.nodes[0].Trigger(t, c.job(func(j *entity.Job) { everywhere(j); handler("gone")(j) }).ID)
		require.Equal(t, []any{entity.StatusSkipped, entity.ReasonNoNode}, []any{execs[0].Status, execs[0].Reason})
	})
}

// Without a fit node a run waits, and says for what; it starts as soon as one
// comes up (engine rules 15 and 34).
func TestWithoutAFitNodeARunWaitsVisibly(t *testing.T) {
	zone := map[string]string{"zone": "a"}
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		wait   entity.Wait
		why    string
		fit    enginetest.Options
	}{
		"a handler": {
			handler("settle"), entity.WaitHandler, `2 runs wait for a node with the handler "settle"`,
			enginetest.Options{Handlers: []string{"settle"}},
		},
		"commands": {
			commands, entity.WaitCommand, "2 runs wait for a node that runs commands (executor.command.enabled)",
			enginetest.Options{CommandSlots: 1},
		},
		"labels": {
			labelled("zone", "a"), entity.WaitNode, "2 runs wait for a node that is up and carries the labels zone=a",
			enginetest.Options{Labels: zone},
		},
		"labels before commands": {
			func(j *entity.Job) { commands(j); labelled("zone", "a")(j) }, entity.WaitNode,
			"2 runs wait for a node that is up and carries the labels zone=a",
			enginetest.Options{Labels: zone, CommandSlots: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, enginetest.Options{}, enginetest.Options{}).start()
				job := cl.job(c.change)
				execs := cl.fire(job.ID, 2)
				require.Equal(t, []entity.Wait{c.wait, c.wait}, cl.waitsFor(execs...))
				require.Zero(t, cl.nodes[0].Sweep(t))
				why, blocks := cl.nodes[0].Dispatch.Unroutable()
				require.Equal(t, c.why, why)
				require.False(t, blocks)
				require.NoError(t, cl.nodes[1].Dispatch.FindUnroutable(t.Context()))
				seen, _ := cl.nodes[1].Dispatch.Unroutable()
				require.Equal(t, why, seen, "a node that does not sweep knows, too")

				joined := cl.nodes[0].Join(t, enginetest.Options{}, func() enginetest.Options {
					c.fit.NodeID = "fit"
					return c.fit
				}())
				cl.nodes = append(cl.nodes, joined[2])
				joined[2].Start(t)
				enginetest.Beat(t, cl.nodes...)
				require.Equal(t, 2, cl.nodes[0].Sweep(t))
				require.Equal(t, []string{"fit", "fit"}, cl.ran(execs))
				why, _ = cl.nodes[0].Dispatch.Unroutable()
				require.Empty(t, why, "it is well again")
			})
		})
	}
}

// The last node of a class goes: what waited for it says so.
func TestARunLosesItsLastNode(t *testing.T) {
	c := newCluster(t, enginetest.Options{}, enginetest.Options{Handlers: []string{"settle"}, Slots: 1})
	job := c.job(handler("settle"))
	execs := c.fire(job.ID, 3)
	require.Equal(t, []entity.Wait{entity.WaitSlot, entity.WaitSlot, entity.WaitSlot}, c.waitsFor(execs...))
	c.nodes[1].Die(t)
	enginetest.Beat(t, c.nodes[0])
	require.Equal(t, 3, c.nodes[0].Sweep(t))
	require.Equal(t, []entity.Wait{entity.WaitHandler, entity.WaitHandler, entity.WaitHandler}, c.waitsFor(execs...))
}

// A node that comes back without commands runs none of those that wait for it.
func TestTheQueueOfANodeWithoutCommandsIsMoved(t *testing.T) {
	c := newCluster(t, enginetest.Options{CommandSlots: 1}, enginetest.Options{})
	execs := c.fire(c.job(func(j *entity.Job) { commands(j); by(entity.RouteFirst)(j) }).ID, 3)
	require.Equal(t, []entity.Wait{entity.WaitSlot, entity.WaitSlot, entity.WaitSlot}, c.waitsFor(execs...))
	c.nodes[0] = enginetest.On(t, c.nodes[0].Store,
		enginetest.Options{NodeID: "node-1", Epoch: 2, Clock: c.nodes[0].Clock})
	enginetest.Beat(t, c.nodes...)
	require.Equal(t, 3, c.nodes[1].Sweep(t))
	require.Equal(t, []entity.Wait{entity.WaitCommand, entity.WaitCommand, entity.WaitCommand}, c.waitsFor(execs...))
	why, _ := c.nodes[1].Dispatch.Unroutable()
	require.Equal(t, "3 runs wait for a node that runs commands (executor.command.enabled)", why)
}

// A node puts back a run that it claimed and cannot run, and no attempt is lost. So
// ends what an old node or an edit put into the wrong queue.
func TestWhatANodeCannotRunItPutsBack(t *testing.T) {
	for name, c := range map[string]struct {
		change func(j *entity.Job)
		second enginetest.Options
	}{
		"a handler":       {handler("settle"), enginetest.Options{Handlers: []string{"settle"}}},
		"commands":        {commands, enginetest.Options{CommandSlots: 1}},
		"labels, by edit": {labelled("zone", "a"), enginetest.Options{Labels: map[string]string{"zone": "a"}}},
		"with a retry left": {func(j *entity.Job) {
			handler("settle")(j)
			j.Retry.MaxRetries = 1
		}, enginetest.Options{Handlers: []string{"settle"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := newCluster(t, enginetest.Options{}, c.second)
				job := cl.job(c.change)
				execs := cl.fire(job.ID, 1)
				cl.put(entity.CommonQueue, execs...)
				cl.nodes[0].Start(t)
				cl.await("the run is parked", func() bool {
					return cl.read(execs)[0].Token == 1 && cl.read(execs)[0].Status == entity.StatusWaiting
				})
				back := cl.read(execs)[0]
				require.Equal(t, []any{0, 0, 0, ""}, []any{back.Attempt, back.RetryCount, back.NodeLosses, back.NodeID})
				require.Contains(t, back.ErrorMessage, "the node that took the run")
				cl.nodes[1].Start(t)
				require.Equal(t, []string{"node-2"}, cl.ran(execs))
				end := cl.read(execs)[0]
				require.Equal(t, []any{1, 0, ""}, []any{end.Attempt, end.RetryCount, end.ErrorMessage})
				attempts, err := cl.nodes[0].Store.Executions.Attempts(t.Context(), end.ID)
				require.NoError(t, err)
				require.Empty(t, attempts)
			})
		})
	}
}

// put moves executions into a queue, as an old node or the past may have done.
func (c *cluster) put(q entity.Queue, execs ...*entity.Execution) {
	c.t.Helper()
	c.nodes[0].Write(c.t, func(ctx context.Context, tx repository.Tx) error {
		for _, exec := range execs {
			held, err := tx.Executions.Lock(ctx, []string{exec.ID})
			if err != nil {
				return err
			}
			held[0].Claim = held[0].Claim.In(q)
			if err := tx.Executions.Update(ctx, held[0], entity.StatusWaiting, held[0].Token); err != nil {
				return err
			}
		}
		return nil
	})
}

// A node that is full of commands has room for other runs, and the other way
// round: its queue is moved by kind.
func TestAFullNodesQueueIsMovedByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Slots: 2, CommandSlots: 1}, enginetest.Options{Slots: 2, CommandSlots: 1})
		c.start()
		release := c.nodes[0].Script.Hold()
		defer release()
		busy := c.job(func(j *entity.Job) { commands(j); by(entity.RouteFirst)(j) })
		c.became(entity.StatusRunning, c.fire(busy.ID, 1)...)
		enginetest.Beat(t, c.nodes...)
		blocked := c.fill(c.nodes[1], entity.Slots{entity.SlotCommand: 1})
		enginetest.Beat(t, c.nodes...)
		waits := c.fire(busy.ID, 1)
		require.Equal(t, []entity.Queue{entity.NodeQueue("node-1", entity.SlotCommand)}, c.queues(waits))
		c.nodes[0].Clock.Advance(6 * time.Second)
		enginetest.Beat(t, c.nodes...)
		require.Zero(t, c.nodes[0].Sweep(t), "no other node has a slot for commands")
		c.nodes[1].Runner.Release(blocked)
		enginetest.Beat(t, c.nodes...)
		require.Equal(t, 1, c.nodes[0].Sweep(t))
		require.Equal(t, []string{"node-2"}, c.ran(waits))
		plain := c.job(by(entity.RouteFirst))
		require.Equal(t, []string{"node-1"}, nodesOf(c.became(entity.StatusRunning, c.fire(plain.ID, 1)...)),
			"its general slots are free")
	})
}

// LEAST_LOADED counts the slots that the run needs.
func TestLoadIsCountedByKind(t *testing.T) {
	c := newCluster(t, enginetest.Options{Slots: 8, CommandSlots: 1}, enginetest.Options{Slots: 8, CommandSlots: 4})
	least := c.job(func(j *entity.Job) { commands(j); by(entity.RouteLeastLoaded)(j) })
	var queues []entity.Queue
	for range 4 {
		queues = append(queues, c.queues(c.nodes[0].Trigger(t, least.ID))...)
	}
	slices.Sort(queues)
	one, two := entity.NodeQueue("node-1", entity.SlotCommand), entity.NodeQueue("node-2", entity.SlotCommand)
	require.Contains(t, [][]entity.Queue{{one, two, two, two}}, queues)
}
