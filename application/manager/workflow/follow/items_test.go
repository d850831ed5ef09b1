package follow_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// echo answers a step with the text of its data, filled in; a text that holds "fail" is a failure.
func echo(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	text, err := placeholder.Expand(run.Job.Data, placeholder.Of(run), placeholder.Raw)
	if err != nil {
		return entity.Failed(entity.ReasonError, err.Error())
	}
	if strings.Contains(text, "fail") {
		return entity.Failed(entity.ReasonError, "no")
	}
	return entity.Succeeded(text)
}

// says is a step whose data are one text, which names what it reads.
func says(name, text, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf(`{"name": %q, "custom": {"jobClass": "noop", "data": {"text": %q}}%s}`, name, text, more)
}

func TestAStepRunsForEachItemOfAList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		n.Script.Reply(echo)
		job := n.Add(t, flowJob("map", stepsOf(
			says("list", "", ""),
			says("each", "${index} is ${item.name} on ${params.day}",
				`"needs": ["list"], "forEach": {"items": [{"name": "a"}, {"name": "fail"}, {"name": "c"}], "maxParallel": 2, `+
					`"tolerate": {"count": 1}}`),
			says("again", "${item.text:-none}", `"needs": ["each"], "forEach": {"items": "${steps.each.outputs}"}`),
			says("none", "never", `"forEach": {"items": []}`),
			says("nothing", "${steps.none.count.total} of ${steps.none.outputs}", `"needs": ["none"]`),
			says("none-again", "never", `"needs": ["none"], "forEach": {"items": "${steps.none.outputs}"}`),
			says("sum", "${steps.each.count.failed} of ${steps.each.count.total}: ${steps.each.outputs}", `"needs": ["each", "again"]`),
			says("wrong", "never", `"needs": ["list"], "forEach": {"items": "${steps.list.output.text}"}, "tolerate": true`),
		), nil))
		root := fire(t, n, job)
		follow(t, n, root, entity.StatusSuccess)
		row := func(step string) *entity.Execution {
			e := stepRow(t, n, root, job.ID, step)
			require.NotNil(t, e, step)
			return e
		}
		require.JSONEq(t, `{"text": "0 is a on 7"}`, row("each[0]").Result)
		require.Equal(t, entity.StatusFailed, row("each[1]").Status)
		require.JSONEq(t, `{"text": "2 is c on 7"}`, row("each[2]").Result)
		require.JSONEq(t, `[{"text": "0 is a on 7"}, null, {"text": "2 is c on 7"}]`, row("each").Result)
		require.JSONEq(t, `{"text": "none"}`, row("again[1]").Result)
		require.Equal(t, entity.StatusSuccess, row("none").Status)
		require.JSONEq(t, `{"text": "0 of []"}`, row("nothing").Result, "no items are no missing value")
		require.Equal(t, entity.StatusSuccess, row("none-again").Status)
		require.Contains(t, row("sum").Result, "1 of 3: ")
		require.Equal(t, entity.ReasonInvalid, row("wrong").Reason)
		require.Contains(t, row("wrong").ErrorMessage, "is no list")
		require.Nil(t, stepRow(t, n, root, job.ID, "wrong[0]"))
		require.Empty(t, owed(t, n))
	})
}

// No more items are live at once than the map allows, and all of them run.
func TestTheWindowOfAMap(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	var live, most atomic.Int64
	n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		now := live.Add(1)
		for {
			former := most.Load()
			if now <= former || most.CompareAndSwap(former, now) {
				break
			}
		}
		defer live.Add(-1)
		return entity.Succeeded(fmt.Sprint(run.Steps.Index))
	})
	items := strings.TrimSuffix(strings.Repeat("1,", 700), ",")
	job := n.Add(t, flowJob("wide", stepsOf(says("each", "${index}", `"forEach": {"items": [`+items+`], "maxParallel": 5}`)), nil))
	root := fire(t, n, job)
	follow(t, n, root, entity.StatusSuccess)
	require.Len(t, n.Script.Runs(), 700)
	require.LessOrEqual(t, most.Load(), int64(5))
	seen := map[int]bool{}
	for _, run := range n.Script.Runs() {
		_, step, _ := run.Execution.StepOf()
		key, err := wf.ParseKey(step)
		require.NoError(t, err)
		require.False(t, seen[key.Item], "%s runs once", step)
		seen[key.Item] = true
	}
}

// Somebody cancels a map: its items are stopped, and no other begins.
func TestAMapIsCancelledAlone(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	job := n.Add(t, flowJob("map", stepsOf(
		says("each", "${index}", `"forEach": {"items": [1,2,3,4], "maxParallel": 2}`),
		custom("after", `"needs": [{"step": "each", "on": ["failure"]}]`)), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 2)
	each := stepRow(t, n, root, job.ID, "each")
	require.True(t, each.Open())
	n.Script.Reply(enginetest.Always(entity.Succeeded("done")))
	cancel(t, n, each.ID)
	follow(t, n, root, entity.StatusFailed)
	require.Equal(t, entity.StatusCancelled, stepRow(t, n, root, job.ID, "each").Status)
	require.Equal(t, entity.StatusCancelled, stepRow(t, n, root, job.ID, "each[1]").Status)
	require.Nil(t, stepRow(t, n, root, job.ID, "each[2]"))
	require.Equal(t, entity.StatusSuccess, stepRow(t, n, root, job.ID, "after").Status)
	require.Empty(t, owed(t, n))
}
