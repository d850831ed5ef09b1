package job_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/application/service/servicetest"
	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

// flow is a workflow whose steps start jobs, one after the other.
func flow(name, group string, jobs ...string) *entity.Job {
	steps := []string{`{"name": "first", "custom": {"jobClass": "noop"}}`}
	for i, j := range jobs {
		steps = append(steps, fmt.Sprintf(`{"name": "s%d", "needs": ["first"], "job": {"name": %q}}`, i, j))
	}
	return enginetest.Job(name, func(j *entity.Job) {
		j.Type, j.Class, j.Group = entity.JobWorkflow, "", group
		j.Data = `{"steps": [` + strings.Join(steps, ", ") + `]}`
	})
}

// idsOf are the ids that the store keeps of the jobs of steps.
func idsOf(t *testing.T, job *entity.Job) (ids []string) {
	t.Helper()
	var d wf.Definition
	require.NoError(t, json.Unmarshal([]byte(job.Data), &d))
	for _, s := range d.Steps {
		if s.Job != nil {
			ids = append(ids, s.Job.ID)
		}
	}
	return ids
}

// requireField expects one wrong field.
func requireField(t *testing.T, err error, field, code string) {
	t.Helper()
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Fields, 1, err.Error())
	require.Equal(t, field+" "+code, f.Fields[0].Field+" "+f.Fields[0].Code, f.Fields[0].Message)
}

// Steps keep to the job that had the name, and show its present name; a name of nothing is refused.
func TestStepsKnowJobsByTheirIDs(t *testing.T) {
	d := newDesk(t)
	plain := d.In("pay", "plain", nil)
	w, err := d.Jobs.Create(t.Context(), flow("w", "pay", "plain", "pay/plain"), true)
	require.NoError(t, err)
	require.Equal(t, []string{plain.ID, plain.ID}, idsOf(t, w))
	renamed := *plain
	renamed.Name = "renamed"
	_, err = d.Jobs.Replace(t.Context(), plain.ID, &renamed, 0, 0)
	require.NoError(t, err)
	shown, err := d.Jobs.Get(t.Context(), w.ID)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(shown.Data, `"pay/renamed"`), shown.Data)
	starters, err := d.Jobs.Starters(t.Context(), plain.ID, func(string) bool { return true })
	require.NoError(t, err)
	require.Equal(t, []string{"pay/w"}, starters)

	_, err = d.Jobs.Create(t.Context(), flow("x", "pay", "none"), true)
	var f *apperror.Error
	require.ErrorAs(t, err, &f)
	require.Len(t, f.Fields, 1)
	require.Equal(t, "jobData.steps[1].job.name", f.Fields[0].Field)
	require.Equal(t, "unknown_job", f.Fields[0].Code)
}

// Workflows that start one another in a circle, or too deep, are refused when any of them is saved.
func TestWorkflowsThatStartThemselvesAreRefused(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		d.In("pay", "plain", nil)
		last := "plain"
		var all []*entity.Job
		for i := range wf.MaxDepth {
			w, err := d.Jobs.Create(t.Context(), flow(fmt.Sprintf("w%d", i), "pay", last), true)
			require.NoError(t, err, i)
			all, last = append(all, w), w.Name
		}
		_, err := d.Jobs.Create(t.Context(), flow("deep", "pay", last), true)
		requireField(t, err, "jobData.steps", "too_deep")
		// The one below the lowest is made deeper.
		_, err = d.Jobs.Create(t.Context(), flow("aside", "pay", "plain"), true)
		require.NoError(t, err)
		edit := flow(all[0].Name, "pay", "aside")
		_, err = d.Jobs.Replace(t.Context(), all[0].ID, edit, 0, 0)
		requireField(t, err, "jobData.steps", "too_deep")
		edit = flow(all[0].Name, "pay", all[1].Name)
		_, err = d.Jobs.Replace(t.Context(), all[0].ID, edit, 0, 0)
		requireField(t, err, "jobData.steps", "circle")
		require.ErrorContains(t, err, "w0 → w1 → w0")
		// A chain that leads back into the workflow is a circle, too.
		plain := d.In("pay", "tail", func(j *entity.Job) {
			j.Next = []entity.Next{{Name: "w4", On: entity.NextOnSuccess}}
		})
		_, err = d.Jobs.Replace(t.Context(), all[0].ID, flow(all[0].Name, "pay", plain.Name), 0, 0)
		requireField(t, err, "jobData.steps", "circle")
	})
}

// A workflow never holds a place of a group while it waits for another one, whatever is saved or limited first.
func TestNoWorkflowWaitsForItself(t *testing.T) {
	d := newDesk(t)
	d.In("busy", "inner", nil)
	d.In("pay", "plain", nil)
	below, err := d.Jobs.Create(t.Context(), flow("below", "free", "busy/inner"), true)
	require.NoError(t, err)
	_, err = d.Jobs.Create(t.Context(), flow("above", "pay", "free/below"), true)
	require.NoError(t, err)

	d.Limit("busy", 1)
	_, err = d.Groups.Limit(t.Context(), "pay", 1, 0)
	requireCode(t, err, apperror.KindConflict, "workflows_would_wait")
	require.ErrorContains(t, err, "pay/above")
	g, err := d.Groups.Get(t.Context(), "pay")
	require.NoError(t, err)
	require.Zero(t, g.MaxConcurrency, "a refused limit changes nothing")

	require.NoError(t, d.Jobs.Delete(t.Context(), below.ID, 0))
	d.Limit("pay", 1)
	_, err = d.Jobs.Create(t.Context(), flow("again", "pay", "busy/inner"), true)
	requireField(t, err, "jobData.steps", "limited_group")
	_, err = d.Jobs.Create(t.Context(), flow("same", "pay", "plain"), true)
	requireField(t, err, "jobData.steps", "limited_group")
	_, err = d.Jobs.Create(t.Context(), flow("other", "free", "busy/inner", "pay/plain"), true)
	require.NoError(t, err, "it holds no place itself")
}

// The first workflow is refused while a node of another release is up, and makes older programs stay out.
func TestTheFirstWorkflowNeedsOneRelease(t *testing.T) {
	d := servicetest.New(t)
	d.Jobs.Release = "2.0.0"
	_, err := d.Store.Register(t.Context(), entity.Node{ID: "old", Status: entity.NodeUp, Version: "1.0.0"})
	require.NoError(t, err)
	_, err = d.Jobs.Create(t.Context(), flow("w", "pay"), true)
	requireCode(t, err, apperror.KindConflict, "old_nodes")
	require.ErrorContains(t, err, "a workflow needs one release on all nodes")
}

// A deletion ends what is open, without the steps that run last; a root that opens later ends as well.
func TestADeletedWorkflowEndsItsRuns(t *testing.T) {
	eachStore(t, func(d *desk) {
		t := d.T
		w, err := d.Jobs.Create(t.Context(), enginetest.Job("w", func(j *entity.Job) {
			j.Type, j.Class = entity.JobWorkflow, ""
			j.Data = `{"steps": [{"name": "long", "custom": {"jobClass": "noop"}},
				{"name": "last", "finally": true, "custom": {"jobClass": "noop"}}]}`
		}), true)
		require.NoError(t, err)
		d.Node.Start(t)
		d.Node.Script.Hold()
		root := d.Trigger(w.ID)[0]
		goOn := func(done func() bool, why string) {
			t.Helper()
			enginetest.Await(t, func() bool {
				_, err := d.Node.Flow.RunOnce(t.Context(), d.Node.Time.Now())
				require.NoError(t, err)
				return done()
			}, why)
		}
		goOn(func() bool { return len(d.Node.Script.Runs()) == 1 }, "the step begins")
		opening := d.Trigger(w.ID)[0]
		enginetest.Await(t, func() bool { return d.Node.Execution(t, opening).Open() }, "the second root is open")
		require.NoError(t, d.Jobs.Delete(t.Context(), w.ID, 0))
		_, err = d.Jobs.Undelete(t.Context(), w.ID, "ann", func(*entity.Job) error { return nil })
		requireCode(t, err, apperror.KindConflict, "still_ending") // the deletion itself stored what it owes
		for _, id := range []string{root, opening} {
			goOn(func() bool { return d.Node.Execution(t, id).Status.Final() }, "the root ends")
			e := d.Node.Execution(t, id)
			require.Equal(t, entity.StatusCancelled, e.Status)
			require.Equal(t, entity.ReasonDeleted, e.Reason)
		}
		require.Len(t, d.Node.Script.Runs(), 1, "nothing else begins")
		_, err = d.Jobs.Undelete(t.Context(), w.ID, "ann", func(*entity.Job) error { return nil })
		require.NoError(t, err)
	})
}
