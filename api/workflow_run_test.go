package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/enginetest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

const flowRuns = "/api/v1/workflow-runs"

// flow stores a workflow of a group, and starts a run of it.
func (e *edge) flow(name, group, def string) (job *entity.Job, root string) {
	e.t.Helper()
	stored := flowOf(name, def)
	stored.Group = group
	job = e.Add(e.t, stored)
	return job, e.run(job)
}

// flowOf is a workflow of this definition.
func flowOf(name, def string) *entity.Job {
	return enginetest.Job(name, func(j *entity.Job) { j.Type, j.Class, j.Data = entity.JobWorkflow, "", def })
}

// run starts a run of a workflow, and waits until it is open.
func (e *edge) run(job *entity.Job) (root string) {
	e.t.Helper()
	root = e.Trigger(job.ID)[0]
	e.Runner.RunsReady(entity.SlotGeneral)
	e.goesOn(func() bool {
		runs, err := e.Store.WorkflowRuns(e.t.Context(), []string{root})
		require.NoError(e.t, err)
		return len(runs) == 1 && len(runs[0].State) > 0
	}, "the run "+root+" is open")
	return root
}

// goesOn lets runs go on until something has happened.
func (e *edge) goesOn(happened func() bool, what string) {
	e.t.Helper()
	enginetest.Await(e.t, func() bool {
		_, err := e.Flow.RunOnce(e.t.Context(), e.Time.Now())
		require.NoError(e.t, err)
		return happened()
	}, "%s", what)
}

// stateOf waits until steps of a run are in a state, and returns them by name.
func (e *edge) stateOf(root string, want map[string]string) map[string]map[string]any {
	e.t.Helper()
	var steps map[string]map[string]any
	e.goesOn(func() bool {
		steps = map[string]map[string]any{}
		for _, s := range e.call("GET", flowRuns+"/"+root, "").want(200).json()["steps"].([]any) {
			step := s.(map[string]any)
			steps[step["step"].(string)] = step
		}
		for name, state := range want {
			if steps[name]["state"] != state {
				return false
			}
		}
		return true
	}, fmt.Sprint(want))
	return steps
}

// ends answers the attempt of each step by its name; others succeed, and none ends whose name holds "slow".
func (e *edge) ends(outcomes map[string]entity.Outcome) {
	e.Script.Reply(func(ctx context.Context, run entity.Run, _ entity.Reporter) entity.Outcome {
		name := run.Job.Name[strings.IndexByte(run.Job.Name, '/')+1:]
		if o, known := outcomes[name]; known {
			return o
		}
		if strings.Contains(name, "slow") {
			<-ctx.Done()
			return entity.Outcome{Status: entity.StatusCancelled}
		}
		return entity.Succeeded("done")
	})
}

func step(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"custom":{"jobClass":"settle"}%s}`, name, more)
}

// heldFlow has a step of each kind of standing: done, live, held, waiting, skipped, and a map.
func heldFlow() string {
	return `{"onStepFailure":"HOLD","steps":[` + strings.Join([]string{
		step("load", ""), step("slow", `,"needs":["load"]`), step("bad", `,"needs":["load"]`),
		step("none", `,"needs":["load"],"when":"steps.load.status == \"FAILED\""`),
		step("after", `,"needs":["bad"]`), step("each", `,"needs":["load"],"forEach":{"items":[1,2,3],"maxParallel":2}`),
		step("last", `,"finally":true`),
	}, ",") + `]}`
}

func (e *edge) heldRun(group string) (*entity.Job, string) {
	e.t.Helper()
	e.Start(e.t)
	e.ends(map[string]entity.Outcome{"bad": entity.Failed(entity.ReasonError, "no")})
	job, root := e.flow("night of "+group, group, heldFlow())
	e.stateOf(root, map[string]string{
		"load": "SUCCESS", "slow": "RUNNING", "bad": "FAILED", "none": "SKIPPED", "after": "NOT_DECIDED", "each": "SUCCESS",
	})
	return job, root
}

func TestAWorkflowRunShowsWhereItsStepsStand(t *testing.T) {
	e := newEdge(t)
	job, root := e.heldRun("default")
	m := e.call("GET", flowRuns+"/"+root, "").want(200).json()
	require.Equal(t, []any{
		root, job.ID, "night of default", "default", 1.0, "OPEN", "RUNNING", "", "", "", "MANUAL", nil,
	}, []any{
		m["id"], m["workflowId"], m["workflow"], m["group"], m["version"], m["phase"], m["status"], m["reason"],
		m["errorMessage"], m["problem"], m["trigger"], m["endTime"],
	})
	require.Equal(t, map[string]any{
		"total": 7.0, "success": 2.0, "failed": 0.0, "skipped": 1.0, "live": 1.0, "waiting": 2.0, "held": 1.0,
	}, m["counts"])
	require.NotNil(t, m["wakeTime"], "it is held until then")
	var names []string
	steps := map[string]map[string]any{}
	for _, s := range m["steps"].([]any) {
		step := s.(map[string]any)
		names = append(names, step["step"].(string))
		steps[step["step"].(string)] = step
	}
	require.Equal(t, []string{"load", "slow", "bad", "none", "after", "each", "last"}, names,
		"in the order of the definition")
	require.Equal(t, []any{"custom", "FAILED", "ERROR", true, 1.0}, []any{
		steps["bad"]["kind"], steps["bad"]["state"], steps["bad"]["reason"], steps["bad"]["held"], steps["bad"]["generation"],
	})
	require.Equal(t, []any{"NOT_DECIDED", "", false, ""}, []any{
		steps["after"]["state"], steps["after"]["executionId"], steps["after"]["held"], steps["after"]["reason"],
	})
	require.Equal(t, "CONDITION", steps["none"]["reason"])
	require.Equal(t, map[string]any{"total": 3.0, "success": 3.0, "failed": 0.0, "notRun": 0.0, "live": 0.0},
		steps["each"]["items"])
	require.Equal(t, steps["slow"]["executionId"],
		wf.ExecutionID(root, wf.StepID(job.ID, "slow"), wf.Key{Name: "slow", Item: wf.Whole, Generation: 1}))
	e.call("GET", flowRuns+"/"+job.ID, "").wantCode(404, "not_found")
	e.call("GET", flowRuns+"/"+steps["slow"]["executionId"].(string), "").wantCode(404, "not_found")
}

func TestExecutionsOfAWorkflowRun(t *testing.T) {
	e := newEdge(t)
	_, root := e.heldRun("default")
	list := func(query string) (keys []string) {
		t.Helper()
		cursor := ""
		for {
			m := e.call("GET", flowRuns+"/"+root+"/steps?limit=2"+query+cursor, "").want(200).json()
			for _, i := range m["items"].([]any) {
				item := i.(map[string]any)
				keys = append(keys, item["step"].(string)+" "+item["status"].(string))
			}
			if m["nextCursor"] == nil {
				return keys
			}
			cursor = "&cursor=" + m["nextCursor"].(string)
		}
	}
	require.Equal(t, []string{
		"load SUCCESS", "slow RUNNING", "bad FAILED", "none SKIPPED", "each SUCCESS", "each[0] SUCCESS", "each[1] SUCCESS",
		"each[2] SUCCESS",
	}, list(""))
	require.Equal(t, []string{"each SUCCESS", "each[0] SUCCESS", "each[1] SUCCESS", "each[2] SUCCESS"}, list("&step=each"))
	require.Equal(t, []string{"each[1] SUCCESS"}, list("&step=each[1]"))
	require.Equal(t, []string{"bad FAILED"}, list("&status=FAILED"))
	e.call("POST", flowRuns+"/"+root+"/steps/bad/repeat", "").want(202)
	e.stateOf(root, map[string]string{"bad": "FAILED"})
	require.Equal(t, []string{"bad FAILED", "bad~2 FAILED"}, list("&step=bad"), "each generation")
	for query, field := range map[string]string{
		"step=nobody": "step", "step=A": "step", "status=DONE": "status", "cursor=YQ": "cursor", "limit=0": "limit",
	} {
		e.call("GET", flowRuns+"/"+root+"/steps?"+query, "").wantField(422, field, "")
	}
}

func TestListsLeaveStepsOut(t *testing.T) {
	e := newEdge(t)
	job, root := e.heldRun("default")
	other := e.run(job)
	e.stateOf(other, map[string]string{"bad": "FAILED", "each": "SUCCESS", "slow": "RUNNING"})
	ids := func(query string) (of []string) {
		t.Helper()
		for _, i := range e.call("GET", "/api/v1/executions?limit=200"+query, "").want(200).json()["items"].([]any) {
			of = append(of, i.(map[string]any)["id"].(string))
		}
		return of
	}
	require.ElementsMatch(t, []string{root, other}, ids(""), "each run has one root")
	require.ElementsMatch(t, []string{root, other}, ids("&status=RUNNING"))
	require.Empty(t, ids("&trigger=DEPENDENCY"))
	require.Len(t, ids("&steps=true"), 2+2*8)
	require.Len(t, ids("&runId="+root), 8)
	require.Len(t, ids("&runId="+root+"&status=SUCCESS"), 5)
	require.Len(t, ids("&jobId="+wf.StepID(job.ID, "bad")), 2, "a step over its runs")
	require.Empty(t, ids("&runId="+job.ID))
	require.Empty(t, ids("&runId=nothing"))
	require.Subset(t, ids("&steps=true"), ids("&runId="+root))
	failures := func(query string) (n float64) {
		t.Helper()
		for _, cause := range e.call("GET", "/api/v1/monitor/failures"+query, "").want(200).json()["items"].([]any) {
			n += cause.(map[string]any)["count"].(float64)
		}
		return n
	}
	require.Zero(t, failures(""))
	require.Equal(t, 2.0, failures("?steps=true"))
	require.Equal(t, 1.0, failures("?runId="+root))
	row := e.call("GET", "/api/v1/executions?limit=1&jobId="+wf.StepID(job.ID, "bad"), "").want(200).json()["items"].([]any)[0]
	require.Equal(t, "night of default/bad", row.(map[string]any)["jobName"])
	e.call("POST", "/api/v1/executions/"+row.(map[string]any)["id"].(string)+"/retry", "").wantCode(409, "step")
}

func TestWorkflowRunsAreListed(t *testing.T) {
	e := newEdge(t)
	job, first := e.heldRun("default")
	second := e.run(job)
	quick, third := e.flow("quick", "default", `{"steps":[`+step("only", "")+`]}`)
	e.goesOn(func() bool { return e.Execution(t, third).Status.Final() }, "the third run is over")
	ids := func(query string) (of []string) {
		t.Helper()
		cursor := ""
		for {
			m := e.call("GET", flowRuns+"?limit=1"+query+cursor, "").want(200).json()
			for _, i := range m["items"].([]any) {
				of = append(of, i.(map[string]any)["id"].(string))
			}
			if m["nextCursor"] == nil {
				return of
			}
			cursor = "&cursor=" + m["nextCursor"].(string)
		}
	}
	all := []string{first, second, third}
	require.ElementsMatch(t, all, ids(""))
	for query, want := range map[string][]string{
		"&workflowId=" + job.ID: {first, second}, "&workflowId=" + quick.ID: {third}, "&phase=OPEN": {first, second},
		"&phase=CLOSED": {third}, "&phase=OPEN,CLOSED": all, "&phase=PAUSED,CANCELLING": nil, "&status=SUCCESS": {third},
		"&status=RUNNING": {first, second}, "&group=default": all, "&group=none": nil, "&workflowId=none": nil,
		"&workflowId=" + job.ID + "&phase=OPEN&status=RUNNING": {first, second}, "&to=2026-11-20T12:00:00Z": nil,
		"&workflowId=" + job.ID + "&phase=CLOSED": nil, "&from=2026-11-20T12:00:00Z": all,
	} {
		require.ElementsMatch(t, want, ids(query), query)
	}
	for query, field := range map[string]string{
		"phase=": "", "phase=DONE": "phase", "phase=OPEN,": "phase", "status=OPEN": "status", "from=x": "from",
		"cursor=%00": "cursor",
		"name=x":     "name", "limit=201": "limit",
	} {
		if field != "" {
			e.call("GET", flowRuns+"?"+query, "").wantField(422, field, "")
		}
	}
}
