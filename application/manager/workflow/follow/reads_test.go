package follow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	flows "github.com/platform-scheduler/platform-scheduler/application/manager/workflow/follow"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// counted counts what is read of executions by id that it is asked about, and of workflow runs.
type counted struct {
	repository.ExecutionReader
	repository.WorkflowRunReader
	asks        func(ids []string) bool
	execs, runs atomic.Int64
}

func (c *counted) ByIDs(ctx context.Context, ids []string) ([]*entity.Execution, error) {
	if c.asks == nil || c.asks(ids) {
		c.execs.Add(1)
	}
	return c.ExecutionReader.ByIDs(ctx, ids)
}

func (c *counted) WorkflowRuns(ctx context.Context, ids []string) ([]wf.Run, error) {
	c.runs.Add(1)
	return c.WorkflowRunReader.WorkflowRuns(ctx, ids)
}

// The results of a map are read once: for what follows it, and for its row.
func TestResultsOfAMapAreReadOnce(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Reply(echo)
	job := n.Add(t, flowJob("map", stepsOf(
		says("each", "${item}", `"forEach": {"items": ["a", "b", "c"], "maxParallel": 1}`),
		says("sum", "${steps.each.count.total}", `"needs": ["each"], "when": "steps.each.status == \"SUCCESS\""`),
		says("again", "${item.text}", `"needs": ["each"], "forEach": {"items": "${steps.each.outputs}"}`)), nil))
	root := fire(t, n, job)
	of := func(item int) string {
		return wf.ExecutionID(root, wf.StepID(job.ID, "each"), wf.Key{Name: "each", Item: item, Generation: 1})
	}
	c := &counted{ExecutionReader: n.Flow.Executions, asks: func(ids []string) bool { // one item ends at a time
		return slices.Contains(ids, of(0)) && slices.Contains(ids, of(2))
	}}
	n.Flow.Executions = c
	follow(t, n, root, entity.StatusSuccess)
	require.EqualValues(t, 1, c.execs.Load())
	require.JSONEq(t, `[{"text": "a"}, {"text": "b"}, {"text": "c"}]`, stepRow(t, n, root, job.ID, "each").Result)
	require.JSONEq(t, `{"text": "c"}`, stepRow(t, n, root, job.ID, "again[2]").Result)
}

// All items of a map that start on a node, also at once, read their list once. One that reads steps reads these, too.
func TestItemsReadTheirListOnce(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	const items = 300
	texts := make([]string, items)
	for i := range texts {
		texts[i] = fmt.Sprintf("%q", fmt.Sprint("v", i))
	}
	n.Script.Reply(func(ctx context.Context, run entity.Run, rep entity.Reporter) entity.Outcome {
		if nameOf(run) == "list" {
			return entity.Succeeded(`{"all": [` + strings.Join(texts, ",") + `]}`)
		}
		return echo(ctx, run, rep)
	})
	each := `"needs": ["list"], "forEach": {"items": "${steps.list.output.all}"}`
	job := n.Add(t, flowJob("wide", stepsOf(custom("list", ""), says("each", "${item} on ${params.day}", each),
		says("both", "${item} of ${steps.list.status}", each)), nil))
	root := fire(t, n, job)
	follow(t, n, root, entity.StatusSuccess)
	for step, want := range map[string]struct {
		says        string
		execs, runs int64
	}{
		"each": {"v%d on 7", 2, 1},                   // the root and the step that made the list
		"both": {"v%d of SUCCESS", 2 + items, items}, // and each the step that it reads
	} {
		c := &counted{ExecutionReader: n.Store.Executions, WorkflowRunReader: n.Store}
		var said sync.Map
		inputs := &flows.Inputs{
			Next: nextFunc(func(ctx context.Context, run entity.Run) entity.Outcome {
				o := echo(ctx, run, nil)
				said.Store(run.Steps.Index, o.Result)
				return o
			}),
			Catalog: &flows.Catalog{Cached: n.Jobs.Cached, Versions: n.Store.Jobs, Runs: n.Store}, Runs: c, Executions: c,
		}
		var all sync.WaitGroup
		for i := range items {
			e := stepRow(t, n, root, job.ID, fmt.Sprintf("%s[%d]", step, i))
			found, err := inputs.Catalog.StepJobs(t.Context(), []*entity.Execution{e})
			require.NoError(t, err)
			all.Go(func() { inputs.Run(t.Context(), entity.Run{Job: found[e.ID], Execution: e}, nil) })
		}
		all.Wait()
		for i := range items {
			text, _ := said.Load(i)
			require.JSONEq(t, fmt.Sprintf(`{"text": %q}`, fmt.Sprintf(want.says, i)), fmt.Sprint(text))
		}
		require.Equal(t, [2]int64{want.execs, want.runs}, [2]int64{c.execs.Load(), c.runs.Load()}, step)
	}
}

// A step whose inputs cannot be read because the store is away, or because its node has lost it, has not failed.
func TestAStepWhoseInputsCannotBeRead(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Reply(echo)
	job := n.Add(t, flowJob("reads", stepsOf(says("a", "one", ""), says("b", "${steps.a.output.text}", `"needs": ["a"]`)), nil))
	root := fire(t, n, job)
	follow(t, n, root, entity.StatusSuccess)
	e := stepRow(t, n, root, job.ID, "b")
	inputs := &flows.Inputs{
		Next: nextFunc(func(ctx context.Context, run entity.Run) entity.Outcome { return echo(ctx, run, nil) }),
		Runs: n.Store, Executions: &away{},
		Catalog: &flows.Catalog{Cached: n.Jobs.Cached, Versions: n.Store.Jobs, Runs: n.Store},
	}
	found, err := inputs.Catalog.StepJobs(t.Context(), []*entity.Execution{e})
	require.NoError(t, err)
	run := entity.Run{Job: found[e.ID], Execution: e}
	o := inputs.Run(t.Context(), run, nil)
	require.Equal(t, entity.StatusWaiting, o.Status, "it is tried anew, and the attempt does not count")
	require.Positive(t, o.RetryAfter)
	lost, cancel := context.WithCancelCause(t.Context())
	cancel(entity.ErrStopLost)
	o = inputs.Run(lost, run, nil)
	require.Equal(t, entity.ReasonNodeLost, o.Reason, "others take over")
	inputs.Executions = n.Store.Executions
	require.JSONEq(t, `{"text": "one"}`, inputs.Run(t.Context(), run, nil).Result)
}

// away is a store that does not answer.
type away struct{ repository.ExecutionReader }

func (a *away) ByIDs(context.Context, []string) ([]*entity.Execution, error) {
	return nil, apperror.Unavailable(errors.New("connection refused"))
}

// nextFunc is the next executor.
type nextFunc func(ctx context.Context, run entity.Run) entity.Outcome

func (s nextFunc) Run(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
	return s(ctx, run)
}
