package dispatch_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/dispatch"
	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

var gpu = enginetest.Options{Labels: map[string]string{"gpu": "yes", "zone": "a"}}

func TestLabelsAreTakenByWhoCarriesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{}, gpu, gpu).start()
		job := c.job(labelled("gpu", "yes"))
		execs := c.fire(job.ID, 12)
		require.NotContains(t, c.ran(execs), "node-1")
		require.Equal(t, entity.LabelQueue(job.Routing.Labels), execs[0].Claim.Queue())
		both := c.job(func(j *entity.Job) { labelled("zone", "a")(j); by(entity.RouteLast)(j) })
		require.Equal(t, "node-3", c.one(both.ID, 0))
	})
}

// Rule 15 and 17: what nobody can take waits outside the ready range, starts
// when a node comes that can, and ends after its deadline.
func TestWhatNobodyCanTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t).start()
		job := c.job(func(j *entity.Job) { labelled("gpu", "yes")(j); j.StartDeadlineSec = 60 })
		row := c.nodes[0].Trigger(t, job.ID)
		require.True(t, row[0].Claim.Queue().Unroutable())
		require.Zero(t, c.nodes[0].Sweep(t))
		late := enginetest.On(t, c.nodes[0].Store, enginetest.Options{
			NodeID: "node-4", Labels: gpu.Labels,
			Clock: c.nodes[0].Clock,
		})
		c.nodes = append(c.nodes, late)
		late.Start(t)
		enginetest.Beat(t, c.nodes...)
		require.Equal(t, 1, c.nodes[1].Sweep(t), "any scheduler puts it back")
		require.Equal(t, []string{"node-4"}, c.ran(row))

		silent(t, c, 3)
		row = c.nodes[0].Trigger(t, job.ID)
		c.nodes[0].Clock.Advance(60 * time.Second)
		n, err := c.nodes[0].Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		c.nodes[0].Clock.Advance(time.Second)
		_, err = c.nodes[0].Repairs.SweepDeadlines(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"SKIPPED(NO_NODE)"}, enginetest.States(c.read(row)))
	})
}

// A run that waits for labels is set aside when the last node that carries them goes.
func TestTheLastNodeOfALabelGoes(t *testing.T) {
	c := newCluster(t, enginetest.Options{}, gpu)
	job := c.job(labelled("gpu", "yes"))
	execs := c.fire(job.ID, 3)
	silent(t, c, 1)
	require.Equal(t, 3, c.nodes[0].Sweep(t))
	require.True(t, c.queues(execs)[0].Unroutable())
	require.Zero(t, c.nodes[0].Sweep(t))
}

// An edit reaches what waits where the labels were meant.
func TestEditedLabelsReachWhatWaits(t *testing.T) {
	c := newCluster(t, enginetest.Options{}, gpu)
	job := c.job(labelled("gpu", "no"))
	execs := c.fire(job.ID, 2)
	c.nodes[0].Change(t, job.ID, func(j *entity.Job) { j.Routing.Labels, j.Version = map[string]string{"gpu": "yes"}, 2 })
	require.Equal(t, 2, c.nodes[0].Sweep(t))
	c.nodes[0].Change(t, job.ID, func(j *entity.Job) { j.Routing.Labels, j.Version = nil, 3 })
	require.Equal(t, 2, c.nodes[0].Sweep(t))
	require.Equal(t, []entity.Queue{entity.CommonQueue, entity.CommonQueue}, c.queues(execs))
}

func TestTheQueueOfANodeThatGoesIsMoved(t *testing.T) {
	for name, leave := range map[string]func(c *cluster){
		"drained": func(c *cluster) { c.nodes[0].Drain(c.t, true); enginetest.Beat(c.t, c.nodes...) },
		"lost":    func(c *cluster) { silent(c.t, c, 0) },
		"stopping": func(c *cluster) {
			c.nodes[0].Runner.Drain(c.t.Context(), 0)
			enginetest.Beat(c.t, c.nodes...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := three(t)
				job := c.job(by(entity.RouteFirst))
				execs := c.fire(job.ID, 9)
				before := c.read(execs)
				require.Equal(t, entity.NodeQueue("node-1", entity.SlotGeneral), before[0].Claim.Queue())
				leave(c)
				require.Equal(t, 9, c.nodes[2].Sweep(t))
				for i, exec := range c.read(execs) {
					require.Equal(t, before[i].Claim.In(entity.NodeQueue("node-2", entity.SlotGeneral)), exec.Claim,
						"in the order that they had")
				}
				require.Zero(t, c.nodes[1].Sweep(t), "once")
				c.nodes[1].Start(t)
				require.Equal(t, map[string]int{"node-2": 9}, tally(c.ran(execs)))
			})
		})
	}
}

// Rule 20: what ran on a lost node is retried, and routed anew when it is ready.
func TestWhatRanOnALostNodeIsRoutedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := three(t)
		c.nodes[0].Script.Hold()
		c.start()
		execs := c.fire(c.job(by(entity.RouteFirst)).ID, 4)
		require.Equal(t, map[string]int{"node-1": 4}, tally(nodesOf(c.became(entity.StatusRunning, execs...))))
		silent(t, c, 0)
		held, err := c.nodes[2].Runner.Reap(t.Context(), "node-1", 1)
		require.NoError(t, err)
		require.Equal(t, 4, held)
		c.await("the retries are ready", func() bool {
			_, err := c.nodes[2].Repairs.PromoteScheduled(t.Context())
			return err == nil && tally(nodesOf(c.read(execs)))["node-1"] == 0
		})
		for _, exec := range c.became(entity.StatusSuccess, execs...) {
			require.Equal(t, []any{"node-2", 2, 1}, []any{exec.NodeID, exec.Attempt, exec.NodeLosses})
		}
	})
}

// A node that drains starts nothing, lets run what runs, and comes back.
func TestADrainingNodeOnlyFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{}).start()
		n := c.nodes[0]
		release := n.Script.Hold()
		job := c.job(enginetest.Every(time.Second))
		n.Fire(t)
		running := n.Executions(t, job.ID)
		require.Equal(t, []string{"RUNNING"}, enginetest.States(running))
		n.Drain(t, true)
		enginetest.Beat(t, n)
		n.FireAt(t, enginetest.Noon.Add(time.Second))
		routed := n.Trigger(t, c.job(by(entity.RouteFirst)).ID)
		require.True(t, routed[0].Claim.Queue().Unroutable())
		release()
		c.became(entity.StatusSuccess, running...)
		for range 5 {
			n.Clock.Advance(time.Second)
		}
		require.Len(t, n.Script.Runs(), 1)
		n.Drain(t, false)
		enginetest.Beat(t, n)
		require.Equal(t, 1, n.Sweep(t))
		c.ran(append(n.Executions(t, job.ID), routed...))
	})
}

// A queue whose first run waits long on a full node is looked at again when
// another node has room.
func TestAFullNodeGivesItsQueueAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Slots: 1}, enginetest.Options{Slots: 1}).start()
		release := []func(){c.nodes[0].Script.Hold(), c.nodes[1].Script.Hold()}
		job := c.job(by(entity.RouteFirst))
		first := c.fire(job.ID, 1)
		c.became(entity.StatusRunning, first...)
		enginetest.Beat(t, c.nodes...)
		second := c.fire(job.ID, 1)
		require.Equal(t, []string{"node-2"}, nodesOf(c.became(entity.StatusRunning, second...)))
		enginetest.Beat(t, c.nodes...)
		third := c.fire(job.ID, 2)
		require.Equal(t, []entity.Queue{
			entity.NodeQueue("node-1", entity.SlotGeneral),
			entity.NodeQueue("node-1", entity.SlotGeneral),
		}, c.queues(third))
		release[1]()
		c.nodes[1].AwaitStatus(t, second[0].ID, entity.StatusSuccess) // time stands still: the others have not waited
		enginetest.Beat(t, c.nodes...)
		require.Zero(t, c.nodes[0].Sweep(t), "it has not waited long")
		c.nodes[0].Clock.Advance(6 * time.Second)
		full := c.fill(c.nodes[1], entity.Slots{1})
		enginetest.Beat(t, c.nodes...)
		require.Zero(t, c.nodes[0].Sweep(t), "nobody has room")
		c.nodes[1].Runner.Release(full)
		enginetest.Beat(t, c.nodes...)
		require.Equal(t, 1, c.nodes[0].Sweep(t), "no more than there is room for")
		require.Equal(t, []string{"node-2"}, c.ran(third[:1]))
		release[0]()
		require.Equal(t, []string{"node-1"}, c.ran(third[1:]))
	})
}

// The first claim wins: a run that its node takes while it is being sent
// elsewhere is left alone.
func TestAClaimBeatsTheSweep(t *testing.T) {
	c := three(t)
	execs := c.fire(c.job(by(entity.RouteFirst)).ID, 5)
	c.nodes[0].Drain(t, true)
	enginetest.Beat(t, c.nodes...)
	c.nodes[1].Faults.Before(func(name string) {
		if name == "reroute" {
			c.nodes[1].Write(t, func(ctx context.Context, tx repository.Tx) error {
				got, err := tx.Executions.Claim(ctx, repository.ClaimRequest{
					NodeID: "node-1", Epoch: 1, Limit: 2, Now: c.nodes[0].Clock.Now(),
					Queues: []entity.Queue{entity.NodeQueue("node-1", entity.SlotGeneral)},
				})
				require.Len(t, got, 2)
				return err
			})
		}
	})
	require.Equal(t, 3, c.nodes[1].Sweep(t))
	require.Equal(t, map[string]int{"RUNNING": 2, "WAITING": 3}, tally(enginetest.States(c.read(execs))))
}

// Claims and sweeps of several nodes at once lose and double nothing.
func TestSweepsAndClaimsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		roomy := enginetest.Options{Slots: 500}
		c := &cluster{t: t, nodes: enginetest.On(t, dbtest.Open(t, cfg), roomy).Join(t, roomy, roomy)}
		execs := c.fire(c.job(by(entity.RouteFirst)).ID, 120)
		c.nodes[0].Drain(t, true)
		enginetest.Beat(t, c.nodes...)
		var wg sync.WaitGroup
		claimed := make([]int, len(c.nodes))
		for i, n := range c.nodes {
			wg.Go(func() {
				for range 30 {
					err := n.Store.Write(t.Context(), repository.LaneComplete, "claim",
						func(ctx context.Context, tx repository.Tx) error {
							got, err := tx.Executions.Claim(ctx, repository.ClaimRequest{
								NodeID: n.ID(), Epoch: 1, Limit: 1, Now: n.Clock.Now(),
								Queues: []entity.Queue{entity.CommonQueue, entity.NodeQueue(n.ID(), entity.SlotGeneral)},
							})
							claimed[i] += len(got)
							return err
						})
					if err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range 3 {
					if _, err := n.Dispatch.Sweep(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		c.nodes[1].Sweep(t)
		running, total := 0, claimed[0]+claimed[1]+claimed[2]
		for _, exec := range c.read(execs) {
			if exec.Status == entity.StatusRunning {
				running++
				require.Equal(t, []any{int64(1), 1, entity.RunningKey(exec.NodeID)}, []any{exec.Token, exec.Attempt, exec.Claim})
				continue
			}
			require.Equal(t, []any{entity.StatusWaiting, entity.NodeQueue("node-2", entity.SlotGeneral)},
				[]any{exec.Status, exec.Claim.Queue()})
		}
		require.Equal(t, total, running)
	})
}

// The priorities of a node are strict over all that it may take.
func TestPrioritiesAreStrictOverQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, enginetest.Options{Slots: 1, Labels: gpu.Labels})
		var want []string
		urgent := func(priority int, change func(j *entity.Job)) *entity.Job {
			return c.job(func(j *entity.Job) { change(j); j.Priority = priority })
		}
		jobs := []*entity.Job{
			urgent(3, func(*entity.Job) {}), urgent(7, by(entity.RouteFirst)), urgent(5, labelled("zone", "a")),
			urgent(8, func(*entity.Job) {}), urgent(2, by(entity.RouteLast)), urgent(9, labelled("gpu", "yes")),
		}
		var execs []*entity.Execution
		for _, j := range jobs {
			execs = append(execs, c.fire(j.ID, 1)...)
		}
		for _, i := range []int{5, 3, 1, 2, 0, 4} {
			want = append(want, execs[i].ID)
		}
		c.start().ran(execs)
		var got []string
		for _, run := range c.nodes[0].Script.Runs() {
			got = append(got, run.Execution.ID)
		}
		require.Equal(t, want, got)
	})
}

// asked counts the questions to the claim index.
type asked struct {
	repository.ClaimReader
	n int
}

func (a *asked) First(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	a.n++
	return a.ClaimReader.First(ctx, lo, hi)
}

func (a *asked) Last(ctx context.Context, lo, hi entity.ClaimKey) (entity.ClaimKey, error) {
	a.n++
	return a.ClaimReader.Last(ctx, lo, hi)
}

func (a *asked) Range(ctx context.Context, r repository.ClaimRange) ([]*entity.Execution, error) {
	a.n++
	return a.ClaimReader.Range(ctx, r)
}

func TestAnIdleSweepAsksOnce(t *testing.T) {
	c := three(t)
	n := c.nodes[0]
	claims := &asked{ClaimReader: n.Store}
	m := dispatch.New(dispatch.Deps{
		Store: n.Faults, Claims: claims, Registry: n.Store, Jobs: n.Jobs, Admitter: n.Admitter, Closer: n.Closer,
		Commits: n.Commits,
		Metrics: n.Counts, Clock: n.Clock, StoreClock: n.Time,
	})
	c.fire(c.job(nil).ID, 3)
	for range 21 { // ten seconds at the task's interval
		require.NoError(t, m.RunOnce(t.Context(), true))
		n.Clock.Advance(500 * time.Millisecond)
	}
	require.Equal(t, 3, claims.n, "at once, after five seconds, after ten")
	m.Wake()
	require.NoError(t, m.RunOnce(t.Context(), true))
	require.Equal(t, 4, claims.n, "the membership changed")
}
