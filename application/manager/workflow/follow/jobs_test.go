package follow_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/identity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// names is a step that names a job.
func names(name string, job *entity.Job, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf(`{"name": %q, "job": {"name": %q, "id": %q%s}}`, name, job.Name, job.ID, more)
}

// firesOf are the executions that a step started of a job.
func firesOf(t *testing.T, n *enginetest.Node, job *entity.Job, root, step string) []*entity.Execution {
	t.Helper()
	rows, err := n.Store.Executions.OfFire(t.Context(), job.ID, identity.StepKey(root, step))
	require.NoError(t, err)
	return rows
}

func TestAStepStartsAJobByItself(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
			if run.Job.Name == "sharded" && run.Execution.ShardIndex == 1 {
				return entity.Failed(entity.ReasonError, "no")
			}
			return entity.Succeeded(fmt.Sprintf(`{"params": %q}`, run.Execution.Params))
		})
		plain := n.Add(t, enginetest.Job("plain", func(j *entity.Job) {
			j.Overlap, j.Data = entity.OverlapSerial, `{"text": "${params.day}"}`
		}))
		sharded := n.Add(t, enginetest.Job("sharded", func(j *entity.Job) { j.ShardCount = 3 }))
		gone := enginetest.Job("gone", nil)
		gone.ID = "01a2233e-a395-7a6e-847b-5595cec69f9a"
		job := n.Add(t, flowJob("calls", stepsOf(
			custom("first", ""),
			fmt.Sprintf(`{"name": "one", "needs": ["first"], "job": {"name": "plain", "id": %q, "params": {"day": "${params.day}"}}}`, plain.ID),
			fmt.Sprintf(`{"name": "two", "needs": ["one"], "job": {"name": "sharded", "id": %q}}`, sharded.ID),
			fmt.Sprintf(`{"name": "three", "needs": ["one"], "job": {"name": "gone", "id": %q}}`, gone.ID),
			custom("after", `"needs": [{"step": "two", "on": ["failure"]}, {"step": "three", "on": ["failure"]}]`),
		), nil))
		root := fire(t, n, job)
		follow(t, n, root, entity.StatusFailed)
		one := firesOf(t, n, plain, root, "one")
		require.Len(t, one, 1)
		require.JSONEq(t, `{"day": "7"}`, one[0].Params)
		require.JSONEq(t, `{"params": "{\"day\":\"7\"}"}`, one[0].Result, "the run has its own parameters, not the root's")
		require.Equal(t, entity.TriggerDependency, one[0].Trigger)
		require.Equal(t, wf.ExecutionID(root, plain.ID, wf.Key{Name: "one", Item: wf.Whole, Generation: 1}), one[0].ID)
		require.Len(t, firesOf(t, n, sharded, root, "two"), 3)
		three := firesOf(t, n, gone, root, "three")
		require.Len(t, three, 1)
		require.Equal(t, entity.ReasonDeleted, three[0].Reason)
		require.Equal(t, entity.StatusSuccess, stepRow(t, n, root, job.ID, "after").Status)
		require.Empty(t, owed(t, n))
		require.Empty(t, n.InFlightFires(t, plain.ID))
	})
}

// A workflow that a step names is a run of its own, and a cancel reaches what it does.
func TestACancelReachesTheWorkflowsBelow(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	below := n.Add(t, flowJob("below", stepsOf(custom("deep", "")), nil))
	job := n.Add(t, flowJob("above", stepsOf(names("call", below, ""),
		fmt.Sprintf(`{"name": "later", "needs": ["call"], "job": {"name": "below", "id": %q}}`, below.ID)), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 1)
	child := firesOf(t, n, below, root, "call")[0]
	require.True(t, child.Open())
	cancel(t, n, root)
	follow(t, n, root, entity.StatusCancelled)
	require.Equal(t, entity.StatusCancelled, n.Execution(t, child.ID).Status)
	require.Equal(t, entity.StatusCancelled, stepRow(t, n, child.ID, below.ID, "deep").Status)
	require.Empty(t, firesOf(t, n, below, root, "later"), "the job hears nothing of what did not run")
	require.Equal(t, entity.ReasonRunCancelled, stepRow(t, n, root, job.ID, "later").Reason)
	require.Empty(t, owed(t, n))
}

func TestAStepWaits(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Reply(enginetest.Always(entity.Succeeded(`{"at": "2026-11-20T12:05:00Z", "never": "soon", "far": "2036-01-01T00:00:00Z"}`)))
	job := n.Add(t, flowJob("waits", stepsOf(
		custom("first", ""), `{"name": "a", "needs": ["first"], "wait": {"forSec": 60}}`,
		`{"name": "b", "needs": ["first"], "wait": {"until": "${steps.first.output.at}"}}`,
		`{"name": "c", "needs": ["first"], "wait": {"until": "${steps.first.output.never}"}, "tolerate": true}`,
		`{"name": "d", "needs": ["first"], "wait": {"until": "${steps.first.output.far}"}, "tolerate": true}`,
	), nil))
	root := fire(t, n, job)
	row := func(step string) *entity.Execution { return stepRow(t, n, root, job.ID, step) }
	await := func(step string, want entity.Status) {
		t.Helper()
		goOn(t, n, func() bool {
			return row(step) != nil && row(step).Status == want
		}, "%s is %s", step, want)
	}
	await("c", entity.StatusFailed)
	await("d", entity.StatusFailed)
	require.Equal(t, entity.ReasonInvalid, row("c").Reason)
	require.Contains(t, row("d").ErrorMessage, "more than 366 days ahead")
	require.Equal(t, entity.WaitTime, row("a").Claim.WaitsFor())
	for _, c := range []struct {
		step  string
		after time.Duration
	}{{"a", time.Minute}, {"b", 4 * time.Minute}} {
		require.Equal(t, entity.StatusWaiting, row(c.step).Status)
		n.Clock.Advance(c.after)
		_, err := n.Repairs.PromoteScheduled(t.Context())
		require.NoError(t, err)
		await(c.step, entity.StatusSuccess)
	}
	follow(t, n, root, entity.StatusSuccess)
}
