package workflowrun_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// desk is a desk whose node runs steps.
type desk struct {
	*servicetest.Desk
	// read is what attempts read of the step each, by their execution.
	read *sync.Map
}

func newDesk(t *testing.T) desk {
	t.Helper()
	d := desk{servicetest.New(t), &sync.Map{}}
	d.Start(t)
	return d
}

func eachStore(t *testing.T, test func(d desk)) {
	t.Helper()
	servicetest.EachStore(t, func(one *servicetest.Desk) {
		one.Start(one.T)
		test(desk{one, &sync.Map{}})
	})
}

func (d desk) flow(name string, steps ...string) *entity.Job {
	d.T.Helper()
	return d.Add(d.T, enginetest.Job(name, func(j *entity.Job) {
		j.Type, j.Class, j.Data = entity.JobWorkflow, "", `{"steps":[`+strings.Join(steps, ",")+`]}`
	}))
}

func step(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"custom":{"jobClass":"noop","data":{"step":%q}}%s}`, name, name, more)
}

// answer is what the attempts of steps come to, by name or by NAME[ITEM]; others succeed.
func (d desk) answer(outcomes map[string]entity.Outcome) {
	d.Script.Reply(func(_ context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		if run.Steps != nil {
			each := run.Steps.Ends["each"]
			d.read.Store(run.Execution.ID, string(each.Outputs)+string(each.Count))
		}
		if o, known := outcomes[keyOf(run)]; known {
			return o
		}
		return entity.Succeeded(`{"by":"` + run.Execution.ID + `"}`)
	})
}

// keyOf is the key of the step of an attempt, or the name of a job that stands for itself.
func keyOf(run entity.Run) string {
	if _, key, ok := run.Execution.StepOf(); ok {
		return key
	}
	return run.Job.Name
}

// began are the attempts since the n-th, in their order.
func (d desk) began(n int) (keys []string) {
	for _, run := range d.Script.Runs()[n:] {
		keys = append(keys, keyOf(run))
	}
	return keys
}

// until lets runs go on until a root has a state.
func (d desk) until(root string, want entity.Status) *entity.Execution {
	d.T.Helper()
	d.Runner.RunsReady(entity.SlotGeneral)
	enginetest.Await(d.T, func() bool {
		_, err := d.Flow.RunOnce(d.T.Context(), d.Time.Now())
		require.NoError(d.T, err)
		e := d.Execution(d.T, root)
		require.False(d.T, e.Status.Final() && e.Status != want, "it is %s (%s): %s", e.Status, e.Reason, e.ErrorMessage)
		return e.Status == want
	}, "the root %s becomes %s", root, want)
	return d.Execution(d.T, root)
}

// retry makes a new run of a closed one.
func (d desk) retry(root string, from ...string) string {
	d.T.Helper()
	d.Clock.Advance(time.Minute)
	id, err := d.WorkflowRuns.Retry(d.T.Context(), root, from, entity.Actor{User: "ann"})
	require.NoError(d.T, err)
	return id
}

func (d desk) row(root, jobID, key string) *entity.Execution {
	d.T.Helper()
	k, err := wf.ParseKey(key)
	require.NoError(d.T, err)
	rows, err := d.Store.Executions.ByIDs(d.T.Context(), []string{wf.ExecutionID(root, jobID, k)})
	require.NoError(d.T, err)
	require.Len(d.T, rows, 1, key)
	return rows[0]
}

func (d desk) step(root string, job *entity.Job, key string) *entity.Execution {
	d.T.Helper()
	name, _, _ := strings.Cut(strings.ReplaceAll(key, "~", "["), "[")
	return d.row(root, wf.StepID(job.ID, name), key)
}

func requireCode(t *testing.T, err error, code string) {
	t.Helper()
	var wrong *apperror.Error
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, apperror.KindConflict, wrong.Kind)
	require.Equal(t, code, wrong.Code)
}

var no = entity.Failed(entity.ReasonError, "no")

// A retry runs what failed and what follows, on the version, the time and the parameters of the run that it repeats. It
// has copies of the results of the others.
func TestARetryRepeatsWhatFailed(t *testing.T) {
	eachStore(t, func(d desk) {
		d.answer(map[string]entity.Outcome{"load": entity.Succeeded(`{"rows":3}`), "score": no})
		job := d.flow("night", step("load", ""), step("score", `,"needs":["load"]`),
			step("none", `,"needs":["load"],"when":"steps.load.output.rows > 5"`),
			step("report", `,"needs":["load",{"step":"none","on":"ok"}]`),
			step("publish", `,"needs":["report","score"],"when":"steps.score.status == \"SUCCESS\""`),
			step("last", `,"finally":true`))
		root := d.Trigger(job.ID)[0]
		first := d.until(root, entity.StatusFailed)
		d.Change(d.T, job.ID, func(j *entity.Job) { j.Data, j.Version = `{"steps":[`+step("other", "")+`]}`, j.Version+1 })
		before := len(d.Script.Runs())
		d.answer(nil)
		again := d.retry(root)
		second := d.until(again, entity.StatusSuccess)
		require.Equal(d.T, []string{"score", "publish", "last"}, d.began(before))
		require.Equal(d.T, first.JobVersion, second.JobVersion)
		require.Equal(d.T, []any{root, root, first.ScheduledTime, entity.TriggerRetry, "ann"},
			[]any{second.RetryOf, second.RootID, second.ScheduledTime, second.Trigger, second.TriggeredBy.User})
		for key, want := range map[string][2]string{
			"load": {"SUCCESS", "REUSED"}, "score": {"SUCCESS", ""}, "none": {"SKIPPED", "CONDITION"},
			"report": {"SUCCESS", "REUSED"}, "publish": {"SUCCESS", ""}, "last": {"SUCCESS", ""},
		} {
			e, former := d.step(again, job, key), d.step(root, job, key)
			require.Equal(d.T, want, [2]string{string(e.Status), string(e.Reason)}, key)
			require.Equal(d.T, former.ID, e.IdempotencyKey(), key)
			require.NotEqual(d.T, former.ID, e.ID)
			if want[1] == "REUSED" {
				require.Equal(d.T, former.Result, e.Result, key)
				require.True(d.T, e.StartTime.IsZero(), "it did not run")
			}
		}
		todos, err := d.Store.Todos(d.T.Context(), entity.TodoRun, d.Time.Now().Add(time.Hour), 100)
		require.NoError(d.T, err)
		require.Empty(d.T, todos)

		// Of a retry, another one begins with the same results, and has the keys of the first run.
		before = len(d.Script.Runs())
		third := d.retry(again, "score")
		d.until(third, entity.StatusSuccess)
		require.Equal(d.T, []string{"score", "publish", "last"}, d.began(before))
		require.Equal(d.T, d.step(root, job, "load").Result, d.step(third, job, "load").Result)
		require.Equal(d.T, root, d.Execution(d.T, third).RootID)
		for _, key := range []string{"load", "score", "report"} {
			require.Equal(d.T, d.step(root, job, key).ID, d.step(third, job, key).RootID, key)
		}
	})
}

// The results of a map are reused as a whole, with their counts; one that failed is repeated as a whole.
func TestARetryReusesMaps(t *testing.T) {
	d := newDesk(t)
	d.answer(map[string]entity.Outcome{"each[1]": no, "bad[0]": no, "tell": no})
	job := d.flow("maps", step("each", `,"forEach":{"items":[1,2,3],"tolerate":{"count":1}}`),
		step("bad", `,"forEach":{"items":[1,2]}`), step("none", `,"forEach":{"items":[]}`),
		`{"name":"tell","needs":["each","none"],"custom":{"jobClass":"noop","data":{"of":"${steps.each.outputs}",
			"lost":"${steps.each.count.failed}","all":"${steps.each.count.total}"}}}`)
	root := d.Trigger(job.ID)[0]
	d.until(root, entity.StatusFailed)
	before := len(d.Script.Runs())
	d.answer(nil)
	again := d.retry(root)
	d.until(again, entity.StatusSuccess)
	require.ElementsMatch(t, []string{"bad[0]", "bad[1]", "tell"}, d.began(before))
	former, reused := d.step(root, job, "each"), d.step(again, job, "each")
	require.Equal(t, []string{former.Result, "REUSED"}, []string{reused.Result, string(reused.Reason)})
	require.NotEmpty(t, former.Result)
	require.Equal(t, entity.ReasonReused, d.step(again, job, "none").Reason)
	tells := [2]*entity.Execution{d.step(root, job, "tell"), d.step(again, job, "tell")}
	was, _ := d.read.Load(tells[0].ID)
	is, _ := d.read.Load(tells[1].ID)
	require.Equal(t, was, is, "the step after the map reads the same")
	require.Contains(t, is, `"failed":1`)
	require.Equal(t, tells[0].ID, tells[1].RootID)
	require.Equal(t, d.step(root, job, "bad[1]").ID, d.step(again, job, "bad[1]").RootID)
	detail, err := d.WorkflowRuns.Get(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, []int{3, 2, 1}, []int{
		detail.Steps[0].Items.Total, detail.Steps[0].Items.Succeeded, detail.Steps[0].Items.Failed,
	})
	// Of a repetition by hand, the keys are those of the first run, too.
	third := d.retry(again, "each")
	d.until(third, entity.StatusSuccess)
	require.Equal(t, d.step(root, job, "each[1]").ID, d.step(third, job, "each[1]").RootID)
}

// The job that a step names is repeated with the keys of its former fire, each shard, and a workflow below as a whole.
func TestARetryOfNamedJobs(t *testing.T) {
	d := newDesk(t)
	d.answer(map[string]entity.Outcome{"inner": no, "tail": no})
	shards := d.Add(t, enginetest.Job("shards", func(j *entity.Job) { j.ShardCount = 2 }))
	done := d.Add(t, enginetest.Job("done", nil))
	below := d.flow("below", step("first", ""), step("inner", `,"needs":["first"]`))
	job := d.flow("above", fmt.Sprintf(`{"name":"sharded","job":{"id":%q}}`, shards.ID),
		fmt.Sprintf(`{"name":"done","job":{"id":%q}}`, done.ID), fmt.Sprintf(`{"name":"child","job":{"id":%q}}`, below.ID),
		step("tail", `,"needs":["done"]`))
	root := d.Trigger(job.ID)[0]
	d.until(root, entity.StatusFailed)
	before := len(d.Script.Runs())
	d.answer(nil)
	again := d.retry(root, "sharded")
	d.until(again, entity.StatusSuccess)
	require.ElementsMatch(t, []string{"sharded", "sharded", "first", "inner", "tail"}, d.began(before))
	require.Equal(t, d.row(root, done.ID, "done").Result, d.step(again, job, "done").Result)
	require.Len(t, d.Rows(done.ID), 1)
	keys := map[string]string{}
	for _, e := range d.Rows(shards.ID) {
		run, _, _ := e.StepOf()
		keys[fmt.Sprint(run == again, e.ShardIndex)] = e.IdempotencyKey()
	}
	require.Equal(t, []string{keys["false0"], keys["false1"]}, []string{keys["true0"], keys["true1"]})
	formerChild, child := d.row(root, below.ID, "child"), d.row(again, below.ID, "child")
	require.Equal(t, formerChild.ID, child.RootID)
	require.Empty(t, child.RetryOf)
	require.Equal(t, d.step(formerChild.ID, below, "inner").ID, d.step(child.ID, below, "inner").RootID)
}

func TestARunThatCannotBeRetried(t *testing.T) {
	d := newDesk(t)
	release := d.Script.Hold()
	job := d.flow("night", step("a", ""), step("b", `,"needs":["a"]`))
	root := d.Trigger(job.ID)[0]
	d.until(root, entity.StatusRunning)
	plan := func(id string, from ...string) error {
		_, err := d.WorkflowRuns.PlanRetry(t.Context(), id, from)
		_, again := d.WorkflowRuns.Retry(t.Context(), id, from, entity.Actor{})
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(again), "the plan says what the retry says")
		return err
	}
	enginetest.Await(t, func() bool {
		runs, err := d.Store.WorkflowRuns(t.Context(), []string{root})
		require.NoError(t, err)
		return len(runs) == 1
	}, "the run is open")
	requireCode(t, plan(root), "not_final")
	release()
	d.until(root, entity.StatusSuccess)
	requireCode(t, plan(root), "run_succeeded")
	_, err := d.Executions.Retry(t.Context(), root, entity.Actor{})
	requireCode(t, err, "run_succeeded")
	require.True(t, apperror.Is(plan(root, "c"), apperror.KindInvalid))
	require.True(t, apperror.Is(plan("01a1f8d3-0000-7000-8000-0000000000aa", "a"), apperror.KindNotFound))
	got, err := d.WorkflowRuns.PlanRetry(t.Context(), root, []string{"b"})
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{got.Repeated, got.Reused})
	require.Len(t, d.Rows(job.ID), 1, "a plan starts nothing")
}

// A retry that waits for its start has what it takes over, whatever becomes of the run that it repeats. Its place is
// that of any run of the workflow.
func TestARetryWaitsLongerThanTheRetention(t *testing.T) {
	eachStore(t, func(d desk) {
		d.answer(map[string]entity.Outcome{"bad": no})
		job := d.flow("serial", step("each", `,"forEach":{"items":[1,2]}`), step("bad", `,"needs":["each"]`))
		d.Change(d.T, job.ID, func(j *entity.Job) { j.Overlap = entity.OverlapSerial })
		root := d.Trigger(job.ID)[0]
		d.until(root, entity.StatusFailed)
		result := d.step(root, job, "each").Result
		require.NotEmpty(d.T, result)
		release := d.Script.Hold()
		other := d.Trigger(job.ID)[0]
		d.until(other, entity.StatusRunning)
		again := d.retry(root)
		require.Equal(d.T, entity.WaitJob, d.Execution(d.T, again).Claim.WaitsFor())
		_, err := d.WorkflowRuns.Get(d.T.Context(), again)
		require.True(d.T, apperror.Is(err, apperror.KindNotFound), "there is no run before it is opened")

		d.Clock.Advance(40 * 24 * time.Hour)
		purged, err := d.Store.PurgeExecutions(d.T.Context(), d.Time.Now().Add(-30*24*time.Hour), 100)
		require.NoError(d.T, err)
		require.Equal(d.T, 4, purged.Deleted, "the steps of the first run")
		_, err = d.WorkflowRuns.PlanRetry(d.T.Context(), root, nil)
		requireCode(d.T, err, "result_gone")
		require.ErrorContains(d.T, err, "each")
		plan, err := d.WorkflowRuns.PlanRetry(d.T.Context(), root, []string{"each"})
		require.NoError(d.T, err)
		require.Equal(d.T, 2, plan.Repeated)

		release()
		d.until(other, entity.StatusSuccess)
		d.until(again, entity.StatusSuccess)
		require.Equal(d.T, result, d.step(again, job, "each").Result)
		require.Equal(d.T, entity.ReasonReused, d.step(again, job, "each").Reason)
	})
}

// A version that is not stored any more cannot be repeated, nor can a job that is no workflow now. A retry that its job
// skips takes nothing over.
func TestARetryOfAWorkflowThatChanged(t *testing.T) {
	d := newDesk(t)
	d.answer(map[string]entity.Outcome{"b": no})
	job := d.flow("night", step("a", ""), step("b", `,"needs":["a"]`))
	root := d.Trigger(job.ID)[0]
	d.until(root, entity.StatusFailed)
	retry := func() (string, error) {
		return d.WorkflowRuns.Retry(t.Context(), root, nil, entity.Actor{})
	}
	d.Change(t, job.ID, func(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobCustom, "noop", "" })
	_, err := retry()
	requireCode(t, err, "not_a_workflow")
	d.Change(t, job.ID, func(j *entity.Job) {
		j.Type, j.Class, j.Data = entity.JobWorkflow, "", `{"steps":[`+step("a", "")+`]}`
		j.Overlap, j.Version = entity.OverlapDiscard, j.Version+1
	})
	release := d.Script.Hold()
	other := d.Trigger(job.ID)[0]
	d.until(other, entity.StatusRunning)
	skipped, err := retry()
	require.NoError(t, err)
	require.Equal(t, entity.StatusSkipped, d.Execution(t, skipped).Status)
	found, err := d.Store.Executions.ByIDs(t.Context(), []string{
		wf.ExecutionID(skipped, wf.StepID(job.ID, "a"), wf.Key{Name: "a", Item: wf.Whole, Generation: 1}),
	})
	require.NoError(t, err)
	require.Empty(t, found)
	release()
	d.until(other, entity.StatusSuccess)
	_, err = d.Executions.RetryOnce(t.Context(), root, entity.Actor{})
	require.NoError(t, err, "a list of failed runs starts them from what failed")
}

// A node that dies in a retry leaves all of it or nothing.
func TestARetryWhoseNodeDies(t *testing.T) {
	for name, c := range map[string]struct {
		fault enginetest.Fault
		made  int
	}{
		"before the commit": {enginetest.LostCommit, 0}, "after the commit": {enginetest.LostReply, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.answer(map[string]entity.Outcome{"b": no})
			job := d.flow("night", step("a", ""), step("b", `,"needs":["a"]`))
			root := d.Trigger(job.ID)[0]
			d.until(root, entity.StatusFailed)
			d.answer(nil)
			d.Faults.Next("job.trigger", c.fault)
			_, err := d.WorkflowRuns.Retry(t.Context(), root, nil, entity.Actor{})
			require.Error(t, err)
			var made []string
			for _, e := range d.Rows(job.ID) {
				if e.ID != root {
					made = append(made, e.ID)
				}
			}
			require.Len(t, made, c.made)
			reused := d.Rows(wf.StepID(job.ID, "a"))
			require.Len(t, reused, 1+c.made, "the rows of steps come with the root")
			for _, again := range made {
				d.until(again, entity.StatusSuccess)
				require.Equal(t, d.step(root, job, "a").Result, d.step(again, job, "a").Result)
			}
		})
	}
}
