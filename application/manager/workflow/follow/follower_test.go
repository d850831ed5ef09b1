package follow_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flowJob is a workflow of these steps, as JSON.
func flowJob(name, steps string, change func(j *entity.Job)) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) {
		j.Type, j.Class, j.Data = entity.JobWorkflow, "", steps
		if change != nil {
			change(j)
		}
	})
}

// custom is a step that a handler does; more are its other fields, as JSON.
func custom(name, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf(`{"name": %q, "custom": {"jobClass": "noop", "data": {"step": %q}}%s}`, name, name, more)
}

func stepsOf(texts ...string) string { return `{"steps": [` + strings.Join(texts, ",") + "]}" }

// fire starts a run of the workflow by hand, and returns the id of its root.
func fire(t *testing.T, n *enginetest.Node, job *entity.Job) string {
	t.Helper()
	return fireWith(t, n, job, func(f *entity.Fire) { f.Params = `{"day":7}` })
}

// fireWith is fire without parameters, of a fire that a test changes.
func fireWith(t *testing.T, n *enginetest.Node, job *entity.Job, change func(f *entity.Fire)) (id string) {
	t.Helper()
	now := n.Time.Now()
	f := entity.ExtraFire(entity.TriggerManual, now, now, now, "")
	change(&f)
	n.Write(t, func(ctx context.Context, tx repository.Tx) error {
		jobs, err := n.Admitter.Lock(ctx, tx, []string{job.ID})
		if err != nil {
			return err
		}
		a, err := n.Admitter.Fire(ctx, tx, now, jobs[job.ID], f)
		if err == nil {
			id = a.Executions[0].ID
		}
		return err
	})
	n.Runner.RunsReady(entity.SlotGeneral)
	return id
}

// goOn lets runs go on until something is so.
func goOn(t *testing.T, n *enginetest.Node, so func() bool, format string, args ...any) {
	t.Helper()
	enginetest.Await(t, func() bool {
		_, err := n.Flow.RunOnce(t.Context(), n.Time.Now())
		require.NoError(t, err)
		return so()
	}, format, args...)
}

// follow lets runs go on until the root has a state.
func follow(t *testing.T, n *enginetest.Node, root string, want entity.Status) *entity.Execution {
	t.Helper()
	goOn(t, n, func() bool {
		e := n.Execution(t, root)
		require.False(t, e.Status.Final() && e.Status != want, "it is %s (%s): %s", e.Status, e.Reason, e.ErrorMessage)
		return e.Status == want
	}, "the root %s becomes %s", root, want)
	return n.Execution(t, root)
}

// awaitStarts lets runs go on until so many steps have begun.
func awaitStarts(t *testing.T, n *enginetest.Node, count int) {
	t.Helper()
	goOn(t, n, func() bool {
		return len(n.Script.Runs()) >= count
	}, "%d steps begin", count)
}

// stepRow is the execution of a step, or nil.
func stepRow(t *testing.T, n *enginetest.Node, root, workflowID, step string) *entity.Execution {
	t.Helper()
	key, err := wf.ParseKey(step)
	require.NoError(t, err)
	id := wf.ExecutionID(root, wf.StepID(workflowID, key.Name), key)
	rows, err := n.Store.Executions.ByIDs(t.Context(), []string{id})
	require.NoError(t, err)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func runRow(t *testing.T, n *enginetest.Node, root string) wf.Run {
	t.Helper()
	runs, err := n.Store.WorkflowRuns(t.Context(), []string{root})
	require.NoError(t, err)
	require.Len(t, runs, 1)
	return runs[0]
}

func owed(t *testing.T, n *enginetest.Node) []entity.Todo {
	t.Helper()
	todos, err := n.Store.Todos(t.Context(), entity.TodoRun, n.Time.Now().Add(time.Hour), 1000)
	require.NoError(t, err)
	return todos
}

// byStep answers each step by its name.
func byStep(n *enginetest.Node, outcomes map[string]entity.Outcome) {
	n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if o, known := outcomes[nameOf(run)]; known {
			return o
		}
		return entity.Succeeded("done")
	})
}

// nameOf is the step of an attempt.
func nameOf(run entity.Run) string { return run.Job.Name[strings.IndexByte(run.Job.Name, '/')+1:] }

// started are the steps in the order of their starts.
func started(n *enginetest.Node) (names []string) {
	for _, run := range n.Script.Runs() {
		names = append(names, nameOf(run))
	}
	return names
}

func TestStepsFollowEachOther(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, cfg persistence.Config) {
		n := enginetest.On(t, dbtest.Open(t, cfg), enginetest.Options{})
		n.Start(t)
		byStep(n, map[string]entity.Outcome{
			"load": entity.Succeeded(`{"rows": 3}`), "score": entity.Failed(entity.ReasonError, "no"),
		})
		job := n.Add(t, flowJob("night", stepsOf(
			custom("load", ""), custom("score", `"needs": ["load"]`),
			custom("report", `"needs": ["load"], "when": "steps.load.output.rows > 2 and params.day == 7"`),
			custom("none", `"needs": ["load"], "when": "steps.load.output.rows > 3"`),
			custom("after", `"needs": ["score", "report"]`),
			custom("repair", `"needs": [{"step": "score", "on": ["failure"]}]`), custom("tell", `"finally": true`)), nil))
		root := fire(t, n, job)
		end := follow(t, n, root, entity.StatusFailed)
		require.Equal(t, entity.ReasonStepFailed, end.Reason)
		require.Equal(t, "steps failed: score FAILED", end.ErrorMessage)
		names := started(n)
		require.Equal(t, "load", names[0])
		require.Equal(t, "tell", names[len(names)-1])
		require.ElementsMatch(t, []string{"load", "score", "report", "repair", "tell"}, names)
		for step, want := range map[string][2]string{
			"load": {"SUCCESS", ""}, "score": {"FAILED", "ERROR"}, "report": {"SUCCESS", ""}, "none": {"SKIPPED", "CONDITION"},
			"after": {"SKIPPED", "UPSTREAM_FAILED"}, "repair": {"SUCCESS", ""}, "tell": {"SUCCESS", ""},
		} {
			e := stepRow(t, n, root, job.ID, step)
			require.NotNil(t, e, step)
			require.Equal(t, want, [2]string{string(e.Status), string(e.Reason)}, step)
			require.Equal(t, entity.TriggerDependency, e.Trigger)
			require.Empty(t, e.Claim)
		}
		run := runRow(t, n, root)
		require.Equal(t, wf.PhaseClosed, run.Phase)
		require.Empty(t, owed(t, n), "nothing is owed any more")
		letters, _, err := n.Store.DeadLetters(t.Context(), repository.DeadLetterFilter{}, repository.Page{Limit: 10})
		require.NoError(t, err)
		require.Empty(t, letters)
	})
}

// The place of a fire is taken until its workflow run is closed.
func TestTheRootHoldsThePlaceOfItsFire(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	release := n.Script.Hold()
	serial := func(j *entity.Job) { j.Overlap = entity.OverlapSerial }
	job := n.Add(t, flowJob("serial", stepsOf(custom("only", "")), serial))
	first, second := fire(t, n, job), fire(t, n, job)
	awaitStarts(t, n, 1)
	open := n.Execution(t, first)
	require.True(t, open.Open())
	require.Empty(t, open.NodeID)
	require.False(t, open.Detached())
	enginetest.Await(t, func() bool { running, _ := n.Runner.Load(entity.SlotGeneral); return running == 1 },
		"the step has a slot, and the root none") // a claim that finds nothing has others for a moment
	require.Equal(t, entity.StatusWaiting, n.Execution(t, second).Status)
	require.Equal(t, entity.WaitJob, n.Execution(t, second).Claim.WaitsFor())
	release()
	follow(t, n, first, entity.StatusSuccess)
	follow(t, n, second, entity.StatusSuccess)
}

// A step that needs another try goes by the definition of its run, whatever became of the workflow.
func TestAStepKeepsToTheVersionOfItsRun(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	gate := make(chan struct{})
	n.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if run.Execution.Attempt == 1 {
			<-gate
			return entity.Failed(entity.ReasonError, "not yet")
		}
		return entity.Succeeded(run.Job.Data)
	})
	job := n.Add(t, flowJob("old", stepsOf(custom("only", `"retryPolicy": {"maxRetries": 1, "intervalMs": 1000}`)), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 1)
	n.Change(t, job.ID, func(j *entity.Job) { j.Data, j.Version = stepsOf(custom("other", "")), j.Version+1 })
	close(gate)
	enginetest.Await(t, func() bool {
		e := stepRow(t, n, root, job.ID, "only")
		return e.Status == entity.StatusWaiting && e.Attempt == 1
	}, "the step waits for its second attempt")
	n.Clock.Advance(2 * time.Second)
	_, err := n.Repairs.PromoteScheduled(t.Context())
	require.NoError(t, err)
	follow(t, n, root, entity.StatusSuccess)
	require.JSONEq(t, `{"step": "only"}`, stepRow(t, n, root, job.ID, "only").Result)
}

func TestACancelReachesTheSteps(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{Slots: 2})
	n.Start(t)
	n.Script.Hold()
	job := n.Add(t, flowJob("long", stepsOf(
		custom("a", ""), custom("b", ""), custom("c", ""), custom("after", `"needs": ["a"]`), custom("tell", `"finally": true`)), nil))
	root := fire(t, n, job)
	awaitStarts(t, n, 2) // and one waits
	n.Script.Reply(enginetest.Always(entity.Succeeded("done")))
	cancel(t, n, root)
	follow(t, n, root, entity.StatusCancelled)
	counts := map[entity.Status]int{}
	for _, step := range []string{"a", "b", "c"} {
		e := stepRow(t, n, root, job.ID, step)
		require.Equal(t, entity.ReasonRunCancelled, e.Reason, step)
		counts[e.Status]++
	}
	require.Equal(t, map[entity.Status]int{entity.StatusCancelled: 3}, counts)
	require.Equal(t, entity.ReasonRunCancelled, stepRow(t, n, root, job.ID, "after").Reason)
	require.Equal(t, entity.StatusSuccess, stepRow(t, n, root, job.ID, "tell").Status)
	require.Empty(t, owed(t, n))
}

func TestARunThatTakesTooLongIsStopped(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	n.Script.Hold()
	job := n.Add(t, flowJob("slow", stepsOf(custom("a", ""), custom("b", `"needs": ["a"]`)),
		func(j *entity.Job) { j.TimeoutSec = 60 }))
	root := fire(t, n, job)
	awaitStarts(t, n, 1)
	require.Equal(t, n.Time.Now().Add(time.Minute), runRow(t, n, root).Wake)
	n.Clock.Advance(time.Minute)
	_, err := n.Flow.WakeRuns(t.Context(), n.Time.Now())
	require.NoError(t, err)
	end := follow(t, n, root, entity.StatusTimeout)
	require.Equal(t, entity.ReasonTimeout, end.Reason)
	require.Equal(t, entity.StatusCancelled, stepRow(t, n, root, job.ID, "a").Status)
	require.Equal(t, entity.ReasonRunCancelled, stepRow(t, n, root, job.ID, "b").Reason)
}

// Runs whose moment has come are taken a hundred at a time, and one look says that others are due.
func TestALookSaysThatMoreRunsAreDue(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	job := n.Add(t, flowJob("nap", stepsOf(`{"name": "nap", "wait": {"forSec": 3600}}`),
		func(j *entity.Job) { j.TimeoutSec = 60 }))
	roots := make([]string, 101)
	for i := range roots {
		roots[i] = fire(t, n, job)
	}
	goOn(t, n, func() bool {
		runs, err := n.Store.WorkflowRuns(t.Context(), roots)
		require.NoError(t, err)
		return len(runs) == len(roots) && !slices.ContainsFunc(runs, func(r wf.Run) bool { return r.Wake.IsZero() })
	}, "all runs have begun")
	n.Clock.Advance(time.Minute)
	for _, want := range []bool{true, false} {
		left, err := n.Flow.WakeRuns(t.Context(), n.Time.Now())
		require.NoError(t, err)
		require.Equal(t, want, left)
	}
	for _, root := range roots {
		follow(t, n, root, entity.StatusTimeout)
	}
}

// A run that cannot be decided about is paused with the reason, and the others of its look go on. A cancel ends it.
func TestARunThatCannotGoOnStandsAlone(t *testing.T) {
	n := enginetest.New(t, enginetest.Options{})
	n.Start(t)
	broken := n.Add(t, flowJob("broken", `{"steps": [{"name": "a", "custom": {"jobClass": "noop"}, "needs": ["b"]}]}`, nil))
	sound := n.Add(t, flowJob("sound", stepsOf(custom("a", "")), nil))
	bad, good := fire(t, n, broken), fire(t, n, sound)
	follow(t, n, good, entity.StatusSuccess)
	goOn(t, n, func() bool { // it may run before anybody has decided about it
		runs, err := n.Store.WorkflowRuns(t.Context(), []string{bad})
		require.NoError(t, err)
		return len(runs) == 1 && runs[0].Phase == wf.PhasePaused
	}, "the broken run is paused")
	require.Equal(t, entity.StatusRunning, n.Execution(t, bad).Status)
	run := runRow(t, n, bad)
	require.Contains(t, run.Problem, "the step a cannot need b")
	require.Empty(t, owed(t, n), "nobody looks at it again and again")
	cancel(t, n, bad)
	end := follow(t, n, bad, entity.StatusCancelled)
	require.Contains(t, end.ErrorMessage, "the step a cannot need b")
	run = runRow(t, n, bad)
	require.Equal(t, wf.PhaseClosed, run.Phase)
	require.Empty(t, run.Problem)
	require.Empty(t, owed(t, n))
}
