package apitest

import (
	"net/http"
	"strings"
)

// The addresses of workers and their groups.
const (
	workersPath  = "/api/v1/workers"
	workerGroups = "/api/v1/worker-groups"
	workerPoll   = workersPath + "/@shop.0000000000000/poll"
	workerReport = workersPath + "/@shop.0000000000000/report"
	workerLeave  = workersPath + "/@shop.0000000000000/leave"
	workerJobs   = workersPath + "/@shop.0000000000000/jobs"
)

// WorkerCall is a bad call of a worker that shows a good token of the group shop. The tests that have one send it.
type WorkerCall struct {
	Path, Body string
	Status     int
	Field      string
	Code       string
}

// workers are bad calls about workers, and those of strangers to the routes of workers.
func workers() []Case {
	out := []Case{
		unfit("113", workersPath+"?group=%00", "group", "invalid_text"),
		unfit("113", workersPath+"?status=GONE", "status", "unknown_value"),
		unfit("113", workersPath+"?node=x", "node", "unknown_parameter"),
		unfit("45", workersPath+"?limit=0", "limit", "out_of_range"),
		unfit("113", workerGroups+"?group=x", "group", "unknown_parameter"),
		unfit("113", workerGroups+"/shop/tokens?name=x", "name", "unknown_parameter"),
	}
	for _, path := range []string{workersPath + "/@shop.none", workersPath + "/node-1", workerGroups + "/none"} {
		out = append(out, Case{Row: "69 nobody", Method: http.MethodGet, Path: path, Status: 404, Code: "not_found"})
	}
	for _, c := range [][2]string{
		{http.MethodPost, workersPath + "/@shop.none/drain"},
		{http.MethodPost, workersPath + "/@shop.none/resume"},
		{http.MethodGet, workerGroups + "/none/tokens"},
		{http.MethodDelete, workerGroups + "/none"},
		{http.MethodDelete, workerGroups + "/none/tokens/none"},
	} {
		out = append(out, Case{Row: "69 nobody", Method: c[0], Path: c[1], Status: 404, Code: "not_found"})
	}
	put := func(row, name, body, field, code string) {
		out = append(out, Case{
			Row: row, Method: http.MethodPut, Path: workerGroups + "/" + name, Body: body, Status: 422, Field: field, Code: code,
		})
	}
	put("66", "Shop", `{"jobGroups":["pay"]}`, "name", "invalid")
	put("50", strings.Repeat("g", 33), `{"jobGroups":["pay"]}`, "name", "invalid")
	put("69", "@shop", `{"jobGroups":["pay"]}`, "name", "invalid")
	put("122", "shop", `{"name":"other","jobGroups":["pay"]}`, "name", "unchangeable")
	put("70", "shop", `{}`, "jobGroups", "required")
	put("70", "shop", `{"jobGroups":[]}`, "jobGroups", "required")
	put("71", "shop", `{"jobGroups":[`+strings.TrimSuffix(strings.Repeat(`"g",`, 101), ",")+`]}`, "jobGroups", "too_many")
	put("54", "shop", `{"jobGroups":["a\u0000"]}`, "jobGroups[0]", "invalid")
	put("37", "shop", `{"jobGroups":"pay"}`, "jobGroups", "wrong_type")
	put("33", "shop", `{"jobGroups":["pay"],"maxWorkers":0}`, "maxWorkers", "out_of_range")
	put("34", "shop", `{"jobGroups":["pay"],"maxWorkers":10001}`, "maxWorkers", "out_of_range")
	put("33", "shop", `{"jobGroups":["pay"],"version":-1}`, "version", "out_of_range")
	put("37", "shop", `{"jobGroups":["pay"],"secrets":"yes"}`, "secrets", "wrong_type")
	put("37", "shop", `{"jobGroups":["pay"],"declare":1}`, "declare", "wrong_type")
	put("78", "shop", `{"jobGroups":["pay"],"Commands":true}`, "Commands", "unknown_field")
	out = append(out, Case{
		Row: "118", Method: http.MethodPut, Path: workerGroups + "/none", Body: `{"jobGroups":["pay"],"version":1}`,
		Status: 404, Code: "not_found",
	}, Case{
		Row: "118", Method: http.MethodPut, Path: workerGroups + "/none", Body: `{"jobGroups":["pay"]}`,
		Headers: []string{"If-Match", "x"}, Status: 412, Code: "version_mismatch",
	}, Case{
		Row: "69 nobody", Method: http.MethodPost, Path: workerGroups + "/none/tokens",
		Body: `{"name":"a","expiresAt":"2026-12-20T12:00:00Z"}`, Status: 404, Code: "not_found",
	})
	return append(out, strangers()...)
}

// strangers call the routes of workers with no token, with one that nobody has given out, and with one of a user.
func strangers() (out []Case) {
	for path, body := range map[string]string{
		workersPath:  `{"protocol":1,"group":"shop","instance":"a","bootId":"b"}`,
		workerPoll:   `{"epoch":1,"seq":1}`,
		workerReport: `{"epoch":1,"items":[]}`,
		workerLeave:  `{"epoch":1}`,
		workerJobs:   `{"epoch":1,"jobs":[{"name":"a","jobClass":"settle"}]}`,
	} {
		for _, token := range []string{
			"", "Bearer psw_" + strings.Repeat("0", 64), "Bearer psw_", "Bearer psw_" + strings.Repeat("0", 300),
			"Basic YWRtaW46YWRtaW4=", "Bearer psw_\u00e9",
		} {
			out = append(out, Case{
				Row: "115 " + token[:min(len(token), 20)], Method: http.MethodPost, Path: path, Body: body,
				Headers: []string{"Authorization", token}, Status: 401,
			})
		}
		out = append(out, Case{
			Row: "115", Method: http.MethodPost, Path: path, Body: body, Status: 401, Code: "unknown_token",
		})
	}
	return out
}

// WorkerCalls are bad calls of the worker id of the group shop, whose token is good, and which may declare jobs.
func WorkerCalls(id string) []WorkerCall {
	poll, report, leave := workersPath+"/"+id+"/poll", workersPath+"/"+id+"/report", workersPath+"/"+id+"/leave"
	declare := workersPath + "/" + id + "/jobs"
	foreign := workersPath + "/@bank." + strings.Repeat("0", 13)
	register := func(literal string) string {
		return `{"protocol":1,"group":"shop","instance":"a","bootId":"b"` + literal + `}`
	}
	item := func(literal string) string {
		return `{"epoch":1,"items":[{"executionId":"x","token":1,"attempt":1` + literal + `}]}`
	}
	out := []WorkerCall{
		{workersPath, `{"protocol":2}`, 409, "", "protocol_unknown"},
		{workersPath, `{"protocol":1,"group":"bank"}`, 403, "", "foreign_group"},
		{workersPath, `{}`, 422, "protocol", "required"},
		{workersPath, `{"protocol":"1"}`, 422, "protocol", "wrong_type"},
		{workersPath, `{"protocol":1}`, 422, "group", "required"},
		{workersPath, `{"protocol":1}`, 422, "instance", "required"},
		{workersPath, `{"protocol":1}`, 422, "bootId", "invalid"},
		{workersPath, register(`,"slots":1001`), 422, "slots", "out_of_range"},
		{workersPath, register(`,"slots":-1`), 422, "slots", "out_of_range"},
		{workersPath, register(`,"slots":9223372036854775808`), 422, "slots", "out_of_range"},
		{workersPath, register(`,"slots":1.5`), 422, "slots", "not_an_integer"},
		{workersPath, register(`,"commandSlots":1`), 422, "commandSlots", "not_allowed"},
		{workersPath, register(`,"handlers":["a","\u0000"]`), 422, "handlers[1]", "invalid"},
		{workersPath, register(`,"handlers":["` + strings.Repeat("h", 256) + `"]`), 422, "handlers[0]", "invalid"},
		{workersPath, register(`,"handlers":"settle"`), 422, "handlers", "wrong_type"},
		{
			workersPath, register(`,"handlers":[` + strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("h", 255)+`",`, 260),
				",") + `]`), 422, "handlers", "too_long",
		},
		{workersPath, register(`,"labels":{"":"a"}`), 422, "labels", "invalid"},
		{workersPath, register(`,"labels":{"a":1}`), 422, "labels.a", "wrong_type"},
		{workersPath, register(`,"weight":0`), 422, "weight", "out_of_range"},
		{workersPath, register(`,"pid":9007199254740992`), 422, "pid", "out_of_range"},
		{workersPath, register(`,"host":"` + strings.Repeat("h", 101) + `"`), 422, "host", "invalid"},
		{workersPath, register(`,"host":"\ud800"`), 400, "", "lone_surrogate"},
		{workersPath, register(`,"sdk":"\u0000"`), 422, "sdk", "invalid"},
		{workersPath, register(`,"x":"` + strings.Repeat("x", 1<<20) + `"`), 413, "", "body_too_large"},
		{workersPath, `[]`, 400, "", "not_an_object"},
		{poll, `{}`, 422, "epoch", "out_of_range"},
		{poll, `{"epoch":1}`, 422, "seq", "out_of_range"},
		{poll, `{"epoch":1,"seq":9007199254740992}`, 422, "seq", "out_of_range"},
		{poll, `{"epoch":1,"seq":2,"ack":2}`, 422, "ack", "out_of_range"},
		{poll, `{"epoch":1,"seq":2,"ack":-1}`, 422, "ack", "out_of_range"},
		{poll, `{"epoch":1,"seq":1,"free":1001}`, 422, "free", "out_of_range"},
		{poll, `{"epoch":1,"seq":1,"freeCommands":-1}`, 422, "freeCommands", "out_of_range"},
		{poll, `{"epoch":1,"seq":1,"waitMs":20001}`, 422, "waitMs", "out_of_range"},
		{poll, `{"epoch":1,"seq":1,"running":["x"]}`, 422, "running[0]", "invalid"},
		{poll, `{"epoch":1,"seq":1,"running":["x:01"]}`, 422, "running[0]", "invalid"},
		{poll, `{"epoch":1,"seq":1,"running":["x:9007199254740992"]}`, 422, "running[0]", "invalid"},
		{poll, `{"epoch":1,"seq":1,"running":["\u0000:1"]}`, 422, "running[0]", "invalid"},
		{
			poll, `{"epoch":1,"seq":1,"running":[` + strings.TrimSuffix(strings.Repeat(`"x:1",`, 2001), ",") + `]}`, 422,
			"running", "too_many",
		},
		{report, `{"items":[]}`, 422, "epoch", "out_of_range"},
		{
			report, `{"epoch":1,"items":[` + strings.TrimSuffix(strings.Repeat(`{"executionId":"x","token":1,"attempt":1},`, 501),
				",") + `]}`, 422, "items", "too_many",
		},
		{report, `{"epoch":1,"items":[{"token":1,"attempt":1}]}`, 422, "items[0].executionId", "invalid"},
		{report, `{"epoch":1,"items":[{"executionId":"a\u0000","token":1,"attempt":1}]}`, 422, "items[0].executionId", "invalid"},
		{report, `{"epoch":1,"items":[{"executionId":"x","token":0,"attempt":1}]}`, 422, "items[0].token", "out_of_range"},
		{report, `{"epoch":1,"items":[{"executionId":"x","token":1}]}`, 422, "items[0].attempt", "out_of_range"},
		{report, item(`,"lines":["a"]`), 422, "items[0].lineFrom", "out_of_range"},
		{report, item(`,"lines":["\udc00"],"lineFrom":1`), 400, "", "lone_surrogate"},
		{report, item(`,"progress":101`), 422, "items[0].progress", "out_of_range"},
		{report, item(`,"checkpoint":"` + strings.Repeat("x", 64<<10+1) + `"`), 422, "items[0].checkpoint", "too_long"},
		{report, item(`,"end":{}`), 422, "items[0].end.status", "unknown_value"},
		{report, item(`,"end":{"status":"DEAD"}`), 422, "items[0].end.status", "unknown_value"},
		{report, item(`,"end":{"status":"FAILED","reason":"SHUTDOWN"}`), 422, "items[0].end.reason", "unknown_value"},
		{report, item(`,"end":{"status":"FAILED","exitCode":2147483648}`), 422, "items[0].end.exitCode", "out_of_range"},
		{
			report, item(`,"end":{"status":"SUCCESS","result":"` + strings.Repeat("x", 64<<10+1) + `"}`), 422,
			"items[0].end.result", "too_long",
		},
		{
			report, item(`,"end":{"status":"FAILED","message":"` + strings.Repeat("x", 4<<10+1) + `"}`), 422,
			"items[0].end.message", "too_long",
		},
		{report, item(`,"end":{"status":"SUCCESS","agoMs":-1}`), 422, "items[0].end.agoMs", "out_of_range"},
		{report, item(`,"end":{"status":"SUCCESS","durationMs":9007199254740992}`), 422, "items[0].end.durationMs", "out_of_range"},
		{report, item(`,"end":[]`), 422, "items[0].end", "wrong_type"},
		{report, `{"epoch":1,"items":["x"]}`, 422, "items[0]", "wrong_type"},
		{leave, `{}`, 422, "epoch", "out_of_range"},
		{leave, `{"epoch":7}`, 409, "", "epoch_lost"},
		{declare, `{}`, 422, "epoch", "out_of_range"},
		{declare, `{"epoch":1}`, 422, "jobs", "required"},
		{declare, `{"epoch":1,"jobs":[]}`, 422, "jobs", "required"},
		{declare, `{"epoch":1,"jobs":{}}`, 422, "jobs", "wrong_type"},
		{declare, `{"epoch":1,"jobs":["x"]}`, 422, "jobs[0]", "wrong_type"},
		{
			declare, `{"epoch":1,"jobs":[` + strings.TrimSuffix(strings.Repeat(`{"name":"x"},`, 101), ",") + `]}`, 422,
			"jobs", "too_many",
		},
		{declare, `{"epoch":1,"jobs":[{"name":"` + strings.Repeat("x", 1<<20) + `"}]}`, 413, "", "body_too_large"},
		{declare, `{"epoch":9007199254740992,"jobs":[{"name":"x"}]}`, 422, "epoch", "out_of_range"},
		{declare, `{"epoch":7,"jobs":[{"name":"x"}]}`, 409, "", "epoch_lost"},
	}
	for _, path := range []string{foreign, workersPath + "/node-1", workersPath + "/@shop"} {
		for _, call := range []string{"/poll", "/report", "/leave", "/jobs"} {
			out = append(out, WorkerCall{path + call, `{"epoch":1,"seq":1,"items":[]}`, 403, "", "foreign_group"})
		}
	}
	return out
}
