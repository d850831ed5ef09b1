package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	wf "github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
)

func TestVerbsOnAWorkflowRun(t *testing.T) {
	e := newEdge(t)
	_, root := e.heldRun("default")
	at := flowRuns + "/" + root
	phase := func() any { return e.call("GET", at, "").want(200).json()["phase"] }
	require.Equal(t, root, e.call("POST", at+"/pause", "").want(202).json()["executionId"])
	require.Equal(t, "PAUSED", phase())
	e.call("POST", at+"/pause", "").want(202)
	e.call("POST", at+"/resume", "").want(202)
	require.Equal(t, "OPEN", phase())
	e.call("POST", at+"/cancel", "").want(202)
	e.goesOn(func() bool { return phase() == "CLOSED" }, "the run is closed")
	m := e.call("GET", at, "").want(200).json()
	require.Equal(t, "CANCELLED", m["status"])
	steps := e.stateOf(root, nil)
	require.Equal(t, []any{"CANCELLED", "RUN_CANCELLED"}, []any{steps["slow"]["state"], steps["slow"]["reason"]})
	require.Equal(t, []any{"SKIPPED", "RUN_CANCELLED"}, []any{steps["after"]["state"], steps["after"]["reason"]})
	require.Equal(t, "SUCCESS", steps["last"]["state"])
	e.call("POST", at+"/cancel", "").wantCode(409, "already_final")
	e.call("POST", at+"/pause", "").wantCode(409, "run_over")
	e.call("POST", at+"/steps/bad/repeat", "").want(409)
	e.call("POST", at+"/steps/slow/cancel", "").wantCode(409, "run_over")
	for _, verb := range []string{"cancel", "pause", "resume", "steps/bad/skip"} {
		e.call("POST", flowRuns+"/no-such/"+verb, "").wantCode(404, "not_found")
	}
	var kept []string
	for _, entry := range e.kept() {
		if strings.Contains(entry.Action, "workflow-runs") {
			kept = append(kept, fmt.Sprint(strings.TrimPrefix(entry.Action, "POST "+flowRuns+"/:id/"), " ", entry.Object == root,
				" ", entry.Status, entry.Changes))
		}
	}
	require.Equal(t, []string{
		"pause true 202", "pause true 202", "resume true 202", "cancel true 202", "cancel true 409", "pause true 409",
		`steps/:key/repeat true 409{"step":[null,"bad"]}`, `steps/:key/cancel true 409{"step":[null,"slow"]}`,
	}, kept)
}

func TestVerbsOnAHeldStep(t *testing.T) {
	for verb, want := range map[string][2]string{
		"repeat": {"SUCCESS", ""}, "skip": {"SKIPPED", "OPERATOR"}, "succeed": {"SUCCESS", "OPERATOR"},
	} {
		t.Run(verb, func(t *testing.T) {
			e := newEdge(t)
			_, root := e.heldRun("default")
			at := flowRuns + "/" + root + "/steps/"
			e.ends(nil)
			for _, wrong := range []string{"nobody", "bad~2", "bad[0]", "%20", "bad%2F", "a..b"} {
				a := e.call("POST", at+wrong+"/"+verb, "")
				require.Equal(t, 404, a.status, "%s: %s", wrong, a.body)
			}
			e.call("POST", at+"load/"+verb, "").want(409)
			e.call("POST", at+"after/"+verb, "").want(409)
			e.call("POST", at+"each[1]/"+verb, "").want(409)
			e.call("POST", at+"bad/cancel", "").wantCode(409, "step_held")
			e.call("POST", at+"bad/"+verb, "").want(202)
			steps := e.stateOf(root, map[string]string{"bad": want[0]})
			require.Equal(t, []any{2.0, want[1], false}, []any{
				steps["bad"]["generation"], steps["bad"]["reason"], steps["bad"]["held"],
			})
			e.call("POST", at+"bad/"+verb, "").want(409)
			e.call("POST", at+"slow/cancel", "").want(202)
			slow := e.stateOf(root, map[string]string{"slow": "CANCELLED"})["slow"]
			require.Equal(t, []any{"OPERATOR", true}, []any{slow["reason"], slow["held"]}, "told from an end by the run")
		})
	}
}

// With one slot, one of two steps waits.
func TestAWaitingStepIsSkipped(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(nil)
	job, root := e.flow("wait", "default", `{"steps":[`+
		`{"name":"pause","wait":{"forSec":3600}},`+step("slow", "")+`,`+step("next", `,"needs":[{"step":"pause","on":"ok"}]`)+
		`,`+step("slow-each", `,"forEach":{"items":[1,2,3],"maxParallel":1,"tolerate":{"count":2}}`)+`]}`)
	at := flowRuns + "/" + root + "/steps/"
	e.stateOf(root, map[string]string{"pause": "WAITING", "slow": "RUNNING", "slow-each": "RUNNING"})
	e.call("POST", at+"slow/skip", "").wantCode(409, "not_waiting")
	e.call("POST", at+"next/skip", "").wantCode(409, "step_not_decided")
	e.call("POST", at+"next/cancel", "").wantCode(409, "step_not_decided")
	e.call("POST", at+"slow-each[1]/cancel", "").wantCode(409, "step_not_started")
	e.call("POST", at+"slow-each[3]/cancel", "").want(404)
	e.call("POST", at+"pause/skip", "").want(202)
	steps := e.stateOf(root, map[string]string{"pause": "SKIPPED", "next": "SUCCESS"})
	require.Equal(t, "OPERATOR", steps["pause"]["reason"])
	e.goesOn(func() bool { return len(e.Script.Runs()) >= 3 }, "the item runs")
	e.call("POST", at+"slow-each[0]/cancel", "").want(202)
	e.goesOn(func() bool {
		row := e.Store.Executions
		found, err := row.ByIDs(t.Context(), []string{
			wf.ExecutionID(root, wf.StepID(job.ID, "slow-each"), wf.Key{Name: "slow-each", Item: 1, Generation: 1}),
		})
		require.NoError(t, err)
		return len(found) == 1 && found[0].Status == entity.StatusRunning
	}, "the next item runs")
	e.call("POST", at+"slow-each/cancel", "").want(202)
	e.stateOf(root, map[string]string{"slow-each": "CANCELLED"})
	e.call("POST", at+"slow-each/cancel", "").wantCode(409, "already_final")
}

// A run that cannot be decided about says so, and can be cancelled.
func TestARunThatCannotGoOnIsShown(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(nil)
	job := e.Add(t, flowOf("broken", `{"steps":[{"name":"a","custom":{"jobClass":"settle"},"needs":["b"]}]}`))
	root := e.Trigger(job.ID)[0]
	e.Runner.RunsReady(entity.SlotGeneral)
	e.goesOn(func() bool {
		runs, err := e.Store.WorkflowRuns(t.Context(), []string{root})
		require.NoError(t, err)
		return len(runs) == 1 && runs[0].Phase == wf.PhasePaused
	}, "the run is paused")
	m := e.call("GET", flowRuns+"/"+root, "").want(200).json()
	require.Equal(t, []any{"PAUSED", []any{}}, []any{m["phase"], m["steps"]})
	require.Contains(t, m["problem"], "the step a cannot need b")
	e.call("POST", flowRuns+"/"+root+"/resume", "").wantCode(409, "run_broken")
	e.call("POST", flowRuns+"/"+root+"/steps/a/skip", "").want(404)
	e.call("GET", flowRuns+"/"+root+"/steps", "").want(200)
	require.Empty(t, e.call("GET", "/api/v1/executions?runId="+root, "").want(200).json()["items"])
	e.call("POST", flowRuns+"/"+root+"/cancel", "").want(202)
}

// A step belongs to the group of its workflow, on each route that takes an execution.
func TestStepsAreOfTheGroupOfTheirWorkflow(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(map[string]entity.Outcome{"bad": entity.Failed(entity.ReasonError, "no")})
	roots, steps := map[string]string{}, map[string]string{}
	for _, group := range []string{"mine", "shown", "theirs"} {
		e.call("POST", "/api/v1/groups", fmt.Sprintf(`{"name":%q}`, group)).want(201)
		_, roots[group] = e.flow("flow", group, heldFlow())
		at := e.stateOf(roots[group], map[string]string{"bad": "FAILED", "slow": "RUNNING"})
		steps[group] = at["bad"]["executionId"].(string)
	}
	as := as(boundToken)
	for _, path := range []string{"", "/logs", "/attempts", "/last-success"} {
		for group, step := range steps {
			want := map[string]int{"mine": 200, "shown": 200, "theirs": 404}[group]
			e.call("GET", "/api/v1/executions/"+step+path, "", as...).want(want)
			e.call("GET", "/api/v1/executions/"+step+path, "").want(200)
		}
	}
	seen := func(path string) (ids []any) {
		for _, i := range e.call("GET", path, "", as...).want(200).json()["items"].([]any) {
			ids = append(ids, i.(map[string]any)["id"])
		}
		return ids
	}
	require.ElementsMatch(t, []any{roots["mine"], roots["shown"]}, seen(flowRuns))
	require.ElementsMatch(t, []any{roots["mine"], roots["shown"]}, seen(flowRuns+"?phase=OPEN"))
	require.ElementsMatch(t, []any{steps["mine"], steps["shown"]}, seen("/api/v1/executions?steps=true&status=FAILED"))
	require.Empty(t, seen("/api/v1/executions?steps=true&group=theirs"))
	require.Empty(t, seen("/api/v1/executions?runId="+roots["theirs"]))
	require.NotEmpty(t, seen("/api/v1/executions?runId="+roots["shown"]))
	require.Empty(t, seen(flowRuns+"?group=theirs"))
	for group, want := range map[string]int{"shown": 403, "theirs": 404} {
		for _, verb := range []string{
			"cancel", "pause", "resume", "steps/bad/repeat", "steps/bad/skip", "steps/slow/cancel",
		} {
			e.call("POST", flowRuns+"/"+roots[group]+"/"+verb, "", as...).want(want)
		}
		e.call("POST", "/api/v1/executions/"+steps[group]+"/cancel", "", as...).want(want)
	}
	e.call("POST", flowRuns+"/"+roots["mine"]+"/steps/bad/skip", "", as...).want(202)
	e.call("GET", "/api/v1/jobs/"+e.Execution(t, steps["mine"]).JobID, "").want(404)
	e.call("GET", "/api/v1/jobs/"+e.Execution(t, steps["mine"]).JobID+"/why", "").want(404)
}

func TestTheGraphOfAWorkflow(t *testing.T) {
	e := newEdge(t)
	job := e.Add(t, flowOf("drawn", `{"onStepFailure":"STOP","steps":[`+step("a", "")+`,`+
		step("b", `,"needs":["a",{"step":"c","on":["success","skipped"]}],"join":"ANY","tolerate":true`)+`,`+
		step("c", `,"when":"params.x == 1","forEach":{"items":[1],"maxParallel":4}`)+
		`,{"name":"d","job":{"name":"other","id":"0190a5e0-7c00-7000-8000-000000000001"},"finally":true}]}`))
	m := e.call("GET", "/api/v1/jobs/"+job.ID+"/graph", "").want(200).json()
	require.Equal(t, []any{job.ID, 1.0, "STOP", 86400.0}, []any{
		m["workflowId"], m["version"], m["onStepFailure"], m["holdSec"],
	})
	steps := m["steps"].([]any)
	a, b := steps[0].(map[string]any), steps[1].(map[string]any)
	c, d := steps[2].(map[string]any), steps[3].(map[string]any)
	require.Equal(t, map[string]any{
		"name": "a", "stepId": wf.StepID(job.ID, "a"), "kind": "custom", "needs": []any{}, "join": "ALL", "minSuccess": 0.0,
		"when": "", "tolerate": false, "finally": false, "forEach": nil, "job": nil,
	}, a)
	require.Equal(t, []any{
		map[string]any{"step": "a", "on": []any{"success"}},
		map[string]any{"step": "c", "on": []any{"success", "skipped"}},
	}, b["needs"])
	require.Equal(t, []any{"ANY", true}, []any{b["join"], b["tolerate"]})
	require.Equal(t, map[string]any{"maxParallel": 4.0, "maxItems": 10000.0}, c["forEach"])
	require.Equal(t, "params.x == 1", c["when"])
	require.Equal(t, []any{map[string]any{"id": "0190a5e0-7c00-7000-8000-000000000001", "name": "other"}, true, "job"},
		[]any{d["job"], d["finally"], d["kind"]})
	plain := e.create(encode(t, minimal()))["id"].(string)
	e.call("GET", "/api/v1/jobs/"+plain+"/graph", "").wantCode(409, "no_workflow")
	e.call("GET", "/api/v1/jobs/no-such/graph", "").wantCode(404, "not_found")
	e.call("GET", "/api/v1/jobs/"+job.ID+"/graph?version=1", "").want(200)
	e.call("GET", "/api/v1/jobs/"+job.ID+"/graph?version=7", "").wantField(422, "version", "unknown")
	for _, version := range []string{"0", "-1", "x", "1.5", "2147483648"} {
		e.call("GET", "/api/v1/jobs/"+job.ID+"/graph?version="+version, "").wantField(422, "version", "out_of_range")
	}
}

func TestWhyAStepStandsWhereItStands(t *testing.T) {
	e := newEdge(t)
	job, root := e.heldRun("default")
	why := func(step string) (code string, facts []string, text string) {
		t.Helper()
		m := e.call("GET", flowRuns+"/"+root+"/steps/"+step+"/why", "").want(200).json()
		for _, f := range m["facts"].([]any) {
			facts = append(facts, f.(map[string]any)["code"].(string)+" "+f.(map[string]any)["text"].(string))
		}
		return m["code"].(string), facts, m["explanation"].(string)
	}
	ended := "ended as success, at 2026-11-20 12:00:00Z"
	for step, want := range map[string][]string{
		"load": {"STEP_ENDED", "the step load ended as SUCCESS, at 2026-11-20 12:00:00Z", "STEP_NEEDS_NOTHING it needs no other step"},
		"slow": {
			"STEP_LIVE", "the step slow is RUNNING",
			"NEED_MET it asks for success of load, which " + ended + ": the need is met",
		},
		"none": {
			"STEP_ENDED", "the step none ended as SKIPPED, at 2026-11-20 12:00:00Z, CONDITION: the condition of the step did " +
				"not hold",
			"NEED_MET it asks for success of load, which " + ended + ": the need is met",
			`STEP_CONDITION it has the condition steps.load.status == "FAILED"`,
		},
		"bad": {
			"STEP_HELD", "the step bad failed and is held until 2026-11-21 12:00:00Z: repeat it, skip it or call it a success",
			"NEED_MET it asks for success of load, which " + ended + ": the need is met",
		},
		"after": {
			"STEP_NOT_DECIDED", "nothing is decided of the step after yet",
			"NEED_HELD it asks for success of bad, which failed and is held until 2026-11-21 12:00:00Z",
		},
		"last": {
			"STEP_NOT_DECIDED", "nothing is decided of the step last yet",
			"STEP_RUNS_LAST it runs last, whatever became of the others (finally)",
		},
	} {
		code, facts, text := why(step)
		require.Equal(t, want, append([]string{code, text}, facts...), step)
	}
	_, facts, _ := why("each")
	require.Contains(t, facts, "STEP_ITEMS of 3 items 3 succeeded, 0 failed, 0 live, and 0 did not run")
	unknown := e.call("GET", flowRuns+"/"+root+"/steps/nobody/why", "")
	unknown.wantCode(404, "not_found")
	require.Contains(t, unknown.body, `has no step \"nobody\" in the version of the run; its steps are load, `)
	require.Contains(t, e.call("POST", flowRuns+"/"+root+"/steps/nobody/skip", "").want(404).body, "its steps are load, ")
	e.call("GET", flowRuns+"/none/steps/load/why", "").wantCode(404, "not_found")
	e.call("GET", flowRuns+"/"+root+"/steps/load/why?timeZone=Mars/Base", "").wantField(422, "timeZone", "unknown_time_zone")
	require.Contains(t, e.call("GET", flowRuns+"/"+root+"/steps/load/why?timeZone=Asia/Shanghai", "").body, "20:00:00+08:00")

	e.call("POST", flowRuns+"/"+root+"/pause", "").want(202)
	var codes []string
	m := e.call("GET", "/api/v1/jobs/"+job.ID+"/why", "").want(200).json()
	require.Equal(t, "RUNNING", m["verdict"])
	for _, f := range m["facts"].([]any) {
		codes = append(codes, f.(map[string]any)["code"].(string))
	}
	for _, code := range []string{"WORKFLOW_RUN_PAUSED", "STEP_LIVE", "STEP_HELD"} {
		require.Contains(t, codes, code)
	}
	require.NotContains(t, codes, "STEP_ENDED", "what is over is in nobody's way")
}

// openFacts are the facts of why of a workflow whose latest run is open, behind that it runs.
func (e *edge) openFacts(job string) (facts []string) {
	e.t.Helper()
	m := e.call("GET", "/api/v1/jobs/"+job+"/why", "").want(200).json()
	require.Equal(e.t, "RUNNING", m["verdict"])
	for _, f := range m["facts"].([]any) {
		facts = append(facts, f.(map[string]any)["code"].(string)+" "+f.(map[string]any)["text"].(string))
	}
	require.Contains(e.t, facts[0], "LATEST_RUN_RUNS")
	return facts[1:]
}

func TestWhyAnOpenRunNamesTheStepsThatItWaitsFor(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(map[string]entity.Outcome{"bad": entity.Failed(entity.ReasonError, "no")})
	job, root := e.flow("release", "default", `{"onStepFailure":"HOLD","steps":[`+strings.Join([]string{
		step("load", ""), step("slow", `,"needs":["load"]`), `{"name":"rest","wait":{"forSec":3600}}`,
		`{"name":"ask","needs":["load"],"approval":{"text":"go?","timeoutSec":7200}}`, step("bad", `,"needs":["load"]`),
		step("after", `,"needs":["bad"]`), step("last", `,"finally":true`),
	}, ",")+`]}`)
	e.stateOf(root, map[string]string{
		"load": "SUCCESS", "slow": "RUNNING", "rest": "WAITING", "ask": "WAITING", "bad": "FAILED", "after": "NOT_DECIDED",
	})
	require.Equal(t, []string{
		"STEP_HELD the step bad failed and is held until 2026-11-21 12:00:00Z: repeat it, skip it or call it a success",
		"STEP_APPROVAL the step ask waits for people to approve it, until 2026-11-20 14:00:00Z",
		"STEP_LIVE the step slow is RUNNING",
		"STEP_LIVE the step rest is WAITING, it waits: its time, or that of its next attempt, has not come, " +
			"until 2026-11-20 13:00:00Z",
		"STEPS_WAIT 2 steps wait until others have ended: after, last",
	}, e.openFacts(job.ID), "people are needed first")
}

func TestWhyAnOpenRunNamesSomeOfManySteps(t *testing.T) {
	e := newEdge(t)
	e.Start(t)
	e.ends(map[string]entity.Outcome{"bad": entity.Failed(entity.ReasonError, "no")})
	var steps []string
	for i := range 22 {
		steps = append(steps, step(fmt.Sprintf("slow%d", i), ""), step(fmt.Sprintf("after%d", i), `,"needs":["bad"]`))
	}
	steps = append(steps, step("bad", ""))
	job, root := e.flow("wide", "default", `{"onStepFailure":"HOLD","steps":[`+strings.Join(steps, ",")+`]}`)
	e.stateOf(root, map[string]string{"bad": "FAILED"})
	facts := e.openFacts(job.ID)
	require.Len(t, facts, 22)
	require.Contains(t, facts[0], "STEP_HELD the step bad", "it stands last in the definition")
	require.Equal(t, "MORE_STEPS and 3 steps more", facts[20])
	require.Contains(t, facts[21], "STEPS_WAIT 22 steps wait until others have ended: after0, after1, ")
	require.Contains(t, facts[21], ", after19, and 2 others")
}
