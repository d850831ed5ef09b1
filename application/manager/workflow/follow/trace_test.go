package follow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

const callerSpan = entity.TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")

// fireBelow starts a run of the workflow by hand, below a span.
func fireBelow(t *testing.T, n *enginetest.Node, job *entity.Job, span entity.TraceContext) string {
	t.Helper()
	return fireWith(t, n, job, func(f *entity.Fire) { f.Parent = span })
}

// spanOf is the span of a stored execution as its target was given it.
func spanOf(t *testing.T, n *enginetest.Node, id string) entity.TraceContext {
	t.Helper()
	e, err := n.Store.Executions.Get(t.Context(), id)
	require.NoError(t, err)
	return entity.TraceContext(e.TraceParent())
}

// Every attempt of every step is in the trace of the root, below the span that opened its run: items, retries, shards
// of a named job, and the steps of a workflow below.
func TestStepsStandInTheTraceOfTheirRoot(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			if nameOf(run) == "again" && run.Execution.Attempt == 1 {
				return entity.Failed(entity.ReasonError, "not yet")
			}
			return entity.Succeeded("done")
		})
		sharded := n.Add(t, enginetest.Job("sharded", func(j *entity.Job) { j.ShardCount = 2 }))
		below := n.Add(t, flowJob("below", stepsOf(custom("deep", "")), nil))
		job := n.Add(t, flowJob("above", stepsOf(
			custom("again", `"retryPolicy": {"maxRetries": 1, "intervalMs": 1000}`),
			custom("each", `"forEach": {"items": [1, 2]}`), names("shards", sharded, ""), names("call", below, "")), nil))
		for _, caller := range []entity.TraceContext{"", callerSpan} {
			before := len(n.Script.Runs())
			root := fireBelow(t, n, job, caller)
			enginetest.Await(t, func() bool {
				n.Clock.Advance(time.Second)
				_, err := n.Repairs.PromoteScheduled(t.Context())
				require.NoError(t, err)
				_, err = n.Flow.RunOnce(t.Context(), n.Time.Now())
				require.NoError(t, err)
				return n.Execution(t, root).Status == entity.StatusSuccess
			}, "the root ends")
			opened := spanOf(t, n, root)
			want := strings.ReplaceAll(root, "-", "")
			if caller != "" {
				want = caller.TraceID()
			}
			require.Equal(t, want, opened.TraceID())
			child := firesOf(t, n, below, root, "call")[0]
			require.Equal(t, opened.TraceID(), spanOf(t, n, child.ID).TraceID())
			var got []string
			for _, run := range n.Script.Runs()[before:] {
				above := opened
				if nameOf(run) == "deep" {
					above = spanOf(t, n, child.ID)
				}
				x := run.Execution
				require.Equal(t, above, x.Parent, run.Job.Name)
				require.Equal(t, opened.TraceID(), entity.TraceContext(x.TraceParent()).TraceID(), run.Job.Name)
				got = append(got, fmt.Sprint(nameOf(run), " ", x.Attempt))
			}
			slices.Sort(got)
			require.Equal(t, []string{
				"again 1", "again 2", "deep 1", "each 1", "each 1", "sharded 1", "sharded 1",
			}, got)
		}
	})
}

// A node that reads again what became of a claim, because the answer of the store was lost, keeps the step in its
// trace.
func TestAStepWhoseClaimIsReadAgainKeepsItsTrace(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	job := n.Add(t, flowJob("flow", stepsOf(custom("a", "")), nil))
	root := fireBelow(t, n, job, callerSpan)
	enginetest.Await(t, func() bool { return n.Execution(t, root).Open() }, "the run is open")
	n.Faults.Next("claim", enginetest.LostReply)
	follow(t, n, root, entity.StatusSuccess)
	runs := n.Script.Runs()
	require.Len(t, runs, 1)
	require.Equal(t, spanOf(t, n, root), runs[0].Execution.Parent)
}
