package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/middleware"
	"github.com/platform-scheduler/platform-scheduler/api/permission"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/entity/workflow"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

// estate is the API with a job, a run that died and a group in each of three groups.
func estate(t *testing.T) (e *edge, jobs map[string]string) {
	e = newEdge(t)
	jobs = map[string]string{}
	for _, group := range []string{"mine", "shown", "theirs"} {
		e.call("POST", "/api/v1/groups", fmt.Sprintf(`{"name":%q}`, group)).want(201)
		job := e.call("POST", "/api/v1/jobs", fmt.Sprintf(`{"name":"a","group":%q,"jobType":"CUSTOM","jobClass":"noop"}`,
			group)).want(201).json()
		jobs[group] = job["id"].(string)
		e.die(jobs[group], "run-"+group)
		e.Write(t, func(ctx context.Context, tx repository.Tx) error {
			return tx.WorkflowRuns.AddRuns(ctx, []workflow.Run{{
				ID: "run-" + group, WorkflowID: jobs[group], Version: 1, CreateTime: now, UpdateTime: now,
			}})
		})
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
			ids := map[middleware.Object]string{
				middleware.Job: job, middleware.Execution: "run-" + group,
				middleware.Group: group,
			}
			path := strings.NewReplacer(":id", ids[r.Object], ":name", ids[r.Object], ":version", "1", ":backfillId", "none",
				":key", "some").Replace(r.Path)
			a := e.call(r.Method, path, `{}`, "Authorization", "Bearer "+boundToken)
			reads := r.Permission == permission.JobRead || r.Permission == permission.ExecutionRead
			switch {
			case group == "theirs":
				a.wantCode(404, "not_found")
				require.Equal(t, e.call(r.Method, strings.Replace(path, ids[r.Object], "no-such", 1), `{}`, "Authorization",
					"Bearer "+boundToken).status, a.status)
			case group == "shown" && !reads:
				a.wantCode(403, "forbidden")
			case group == "shown" && strings.Contains(path, "/steps/some/"): // the run is seen, and has no such step
				require.Contains(t, a.body, "no step has the id")
			case group == "shown":
				require.NotContains(t, []int{401, 403, 404}, a.status, "%s %s: %s", r.Method, path, a.body)
			}
		}
	}
}

func TestListsShowWhatOneMaySee(t *testing.T) {
	e, jobs := estate(t)
	as := as(boundToken)
	visible, all := []any{jobs["mine"], jobs["shown"]}, []any{jobs["mine"], jobs["shown"], jobs["theirs"]}
	for path, field := range map[string]string{
		"jobs": "id", "executions": "jobId", "dead-letters": "jobId",
		"dead-letters/causes": "jobId",
	} {
		seen := func(headers ...string) (ids []any) {
			for _, item := range e.call("GET", "/api/v1/"+path, "", headers...).want(200).json()["items"].([]any) {
				ids = append(ids, item.(map[string]any)[field])
			}
			return ids
		}
		require.ElementsMatch(t, visible, seen(as...), path)
		require.ElementsMatch(t, all, seen(), "who is bound to nothing sees all: %s", path)
	}
	require.Len(t, e.call("GET", "/api/v1/groups", "", as...).want(200).json()["items"], 2)
	require.Len(t, e.call("GET", "/api/v1/groups", "").want(200).json()["items"], 3)
}

func TestDefinitionsStayInOnesOwnGroups(t *testing.T) {
	e, jobs := estate(t)
	as := as(boundToken)
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
			e.call("PUT", "/api/v1/jobs/"+jobs["mine"], command, "Authorization", "Bearer "+token).
				wantCode(403, "commands_forbidden")
		}
	}
	made := e.call("GET", "/api/v1/jobs?jobType=COMMAND", "").want(200).
		json()["items"].([]any)[0].(map[string]any)["id"].(string)
	e.call("POST", "/api/v1/jobs/"+made+"/copy", `{"name":"y"}`, "Authorization", "Bearer "+operatorToken).
		wantCode(403, "commands_forbidden")
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
	require.Equal(t, map[string]string{
		jobs["theirs"]: "not_found", jobs["mine"]: "", jobs["shown"]: "forbidden",
		"none": "not_found",
	}, codes(a))
	require.EqualValues(t, []any{1.0, 3.0, false}, []any{a.json()["succeeded"], a.json()["failed"], a.json()["more"]})
	require.Equal(t, map[string]string{jobs["theirs"]: "", jobs["mine"]: "", jobs["shown"]: "", "none": "not_found"},
		codes(e.call("POST", "/api/v1/bulk/jobs/resume", ids)))
	a = e.call("POST", "/api/v1/bulk/jobs/trigger", ids)
	require.Equal(t, map[string]string{jobs["theirs"]: "", jobs["mine"]: "", jobs["shown"]: "", "none": "not_found"},
		codes(a))
	require.Len(t, a.json()["items"].([]any)[0].(map[string]any)["executionIds"], 1)
	for _, id := range jobs {
		require.Len(t, e.runs(id), 2, "the one that died, and another: an id that is given twice counts once")
	}
	codes(e.call("POST", "/api/v1/bulk/jobs/delete", ids))
	require.Empty(t, e.all())
}

func TestDeadLettersAreTreatedByCause(t *testing.T) {
	e, jobs := estate(t)
	e.keep(func(ctx context.Context, r repository.RecordWriter) error {
		other := letter("run-other", jobs["mine"])
		other.Reason = entity.ReasonTimeout
		return r.AddDeadLetters(ctx, []entity.DeadLetter{letter("run-a", jobs["mine"]), letter("run-b", jobs["mine"]), other})
	})
	causes := e.call("GET", "/api/v1/dead-letters/causes?reason=EXIT_CODE", "").want(200).json()["items"].([]any)
	require.Len(t, causes, 3, "one of each job, without those of another reason")
	cause := causes[0].(map[string]any)
	require.Equal(t, []any{jobs["mine"], "a", "EXIT_CODE", 3.0, "run-mine", "exit 3"},
		[]any{
			cause["jobId"], cause["jobName"], cause["reason"], cause["count"], cause["latestExecutionId"],
			cause["message"],
		})
	many := make([]string, 510)
	for i := range many {
		many[i] = fmt.Sprintf("many-%03d", i)
	}
	job := e.deadRuns(many...)
	e.rebuild(func(d *api.Deps) { d.Executions = shortPages{e.Executions} })
	body := `{"jobId":"` + job + `","reason":"EXIT_CODE"}`
	a := e.call("POST", "/api/v1/bulk/dead-letters/replay", body).want(200).json()
	require.Equal(t, []any{500.0, true}, []any{a["succeeded"], a["more"]}, "short pages are added up")
	a = e.call("POST", "/api/v1/bulk/dead-letters/replay", body).want(200).json()
	require.Equal(t, []any{10.0, false}, []any{a["succeeded"], a["more"]}, "those that were replayed wait no more")
	e.call("POST", "/api/v1/bulk/dead-letters/discard", `{"ids":["run-mine"]}`).want(200)
	require.Len(t, e.call("GET", "/api/v1/dead-letters?jobId="+jobs["mine"], "").want(200).json()["items"], 3)
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
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+strings.Join(many[:501], `","`)+`"]}`).
		wantField(422, "ids", "too_many")
}

// shortPages gives dead letters in pages that are shorter than asked for, as a store
// does that passes over the letters of other groups.
type shortPages struct{ api.ExecutionService }

func (s shortPages) DeadLetters(ctx context.Context, f repository.DeadLetterFilter,
	p repository.Page,
) ([]entity.DeadLetter, string, error) {
	p.Limit = min(p.Limit, 7)
	return s.ExecutionService.DeadLetters(ctx, f, p)
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
	require.EqualValues(t, 5, e.call("PUT", "/api/v1/groups/pay", `{"maxConcurrency":5}`, "If-Match",
		`"2"`).want(200).json()["maxConcurrency"])
	require.Equal(t, true, e.call("POST", "/api/v1/groups/pay/pause", "").want(200).json()["paused"])
	require.Equal(t, false, e.call("POST", "/api/v1/groups/pay/resume", "").want(200).json()["paused"])
	e.call("DELETE", "/api/v1/groups/pay", "").want(204)
	for _, c := range [][2]string{{"GET", ""}, {"PUT", ""}, {"DELETE", ""}, {"POST", "/pause"}, {"POST", "/resume"}} {
		e.call(c[0], "/api/v1/groups/pay"+c[1], "{}").wantCode(404, "not_found")
	}
}

// A list of a group holds only its rows, and nothing of a group that the caller may not see.
func TestListsOfRunsAreNarrowedToAGroup(t *testing.T) {
	e, jobs := estate(t)
	for _, path := range []string{"/api/v1/executions", "/api/v1/dead-letters", "/api/v1/dead-letters/causes"} {
		of := func(query string, as ...string) (found []any) {
			for _, item := range e.call("GET", path+query, "", as...).want(200).json()["items"].([]any) {
				found = append(found, item.(map[string]any)["jobId"])
			}
			return found
		}
		require.Greater(t, len(of("")), 1, path)
		for name, job := range jobs {
			require.Equal(t, []any{job}, of("?group="+name), path+name)
		}
		require.Equal(t, []any{jobs["mine"]}, of("?group=mine", as(boundToken)...), path)
		require.Empty(t, of("?group=theirs", as(boundToken)...), path)
		require.Empty(t, of("?group=none"), path)
	}
}

// A group narrows beside the other filters, and names nothing that the caller may not see.
func TestAGroupNarrowsBesideOtherFilters(t *testing.T) {
	e, jobs := estate(t)
	for group, job := range jobs {
		good := dead("good-"+group, job)
		good.Status, good.Reason = entity.StatusSuccess, ""
		e.put(good)
		e.keep(func(ctx context.Context, r repository.RecordWriter) error {
			late := letter("late-"+group, job)
			late.Reason = entity.ReasonTimeout
			return r.AddDeadLetters(ctx, []entity.DeadLetter{late})
		})
	}
	bound := as(boundToken)
	for _, c := range []struct {
		query string
		with  []string
		want  []any
	}{
		{"executions?group=mine", nil, []any{"run-mine", "good-mine"}},
		{"executions?group=mine&status=DEAD", nil, []any{"run-mine"}},
		{"executions?group=theirs&status=SUCCESS", nil, []any{"good-theirs"}},
		{"executions?group=none&status=DEAD", nil, nil},
		{"executions?group=mine&jobId=" + jobs["theirs"], nil, nil},
		{"executions?group=mine&status=SUCCESS", bound, []any{"good-mine"}},
		{"executions?group=shown&status=DEAD", bound, []any{"run-shown"}},
		{"executions?group=theirs", bound, nil},
		{"executions?group=theirs&status=DEAD", bound, nil},
		{"executions?status=DEAD", bound, []any{"run-mine", "run-shown"}},
		{"dead-letters?group=mine", nil, []any{"run-mine", "late-mine"}},
		{"dead-letters?group=theirs&reason=TIMEOUT", nil, []any{"late-theirs"}},
		{"dead-letters?group=none&reason=TIMEOUT", nil, nil},
		{"dead-letters?group=mine&jobId=" + jobs["theirs"], nil, nil},
		{"dead-letters?group=mine&reason=EXIT_CODE", bound, []any{"run-mine"}},
		{"dead-letters?group=shown&reason=TIMEOUT", bound, []any{"late-shown"}},
		{"dead-letters?group=theirs", bound, nil},
		{"dead-letters?group=theirs&reason=TIMEOUT", bound, nil},
		{"dead-letters?reason=TIMEOUT", bound, []any{"late-mine", "late-shown"}},
	} {
		var found []any
		for _, item := range e.call("GET", "/api/v1/"+c.query, "", c.with...).want(200).json()["items"].([]any) {
			found = append(found, item.(map[string]any)["id"])
		}
		require.ElementsMatch(t, c.want, found, "%s, bound: %t", c.query, c.with != nil)
	}
	for _, path := range []string{"executions", "dead-letters"} {
		e.call("GET", "/api/v1/"+path+"?group=mine", "", as(apiToken)...).wantCode(403, "forbidden")
	}
}
