package persistence_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// onItsOwn is a node whose workflow runs go on by themselves, in the time of the machine.
func onItsOwn(t *testing.T, o enginetest.Options) *enginetest.Node {
	t.Helper()
	o.Clock = clocktest.NewManual(enginetest.Noon)
	cfg := dbtest.SQLite(t)
	cfg.Clock = o.Clock
	var wake atomic.Pointer[func()]
	cfg.TodosAdded = func(kind entity.TodoKind) {
		if to := wake.Load(); kind == entity.TodoRun && to != nil {
			(*to)()
		}
	}
	n := enginetest.On(t, dbtest.Open(t, cfg), o)
	n.Start(t)
	follows := n.Flow.Wake
	wake.Store(&follows)
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	loops.Go(func() { n.Flow.Run(ctx) })
	loops.Go(func() {
		for last := time.Now(); ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
			now := time.Now()
			o.Clock.Advance(now.Sub(last))
			last = now
		}
	})
	t.Cleanup(func() {
		stop()
		loops.Wait()
	})
	return n
}

// mapOf is a workflow that runs a step for so many items.
func mapOf(items int) *entity.Job {
	const steps = `{"steps": [{"name": "each", "custom": {"jobClass": "noop"}, "forEach": {"items": [%s], "maxParallel": 256}}]}`
	return flowOf("map", fmt.Sprintf(steps, strings.TrimSuffix(strings.Repeat("1,", items), ",")))
}

// Ends of items are followed together, also where they come apart: 10,000 items in a window of 256 write the row of
// their run at most 1,000 times (docs/workflows.md).
func TestAMapWritesItsRunSeldom(t *testing.T) {
	items := 10_000
	if testing.Short() {
		items = 2_000
	}
	for name, longest := range map[string]time.Duration{
		"items of no time": 0, "items of up to 50 ms": 50 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			n := onItsOwn(t, enginetest.Options{Slots: 512, Linger: 20 * time.Millisecond})
			n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
				time.Sleep(time.Duration(rand.Int64N(int64(longest) + 1))) //nolint:gosec // any time will do
				return entity.Succeeded("done")
			})
			root := n.Trigger(t, n.Add(t, mapOf(items)).ID)[0].ID
			enginetest.Await(t, func() bool { return n.Execution(t, root).Status.Final() }, "the map ends")
			require.Equal(t, entity.StatusSuccess, n.Execution(t, root).Status)
			require.Len(t, n.Script.Runs(), items)
			runs, err := n.Store.WorkflowRuns(t.Context(), []string{root})
			require.NoError(t, err)
			t.Log(runs[0].Seq, "writes of the run")
			require.LessOrEqual(t, runs[0].Seq, int64(items/10))
		})
	}
}

// Beside a map that wants more slots than the node has, no plain run of its priority or a higher one waits for more
// than two claims.
func TestARunBesideAMapWaitsForTwoClaims(t *testing.T) {
	n := onItsOwn(t, enginetest.Options{Slots: 4, Linger: 20 * time.Millisecond})
	n.Script.Reply(func(context.Context, entity.Run, entity.Reporter) entity.Outcome {
		time.Sleep(5 * time.Millisecond)
		return entity.Succeeded("done")
	})
	root := n.Trigger(t, n.Add(t, mapOf(10_000)).ID)[0].ID
	n.Script.Await(t, 100)
	job := n.Add(t, enginetest.Job("plain", nil))
	for i := range 40 {
		if i == 20 {
			n.Change(t, job.ID, func(j *entity.Job) { j.Priority, j.Version = 8, 2 })
		}
		require.LessOrEqual(t, claimsUntil(t, n, job), 2)
		time.Sleep(10 * time.Millisecond)
	}
	require.True(t, n.Execution(t, root).Open(), "the map was there all the time")
}

// claimsUntil is how many claims of the node begin after a plain run is there, up to the one that takes it.
func claimsUntil(t *testing.T, n *enginetest.Node, job *entity.Job) int {
	t.Helper()
	var ready atomic.Pointer[string]
	taken := make(chan int, 1)
	begun, over := 0, false // claims follow one another
	n.Faults.Before(func(name string) {
		if name == "claim" && ready.Load() != nil {
			begun++
		}
	})
	n.Faults.After(func(name string) {
		id := ready.Load()
		if name != "claim" || id == nil || over {
			return
		}
		if n.Execution(t, *id).Status != entity.StatusWaiting {
			over = true
			taken <- begun
		}
	})
	id := n.Trigger(t, job.ID)[0].ID
	ready.Store(&id)
	select {
	case claims := <-taken:
		return claims
	case <-time.After(time.Minute):
		require.Fail(t, "the run is not claimed")
		return 0
	}
}
