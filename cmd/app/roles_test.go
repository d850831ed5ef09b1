package app_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/redisconn/redistest"
)

// Each role on a node of its own: what one is not told to do it does not do.
func TestEachRoleMayBeAProcessOfItsOwn(t *testing.T) {
	cfgs := peers(t, "api", "scheduler", "executor")
	edge, executor := startEdge(t, cfgs[0]), startNode(t, cfgs[2], &script{})
	defer edge.stop()
	j := edge.create(newJob("planned", every(200*time.Millisecond)))
	hand := edge.create(newJob("by hand", nil))
	require.Equal(t, "node-c", edge.awaitStatus(edge.trigger(hand.ID), entity.StatusSuccess).NodeID)
	edge.await("fires are due", func() bool { return edge.Clock.Now().After(j.NextFireTime.Add(time.Second)) })
	require.Empty(t, edge.rows(j.ID), "neither plans")
	require.Empty(t, edge.Member.Partitions())
	require.Empty(t, executor.Member.Partitions())

	scheduler := startNode(t, cfgs[1], &script{})
	defer scheduler.stop()
	edge.await("the scheduler fires", func() bool { return len(executor.script.runs()) > 5 })
	require.Len(t, scheduler.Member.Partitions(), entity.Partitions)
	require.Equal(t, []string{"node-c"}, nodesOf(edge.rows(j.ID)))

	executor.stop()
	waiting := func() (n int) {
		for _, r := range edge.rows(j.ID) {
			if r.Status == entity.StatusWaiting {
				n++
			}
		}
		return n
	}
	edge.await("runs wait for an executor", func() bool { return waiting() >= 5 })
	require.Equal(t, []string{"node-c"}, nodesOf(edge.rows(j.ID)), "and nobody else takes them")
	require.Empty(t, scheduler.script.runs())
	require.Empty(t, edge.script.runs())
}

// stops notes when runs were told to stop.
type stops struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (s *stops) reply(ctx context.Context, run entity.Run) entity.Outcome {
	<-ctx.Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[run.Execution.ID] = time.Now()
	return untilStopped(ctx, run)
}

func (s *stops) of(id string) (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok = s.at[id]
	return at, ok
}

// What a node is asked about a run of another one it answers as its own: it is
// followed, stopped and repeated, with hints at once and else with the next
// sweep of the holder.
func TestAnyNodeAnswersForTheRunsOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		redis bool
		// three is the bound of three cancels, one after the other.
		three time.Duration
	}{"with hints": {true, 900 * time.Millisecond}, "without Redis": {false, 12 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			cfgs := peers(t, "api", "scheduler", "executor")
			for i := range cfgs {
				if !c.redis {
					cfgs[i].Redis = redistest.Gone(t)
				}
			}
			heard := &stops{at: map[string]time.Time{}}
			edge, scheduler := startEdge(t, cfgs[0]), startNode(t, cfgs[1], &script{})
			executor := startNode(t, cfgs[2], &script{reply: heard.reply, progress: 40})
			defer edge.stop()
			defer scheduler.stop()
			defer executor.stop()
			j := edge.create(newJob("long", nil))
			var took time.Duration
			var id string
			for range 3 {
				id = edge.triggered(j.ID)
				require.Equal(t, "node-c", edge.begun(id).NodeID)
				events := edge.follow(id)
				require.Contains(t, next(t, events), "attempt begins")
				edge.await("how far it is", func() bool {
					var run struct{ Progress int }
					edge.call(http.MethodGet, "/api/v1/executions/"+id, nil, &run)
					return run.Progress == 40
				})
				asked := time.Now()
				edge.call(http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
				edge.await("the run is stopped", func() bool { _, ok := heard.of(id); return ok })
				at, _ := heard.of(id)
				took += at.Sub(asked)
				edge.awaitStatus(id, entity.StatusCancelled)
				last := ""
				for e := range events {
					last = e
				}
				require.Equal(t, `{"status":"CANCELLED"}`, last)
			}
			t.Log("three cancels took", took)
			require.Less(t, took, c.three)
			var again struct{ ExecutionIDs []string }
			edge.call(http.MethodPost, "/api/v1/executions/"+id+"/retry", nil, &again)
			require.Equal(t, id, edge.begun(again.ExecutionIDs[0]).RetryOf)
			edge.call(http.MethodPost, "/api/v1/executions/"+again.ExecutionIDs[0]+"/cancel", nil, nil)
			edge.awaitStatus(again.ExecutionIDs[0], entity.StatusCancelled)
		})
	}
}

// An edit on one node is what the others plan and run by: at once where they
// are told, else with their next scan. No run uses a definition of before.
func TestAnEditOnOneNodeIsTrueOnTheOthers(t *testing.T) {
	for name, redis := range map[string]bool{"with hints": true, "without Redis": false} {
		t.Run(name, func(t *testing.T) {
			cfgs := peers(t, "api", "scheduler", "executor")
			for i := range cfgs {
				if redis {
					// Only a hint makes the scheduler look within this test.
					cfgs[i].Engine.ScanIntervalMs, cfgs[i].Engine.HorizonMs = 30_000, 40_000
				} else {
					cfgs[i].Redis = redistest.Gone(t)
				}
			}
			edge, scheduler, executor := startNode(t, cfgs[0], &script{}), startNode(t, cfgs[1], &script{}),
				startNode(t, cfgs[2], &script{})
			defer edge.stop()
			defer scheduler.stop()
			defer executor.stop()
			edge.await("the scheduler has its partitions", func() bool {
				return len(scheduler.Member.Partitions()) == entity.Partitions
			})
			// The nodes' clocks agree to within this.
			const apart = time.Second
			// since are the runs that were due after a moment.
			since := func(moment time.Time) []entity.Run {
				return slices.DeleteFunc(executor.script.runs(), func(r entity.Run) bool {
					return !r.Execution.DueTime.After(moment)
				})
			}
			soon := func(what string, happened func() bool) {
				t.Helper()
				began := time.Now()
				edge.await(what, happened)
				require.Less(t, time.Since(began), 10*time.Second, what)
			}

			j := edge.create(newJob("edited", every(time.Hour)))
			j = edge.replaced(j, func(j *entity.Job) { j.Schedule.IntervalMs = 200 })
			edited := edge.Clock.Now()
			soon("the new schedule", func() bool { return len(since(edited)) >= 2 })

			j = edge.replaced(j, func(j *entity.Job) { j.Data = `{"text":"new"}` })
			edited = edge.Clock.Now()
			soon("the new data", func() bool { return len(since(edited)) >= 2 })
			for _, run := range since(edited) {
				require.JSONEq(t, `{"text":"new"}`, run.Job.Data)
			}

			_, err := edge.Jobs.Pause(t.Context(), j.ID, entity.Pause{})
			require.NoError(t, err)
			paused := edge.Clock.Now().Add(apart)
			edge.await("a second passes", func() bool { return edge.Clock.Now().After(paused.Add(time.Second)) })
			require.Empty(t, since(paused))
			_, err = edge.Jobs.Resume(t.Context(), j.ID)
			require.NoError(t, err)
			soon("it goes on", func() bool { return len(since(paused)) >= 2 })

			require.NoError(t, edge.Jobs.Delete(t.Context(), j.ID, 0))
			deleted := edge.Clock.Now().Add(apart)
			edge.await("a second passes", func() bool { return edge.Clock.Now().After(deleted.Add(time.Second)) })
			require.Empty(t, since(deleted))
		})
	}
}
