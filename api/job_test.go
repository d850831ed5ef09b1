package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/apperror"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
)

const fullJob = `{"name":"settle orders","description":"d","group":"pay","labels":{"team":"A"},"owner":"ann","jobType":"CUSTOM","jobClass":"settle",
	"jobData":{"b":1,"a":[1.50,"<&>",null,{"x":9007199254740993}]},
	"schedule":{"kind":"CRON","cronExpression":"0 0/5 * * * ?","dialect":"QUARTZ","intervalMs":0,"at":null,"timeZone":"Asia/Shanghai",
		"startTime":"2026-11-20T21:33:00+08:00","endTime":null,"jitterMs":500,"misfirePolicy":"FIRE_ALL","misfireThresholdSec":0,
		"misfireWindowSec":3600,"misfireMaxFires":7,"dstGap":"SKIP","dstOverlap":"BOTH"},
	"priority":10,"timeoutSec":60,"startDeadlineSec":30,
	"retryPolicy":{"maxRetries":3,"backoff":"EXPONENTIAL","intervalMs":100,"maxIntervalMs":1000,"jitter":0,"noRetryOn":["EXIT_CODE"]},
	"overlapPolicy":"SERIAL","maxConcurrency":2,"maxQueued":0,"shardCount":4,"broadcast":false,
	"routing":{"strategy":"RANDOM","labels":{"zone":"a"}},"onNodeLoss":"FAIL"}`

func (e *edge) create(body string) map[string]any {
	e.t.Helper()
	return e.call("POST", "/api/v1/jobs", body).want(201).json()
}

func TestCreateReadsEveryField(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/jobs", fullJob).want(201)
	m := a.json()
	require.Equal(t, "/api/v1/jobs/"+m["id"].(string), a.header.Get("Location"))
	require.Equal(t, `"1"`, a.header.Get("ETag"))
	require.Equal(t, "ENABLED", m["status"])

	var sent map[string]any
	require.NoError(t, json.Unmarshal([]byte(fullJob), &sent))
	sent["schedule"].(map[string]any)["startTime"] = "2026-11-20T13:33:00.000Z"
	for name, value := range sent {
		require.Equal(t, value, m[name], name)
	}
	require.Contains(t, a.body, `"jobData":{"b":1,"a":[1.50,`, "order and digits are kept")
	require.Contains(t, a.body, `9007199254740993`)
	require.Equal(t, []any{"2026-11-20T13:35:00.000Z", nil, "2026-11-20T12:00:00.000Z"},
		[]any{m["nextFireTime"], m["lastFireTime"], m["createTime"]})
}

func TestWhatIsAbsentIsDefault(t *testing.T) {
	e := newEdge(t)
	m := e.create(encode(t, minimal()))
	require.Equal(t, map[string]any{}, m["labels"])
	require.Equal(t, map[string]any{}, m["jobData"])
	for name, want := range map[string]any{
		"group": "default", "priority": 5.0, "maxQueued": 100.0, "shardCount": 1.0, "overlapPolicy": "PARALLEL",
		"onNodeLoss": "RETRY",
		"timeoutSec": 0.0, "maxConcurrency": 0.0, "broadcast": false, "description": "", "owner": "",
	} {
		require.Equal(t, want, m[name], name)
	}
	require.Equal(t, map[string]any{
		"maxRetries": 0.0, "backoff": "FIXED", "intervalMs": 1000.0, "maxIntervalMs": 60000.0,
		"jitter": 0.1, "noRetryOn": []any{},
	}, m["retryPolicy"])
	require.Equal(t, map[string]any{"strategy": "ANY", "labels": map[string]any{}}, m["routing"])
	require.Equal(t, map[string]any{
		"kind": "NONE", "cronExpression": "", "dialect": "QUARTZ", "intervalMs": 0.0, "at": nil, "timeZone": "UTC",
		"startTime": nil, "endTime": nil,
		"jitterMs": 0.0, "misfirePolicy": "FIRE_ONCE", "misfireThresholdSec": 60.0, "misfireWindowSec": 31536000.0,
		"misfireMaxFires": 1000.0,
		"dstGap":          "NEXT_VALID", "dstOverlap": "FIRST",
	}, m["schedule"])

	nulls := e.create(`{"name":"n","jobType":"CUSTOM","jobClass":"noop","schedule":null,"priority":null,"labels":null,"retryPolicy":null,"jobData":null}`)
	for _, name := range []string{"schedule", "priority", "labels", "retryPolicy", "jobData"} {
		require.Equal(t, m[name], nulls[name], "null is absent: %s", name)
	}
	cron := e.create(encode(t,
		minimal().with(fields{"name": "cron", "schedule": fields{"cronExpression": "0 0 0 * * ?"}})))
	require.Equal(t, "CRON", cron["schedule"].(map[string]any)["kind"], "a schedule without kind is of the first kind")
	slow := e.create(encode(t, minimal().with(fields{"name": "slow", "retryPolicy": fields{"intervalMs": 120_000}})))
	require.Equal(t, 120_000.0, slow["retryPolicy"].(map[string]any)["maxIntervalMs"],
		"an unnamed cap does not forbid a longer wait")
}

// CRON is the former name of COMMAND: it is taken, and never shown.
func TestCronIsTakenForCommand(t *testing.T) {
	e := newEdge(t)
	e.create(encode(t, minimal()))
	for i, name := range []string{"COMMAND", "CRON"} {
		m := e.create(`{"name":"n ` + fmt.Sprint(i) + `","jobType":"` + name + `","jobData":{"command":["true"]}}`)
		require.Equal(t, "COMMAND", m["jobType"])
		items := e.call("GET", "/api/v1/jobs?jobType="+name, "").want(200).json()["items"].([]any)
		require.Len(t, items, i+1)
		for _, item := range items {
			require.Equal(t, "COMMAND", item.(map[string]any)["jobType"])
		}
	}
}

func TestCreateDisabled(t *testing.T) {
	e := newEdge(t)
	m := e.create(encode(t, minimal().with(fields{"enabled": false})))
	require.Equal(t, "CREATED", m["status"])
	e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"enabled": "no"}))).wantField(422, "enabled",
		"wrong_type")
}

// whatGetGives is the job as read, with the path to edit it.
func (e *edge) whatGetGives(body string) (path, read string) {
	e.t.Helper()
	path = "/api/v1/jobs/" + e.create(body)["id"].(string)
	return path, e.call("GET", path, "").want(200).body
}

func TestWhatGetGivesPutTakes(t *testing.T) {
	e := newEdge(t)
	for _, body := range []string{fullJob, encode(t, minimal())} {
		path, read := e.whatGetGives(body)
		a := e.call("PUT", path, read).want(200)
		require.Equal(t, `"2"`, a.header.Get("ETag"))
		var before, after map[string]any
		require.NoError(t, json.Unmarshal([]byte(read), &before))
		require.NoError(t, json.Unmarshal([]byte(a.body), &after))
		require.EqualValues(t, 2, after["version"])
		delete(before, "version")
		delete(after, "version")
		require.Equal(t, before, after)
		e.call("DELETE", path, "").want(204) // its name is free again
		e.call("POST", "/api/v1/jobs", read).want(201)
	}
}

func TestPutReplaces(t *testing.T) {
	e := newEdge(t)
	path, _ := e.whatGetGives(fullJob)
	m := e.call("PUT", path, encode(t, minimal().with(fields{"version": 1}))).want(200).json()
	require.Equal(t, "pay", m["group"], "a job stays in its group")
	require.EqualValues(t, 5, m["priority"])
	e.call("PUT", path, encode(t, minimal().with(fields{"version": 2, "enabled": true}))).wantField(422, "enabled",
		"unknown_field")
}

func TestAJobStaysInItsGroup(t *testing.T) {
	e := newEdge(t)
	path, _ := e.whatGetGives(encode(t, minimal().with(fields{"group": "pay"})))
	a := e.call("PUT", path, encode(t, minimal().with(fields{"group": "risk", "version": 1})))
	a.wantField(422, "group", "unchangeable")
	require.Contains(t, a.body, "copy the job")
	e.call("PUT", path, encode(t, minimal().with(fields{"group": "default", "version": 1}))).wantField(422, "group",
		"unchangeable")
	for i, group := range []any{"pay", nil} {
		require.Equal(t, "pay",
			e.call("PUT", path, encode(t, minimal().with(fields{"group": group, "version": i + 1}))).want(200).json()["group"])
	}
	id := path[strings.LastIndex(path, "/")+1:]
	e.Change(t, id, func(j *entity.Job) { j.Group = "risk" }) // as if it had changed its group by a former release
	require.Equal(t, "risk", e.call("POST", path+"/versions/1/restore", `{"version":3}`).want(200).json()["group"])
}

func TestEditsCarryTheVersion(t *testing.T) { // 122
	e := newEdge(t)
	path, _ := e.whatGetGives(encode(t, minimal()))
	edit := func(version any) string { return encode(t, minimal().with(fields{"version": version})) }

	e.call("PUT", path, encode(t, minimal())).wantField(422, "version", "required")
	e.call("PUT", path, edit(nil)).wantField(422, "version", "required")
	e.call("PUT", path, edit(0)).wantField(422, "version", "out_of_range")
	e.call("PUT", path, edit("1")).wantField(422, "version", "wrong_type")
	e.call("PUT", path, edit(1)).want(200)
	e.call("PUT", path, edit(1)).wantCode(409, "stale_version")

	for _, tag := range []string{`"1"`, `W/"1"`, `"x"`, `"0"`, `"-2"`, `"1","2"`, `"99999999999999999999"`} {
		e.call("PUT", path, encode(t, minimal()), "If-Match", tag).wantCode(412, "version_mismatch")
	}
	e.call("PUT", path, encode(t, minimal()), "If-Match", `"2"`).want(200)
	e.call("PUT", path, encode(t, minimal()), "If-Match", `*`).want(200)
	e.call("PUT", path, edit(3), "If-Match", `"4"`).wantCode(409, "stale_version")
	e.call("DELETE", path, "", "If-Match", `"3"`).wantCode(412, "version_mismatch")
	e.call("DELETE", path, "", "If-Match", `"4"`).want(204)
	e.call("DELETE", path, "").wantCode(404, "not_found")
}

func TestAPastScheduleIsTheServicesToJudgeOnEdits(t *testing.T) {
	e := newEdge(t)
	past := minimal().with(fields{"version": 1, "schedule": fields{"kind": "ONCE", "at": "2020-01-01T00:00:00Z"}})
	path, _ := e.whatGetGives(encode(t, minimal()))
	e.call("PUT", path, encode(t, past)).wantField(422, "schedule.at", "in_the_past")
	jobs := e.failingJobs()
	jobs.err = apperror.Conflict("asked", "the service was asked")
	e.call("PUT", path, encode(t, past)).wantCode(409, "asked")
	jobs.err = nil
	a := e.call("PUT", path, encode(t, past.with(fields{"priority": 99})))
	a.wantField(422, "schedule.at", "in_the_past")
	a.wantField(422, "priority", "out_of_range")
}

func TestTheExecutorsFindingsJoinTheOthers(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/jobs", `{"name":"n","jobType":"HTTP","jobData":{},"priority":"x"}`)
	a.wantField(422, "jobData.url", "required")
	a.wantField(422, "priority", "wrong_type")
}

func TestListsAreReadPageByPage(t *testing.T) {
	e := newEdge(t)
	for i := range 5 {
		e.create(encode(t, minimal().with(fields{"name": fmt.Sprint("job ", i)})))
		e.Clock.Advance(time.Millisecond) // ids are ordered by it
	}
	var names []any
	cursor := ""
	for range 3 {
		m := e.call("GET", "/api/v1/jobs?limit=2&cursor="+cursor, "").want(200).json()
		for _, item := range m["items"].([]any) {
			names = append(names, item.(map[string]any)["name"])
		}
		if m["nextCursor"] == nil {
			break
		}
		cursor = m["nextCursor"].(string)
	}
	require.Equal(t, []any{"job 4", "job 3", "job 2", "job 1", "job 0"}, names)
	require.JSONEq(t, `{"items":[],"nextCursor":null}`, newEdge(t).call("GET", "/api/v1/jobs", "").want(200).body)

	for i := range 46 {
		e.create(encode(t, minimal().with(fields{"name": fmt.Sprint("more ", i)})))
	}
	require.Len(t, e.call("GET", "/api/v1/jobs", "").want(200).json()["items"], 50, "a page that names no limit")
}

func TestListsAreFiltered(t *testing.T) {
	e := newEdge(t)
	call := fields{
		"name": "the a b of it", "group": "g", "jobType": "HTTP", "jobClass": "",
		"jobData": fields{"url": "http://h"},
	}
	wanted := e.create(encode(t, call))["id"].(string)
	e.call("POST", "/api/v1/jobs/"+wanted+"/pause", "").want(200)
	for i, other := range []fields{
		{"name": "a c"},
		{"group": "h"},
		{"jobType": "CUSTOM", "jobClass": "noop", "jobData": fields{}},
		{},
	} {
		id := e.create(encode(t, call.with(fields{"name": fmt.Sprint("a b ", i)}).with(other)))["id"].(string)
		if len(other) > 0 {
			e.call("POST", "/api/v1/jobs/"+id+"/pause", "").want(200)
		}
	}
	items := e.call("GET", "/api/v1/jobs?name=a%20b&status=PAUSED&jobType=HTTP&group=g", "").want(200).
		json()["items"].([]any)
	require.Len(t, items, 1)
	require.Equal(t, wanted, items[0].(map[string]any)["id"])
}

func TestBadQueries(t *testing.T) {
	e := newEdge(t)
	for query, field := range map[string]string{
		"name=a&name=b": "name", "name=%00": "name", "name=%ff": "name", "name=%zz": "query", "cursor=%0d%0aX": "cursor",
		"cursor=<x>": "cursor", "Limit=1": "Limit", "limit=1&a=b": "a",
	} {
		e.call("GET", "/api/v1/jobs?"+query, "").wantField(422, field, "")
	}
	for query, field := range map[string]string{
		"from=yesterday": "from", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "to", "to=0001-01-01T00:00:00Z": "to",
	} {
		e.call("GET", "/api/v1/executions?"+query, "").wantField(422, field, "")
		e.call("GET", "/api/v1/jobs/x/fires?"+query, "").wantField(422, field, "")
	}
	for _, count := range []string{"0", "1001", "x"} {
		e.call("GET", "/api/v1/jobs/x/next-fire-times?count="+count, "").wantField(422, "count", "out_of_range")
	}
}

func TestTrigger(t *testing.T) {
	e := newEdge(t)
	path, runs := e.trigger("x")
	a := e.call("POST", path, "").want(202)
	require.JSONEq(t, `{"executionIds":["`+runs()[0].ID+`"]}`, a.body)
	require.Equal(t, entity.TriggerManual, runs()[0].Trigger)

	a = e.call("POST", path, `{"params":{"day":"2026-11-20"},"scheduledTime":"2026-11-20T00:00:00.000Z","delaySec":5}`).
		want(202)
	run := e.Execution(t, a.json()["executionIds"].([]any)[0].(string))
	require.Equal(t, `{"day":"2026-11-20"}`, run.Params)
	require.Equal(t, now.Add(5*time.Second), run.DueTime)
	require.Equal(t, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), run.ScheduledTime)

	e.call("POST", path, `{"params":[],"delaySec":-1,"scheduledTime":"x","executor":"http://evil"}`).
		wantField(422, "executor", "unknown_field")
	for body, field := range map[string]string{
		`{"params":[]}`: "params", `{"params":"x"}`: "params", `{"delaySec":-1}`: "delaySec", `{"delaySec":1e9}`: "delaySec",
		`{"scheduledTime":1}`: "scheduledTime",
		fmt.Sprintf(`{"params":{"a":%q}}`, string(make([]byte, 0, 1))+fmt.Sprintf("%070000d", 0)): "params",
	} {
		e.call("POST", path, body).wantField(422, field, "")
	}
}

func TestPreview(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/schedules/preview",
		`{"schedule":{"cronExpression":"0 0 0 * * ?","misfirePolicy":"SKIP"},"from":"2026-12-01T00:00:00Z","count":1000}`).
		want(200)
	times := a.json()["fireTimes"].([]any)
	require.Len(t, times, 1000)
	require.Equal(t, []any{"2026-12-02T00:00:00.000Z", "2026-12-03T00:00:00.000Z"}, times[:2],
		"after the given time, in UTC")
	require.Equal(t, "at 00:00 every day", a.json()["description"])
	times = e.call("POST", "/api/v1/schedules/preview", `{"schedule":{"cronExpression":"0 0 0 * * ?"}}`).want(200).
		json()["fireTimes"].([]any)
	require.Equal(t, "2026-11-21T00:00:00.000Z", times[0], "from now on")

	for body, field := range map[string]string{
		`{}`: "schedule", `{"schedule":[]}`: "schedule", `{"schedule":{"kind":"CRON"}}`: "schedule.cronExpression",
		`{"schedule":{"kind":"NONE"},"count":1001}`: "count", `{"schedule":{"kind":"NONE"},"count":0}`: "count",
		`{"schedule":{"kind":"NONE"},"zone":"x"}`: "zone",
	} {
		e.call("POST", "/api/v1/schedules/preview", body).wantField(422, field, "")
	}
}

func TestSchedulesAreDescribedInTheLanguageThatWasAskedFor(t *testing.T) {
	e := newEdge(t)
	id := e.create(encode(t, minimal().with(fields{"schedule": fields{"cronExpression": "0 0 0 * * ?"}})))["id"].(string)
	says := map[string]string{"en": "at 00:00 every day", "zh": "每天 00:00"}
	for _, c := range []struct{ query, header, want string }{
		{"", "", "en"},
		{"", "de", "en"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh"},
		{"", "en-GB,zh", "en"},
		{"?lang=zh", "en", "zh"},
		{"?lang=en", "zh", "en"},
	} {
		for _, a := range []answer{
			e.call("GET", "/api/v1/jobs/"+id+"/next-fire-times"+c.query, "", "Accept-Language", c.header),
			e.call("POST", "/api/v1/schedules/preview"+c.query, `{"schedule":{"cronExpression":"0 0 0 * * ?"}}`,
				"Accept-Language", c.header),
		} {
			require.Equal(t, says[c.want], a.want(200).json()["description"], "%+v", c)
		}
	}
	e.call("GET", "/api/v1/jobs/x/next-fire-times?lang=fr", "").wantField(422, "lang", "unknown_value")
}

func TestNextFireTimes(t *testing.T) {
	e := newEdge(t)
	id := e.create(encode(t,
		minimal().with(fields{"schedule": fields{"kind": "FIXED_RATE", "intervalMs": 1500}})))["id"].(string)
	require.JSONEq(t, `{"fireTimes":["2026-11-20T12:00:01.500Z","2026-11-20T12:00:03.000Z"],"description":"every 1500 milliseconds"}`,
		e.call("GET", "/api/v1/jobs/"+id+"/next-fire-times?count=2", "").want(200).body)
}

func TestPauseAndResumeGiveTheJob(t *testing.T) {
	e := newEdge(t)
	path, _ := e.whatGetGives(encode(t, minimal()))
	for _, c := range []struct {
		verb string
		want []any
	}{{"/pause", []any{"PAUSED", `"2"`}}, {"/resume", []any{"ENABLED", `"3"`}}} {
		verb, want := c.verb, c.want
		a := e.call("POST", path+verb, "").want(200)
		require.JSONEq(t, e.call("GET", path, "").want(200).body, a.body)
		require.Equal(t, want, []any{a.json()["status"], a.header.Get("ETag")})
		e.call("POST", "/api/v1/jobs/unknown"+verb, "").wantCode(404, "not_found")
	}
}

// A pause takes a reason and an end, and notes who asked for it. The shown fields may
// be sent back, and are no part of a document.
func TestAPauseTakesAReasonAndAnEnd(t *testing.T) {
	e := newEdge(t)
	path, _ := e.whatGetGives(encode(t, minimal()))
	body := `{"reason":"the target moves","until":"2026-11-21T08:00:00+08:00"}`
	want := entity.Pause{Reason: "the target moves", User: "admin", Until: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}
	id := path[strings.LastIndex(path, "/")+1:]
	e.call("POST", path+"/pause", "").want(200)
	require.Equal(t, entity.Pause{User: "admin"}, e.Node.Job(t, id).Pause)
	e.call("POST", path+"/pause", body).want(200)
	require.Equal(t, want, e.Node.Job(t, id).Pause)
	e.call("POST", path+"/pause", "").want(200)
	require.Equal(t, want, e.Node.Job(t, id).Pause, "a pause that says nothing keeps what was said")
	e.call("POST", path+"/pause", `{"reason":"another"}`).want(200)
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+id+`"],`+body[1:]).want(200)
	require.Equal(t, want, e.Node.Job(t, id).Pause)
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+id+`"],"reason":"`+strings.Repeat("ü", 500)+`"}`).want(200)
	e.call("POST", "/api/v1/bulk/jobs/pause", `{"ids":["`+id+`"],"reason":"`+strings.Repeat("ü", 501)+`"}`).
		wantField(422, "reason", "too_long")
	for _, p := range []string{path + "/pause", "/api/v1/jobs/pause"} {
		e.call("POST", p, `{"reason":7}`).wantField(422, "reason", "")
		e.call("POST", p, `{"until":"tomorrow"}`).wantField(422, "until", "")
		e.call("POST", p, `{"because":"x"}`).wantField(422, "because", "unknown_field")
	}
	e.call("POST", "/api/v1/groups", `{"name":"pay"}`).want(201)
	for _, p := range []string{"/api/v1/groups/pay/pause", "/api/v1/jobs/pause"} {
		m := e.call("POST", p, body).want(200).json()
		require.Equal(t, []any{"the target moves", "admin", "2026-11-21T00:00:00.000Z", "2026-11-20T12:00:00.000Z"},
			[]any{m["pauseReason"], m["pauseUser"], m["pausedUntil"], m["pausedAt"]})
		e.call("POST", p, `{"until":"2020-01-01T00:00:00Z"}`).wantField(422, "until", "in_past")
	}
	held := func() (all []any, read string) {
		a := e.call("GET", path, "").want(200)
		m := a.json()
		return []any{m["pausedBy"], m["pauseReason"], m["pauseUser"], m["pausedUntil"], m["pausedAt"]}, a.body
	}
	e.call("POST", path+"/pause", body).want(200)
	const at, until = "2026-11-20T12:00:00.000Z", "2026-11-21T00:00:00.000Z"
	shown, read := held()
	require.Equal(t, []any{"JOB", "the target moves", "admin", until, at}, shown)
	e.call("PUT", path, read).want(200)
	e.call("POST", "/api/v1/jobs/resume", "").want(200)
	e.call("POST", path+"/resume", "").want(200)
	e.call("POST", "/api/v1/jobs/pause", body).want(200)
	shown, read = held()
	require.Equal(t, []any{"GROUP", "the target moves", "admin", nil, at}, shown, "the end is that of the group's pause")
	e.call("PUT", path, read).want(200)
	require.NotContains(t, e.call("GET", "/api/v1/export", "").want(200).body, "pause")
}

func TestErrorsOfServicesBecomeProblems(t *testing.T) {
	e := newEdge(t)
	jobs := e.failingJobs()
	for _, c := range []struct {
		err    error
		status int
		code   string
	}{
		{apperror.Conflict("name_taken", "taken"), 409, "name_taken"},
		{apperror.Unavailable(errors.New("canary")), 503, "store_unavailable"},
		{errors.New("canary"), 500, "internal"},
		{repository.ErrCommitUnknown, 503, "outcome_unknown"},
	} {
		jobs.err = c.err
		a := e.call("POST", "/api/v1/jobs", encode(t, minimal()))
		a.wantCode(c.status, c.code)
		require.NotContains(t, a.body, "canary")
	}
	require.Contains(t, e.log.String(), "canary", "the cause is in the log")
}
