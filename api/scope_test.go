package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// estate is the API with a job, a run and a group in each of three groups.
func estate(t *testing.T) (e *edge, jobs map[string]string) {
	e = newEdge(t)
	jobs = map[string]string{}
	for _, group := range []string{"mine", "shown", "theirs"} {
		job := e.call("POST", "/api/v1/jobs", fmt.Sprintf(`{"name":"a","group":%q,"jobType":"CUSTOM","jobClass":"noop"}`, group)).want(201).json()
		jobs[group] = job["id"].(string)
		e.executions.rows = append(e.executions.rows, &entity.Execution{
			ID: "run-" + group, JobID: jobs[group], NodeID: group, Status: entity.StatusDead,
			Trigger: entity.TriggerManual, ScheduledTime: now, CreateTime: now, UpdateTime: now,
		})
		e.executions.letters = append(e.executions.letters, entity.DeadLetter{ExecutionID: "run-" + group, JobID: jobs[group], Reason: entity.ReasonExitCode, CreateTime: now})
		e.call("POST", "/api/v1/groups", fmt.Sprintf(`{"name":%q}`, group)).want(201)
	}
	return e, jobs
}

func TestWhatOneMayNotSeeDoesNotExist(t *testing.T) {
	e, jobs := estate(t)
	for _, r := range e.router.Routes() {
		if r.Object == middleware.Undeclared || r.Object == middleware.Unbound || r.Object == middleware.Everything {
			continue
		}
		for group, job := range jobs {
			ids := map[middleware.Object]string{middleware.Job: job, middleware.Execution: "run-" + group, middleware.Group: group}
			path := strings.NewReplacer(":id", ids[r.Object], ":name", ids[r.Object], ":version", "1", ":backfillId", "none").Replace(r.Path)
			a := e.call(r.Method, path, `{}`, "Authorization", "Bearer "+boundToken)
			reads := r.Permission == permission.JobRead || r.Permission == permission.ExecutionRead
			switch {
			case group == "theirs":
				a.wantCode(404, "not_found")
				require.Equal(t, e.call(r.Method, strings.Replace(path, ids[r.Object], "no-such", 1), `{}`, "Authorization", "Bearer "+boundToken).status, a.status)
			case group == "shown" && !reads:
				a.wantCode(403, "forbidden")
			case group == "shown":
				require.NotContains(t, []int{401, 403, 404}, a.status, "%s %s: %s", r.Method, path, a.body)
			}
		}
	}
}

func TestListsShowWhatOneMaySee(t *testing.T) {
	e, _ := estate(t)
	as := []string{"Authorization", "Bearer " + boundToken}
	visible := []string{"mine", "shown"}
	e.call("GET", "/api/v1/jobs", "", as...).want(200)
	require.Equal(t, visible, e.jobs.filter.Groups)
	e.call("GET", "/api/v1/executions", "", as...).want(200)
	require.Equal(t, visible, e.executions.filter.Groups)
	for _, path := range []string{"/api/v1/dead-letters", "/api/v1/dead-letters/causes"} {
		e.executions.letterFilter.Groups = nil
		e.call("GET", path, "", as...).want(200)
		require.Equal(t, visible, e.executions.letterFilter.Groups, path)
	}
	require.Len(t, e.call("GET", "/api/v1/groups", "", as...).want(200).json()["items"], 2)
	require.Len(t, e.call("GET", "/api/v1/groups", "").want(200).json()["items"], 3)
	e.call("GET", "/api/v1/jobs", "").want(200)
	require.Nil(t, e.jobs.filter.Groups, "who is bound to nothing sees all")
}

func TestDefinitionsStayInOnesOwnGroups(t *testing.T) {
	e, jobs := estate(t)
	as := []string{"Authorization", "Bearer " + boundToken}
	body := func(group string) string {
		return fmt.Sprintf(`{"name":"b","group":%q,"jobType":"CUSTOM","jobClass":"noop","version":1}`, group)
	}
	e.call("POST", "/api/v1/jobs", body("mine"), as...).want(201)
	mine := "/api/v1/jobs/" + jobs["mine"]
	for _, group := range []string{"shown", "theirs", "default", "new"} {
		e.call("POST", "/api/v1/jobs", body(group), as...).wantCode(403, "forbidden")
		e.call("PUT", mine, body(group), as...).wantCode(403, "forbidden")
		e.call("POST", mine+"/copy", fmt.Sprintf(`{"name":"c","group":%q}`, group), as...).wantCode(403, "forbidden")
	}
	e.call("POST", "/api/v1/groups", `{"name":"new"}`, as...).wantCode(403, "forbidden")
	e.call("POST", "/api/v1/jobs/pause", "", as...).wantCode(403, "forbidden")
	e.call("POST", "/api/v1/jobs/pause", "", "Authorization", "Bearer "+operatorToken).want(200)
}

func TestCommandsNeedARightOfTheirOwn(t *testing.T) {
	e, jobs := estate(t)
	command := `{"name":"x","group":"mine","jobType":"COMMAND","jobData":{"command":["true"]},"version":1}`
	for token, want := range map[string]int{adminToken: 201, operatorToken: 403, boundToken: 403} {
		a := e.call("POST", "/api/v1/jobs", command, "Authorization", "Bearer "+token).want(want)
		if want == 403 {
			a.wantCode(403, "commands_forbidden")
			e.call("PUT", "/api/v1/jobs/"+jobs["mine"], command, "Authorization", "Bearer "+token).wantCode(403, "commands_forbidden")
		}
	}
	made := e.jobs.order[len(e.jobs.order)-1]
	e.call("POST", "/api/v1/jobs/"+made+"/copy", `{"name":"y"}`, "Authorization", "Bearer "+operatorToken).wantCode(403, "commands_forbidden")
	e.call("POST", "/api/v1/jobs/"+made+"/trigger", "", "Authorization", "Bearer "+operatorToken).want(202)
}

func TestABulkActionHasAResultForEach(t *testing.T) {
	e, jobs := estate(t)
	ids := fmt.Sprintf(`{"ids":[%q,%q,%q,"none",%q]}`, jobs["theirs"], jobs["mine"], jobs["shown"], jobs["mine"])
	codes := func(a answer) map[string]string {
		out := map[string]string{}
		for _, item := range a.want(200).json()["items"].([]any) {
			m := item.(map[string]any)
			code, _ := m["code"].(string)
			require.Equal(t, code == "", m["ok"])
			out[m["id"].(string)] = code
		}
		return out
	}
	a := e.call("POST", "/api/v1/bulk/jobs/pause", ids, "Authorization", "Bearer "+boundToken)
	require.Equal(t, map[string]string{jobs["theirs"]: "not_found", jobs["mine"]: "", jobs["shown"]: "forbidden", "none": "not_found"}, codes(a))
	require.EqualValues(t, []any{1.0, 3.0, false}, []any{a.json()["succeeded"], a.json()["failed"], a.json()["more"]})
	require.Equal(t, map[string]string{jobs["theirs"]: "", jobs["mine"]: "", jobs["shown"]: "", "none": "not_found"}, codes(e.call("POST", "/api/v1/bulk/jobs/resume", ids)))
	a = e.call("POST", "/api/v1/bulk/jobs/trigger", ids)
	require.Equal(t, 4, e.jobs.triggers, "the fake triggers what does not exist, too")
	require.Len(t, a.json()["items"].([]any)[0].(map[string]any)["executionIds"], 1)
	codes(e.call("POST", "/api/v1/bulk/jobs/delete", ids))
	require.Empty(t, e.jobs.jobs)
}

func TestDeadLettersAreTreatedByCause(t *testing.T) {
	e, _ := estate(t)
	cause := e.call("GET", "/api/v1/dead-letters/causes?reason=EXIT_CODE", "").want(200).json()["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"job-1", "name of job-1", "EXIT_CODE", 2.0, "run-1", "exit 3"},
		[]any{cause["jobId"], cause["jobName"], cause["reason"], cause["count"], cause["latestExecutionId"], cause["message"]})
	require.Equal(t, entity.ReasonExitCode, e.executions.letterFilter.Reason)
	e.executions.endless = 700
	a := e.call("POST", "/api/v1/bulk/dead-letters/replay", `{"jobId":"job-1","reason":"EXIT_CODE"}`).want(200).json()
	require.Equal(t, []any{500.0, true}, []any{a["succeeded"], a["more"]}, "short pages are added up")
	e.executions.endless = 0
	a = e.call("POST", "/api/v1/bulk/dead-letters/replay", `{"jobId":"job-1","reason":"EXIT_CODE"}`).want(200).json()
	require.Equal(t, []any{3.0, false}, []any{a["succeeded"], a["more"]})
	require.True(t, e.executions.letterFilter.Waiting)
	e.call("POST", "/api/v1/bulk/dead-letters/discard", `{"ids":["run-mine"]}`).want(200)
	require.Len(t, e.executions.letters, 2)
	for body, code := range map[string]string{
		`{}`: "required", `{"ids":[]}`: "required", `{"ids":["a"],"jobId":"b"}`: "conflict", `{"ids":"a"}`: "wrong_type",
		`{"ids":[` + strings.Repeat(`"a",`, 3) + `1]}`: "wrong_type",
	} {
		e.call("POST", "/api/v1/bulk/dead-letters/replay", body).want(422)
		_, fields := e.call("POST", "/api/v1/bulk/dead-letters/replay", body).problem()
		require.Contains(t, fields, firstField(fields))
		require.Equal(t, code, fields[firstField(fields)], body)
	}
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"jobId":"b"}`).want(422)
	many := make([]string, 501)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("job-", i))
	}
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":[`+strings.Join(many, ",")+`]}`).wantField(422, "ids", "too_many")
}

func firstField(fields map[string]string) string {
	for name := range fields {
		return name
	}
	return ""
}

func TestGroupsOverTheAPI(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/groups", `{"name":"pay","maxConcurrency":3}`).want(201)
	require.Equal(t, "/api/v1/groups/pay", a.header.Get("Location"))
	require.Equal(t, `"1"`, a.header.Get("ETag"))
	e.call("POST", "/api/v1/groups", `{"name":"pay"}`).wantCode(409, "name_taken")
	e.call("POST", "/api/v1/groups", `{"name":"a b","maxConcurrency":-1}`).wantField(422, "name", "")
	e.call("PUT", "/api/v1/groups/pay", `{"name":"other"}`).wantField(422, "name", "unchangeable")
	e.call("PUT", "/api/v1/groups/pay", `{"maxConcurrency":5,"version":7}`).wantCode(409, "stale_version")
	e.call("PUT", "/api/v1/groups/pay", `{"maxConcurrency":5}`, "If-Match", `"7"`).wantCode(412, "version_mismatch")
	back := e.call("GET", "/api/v1/groups/pay", "").want(200).body
	e.call("PUT", "/api/v1/groups/pay", back).want(200)
	require.EqualValues(t, 5, e.call("PUT", "/api/v1/groups/pay", `{"maxConcurrency":5}`, "If-Match", `"2"`).want(200).json()["maxConcurrency"])
	require.Equal(t, true, e.call("POST", "/api/v1/groups/pay/pause", "").want(200).json()["paused"])
	require.Equal(t, false, e.call("POST", "/api/v1/groups/pay/resume", "").want(200).json()["paused"])
	e.call("DELETE", "/api/v1/groups/pay", "").want(204)
	for _, c := range [][2]string{{"GET", ""}, {"PUT", ""}, {"DELETE", ""}, {"POST", "/pause"}, {"POST", "/resume"}} {
		e.call(c[0], "/api/v1/groups/pay"+c[1], "{}").wantCode(404, "not_found")
	}
}
