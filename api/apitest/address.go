package apitest

import (
	"net/http"
	"strings"
)

func unfit(row, address, field, code string) Case {
	return Case{
		Row: row, Method: http.MethodGet, Path: address, Status: http.StatusUnprocessableEntity, Field: field,
		Code: code,
	}
}

func queries() []Case {
	var out []Case
	for _, list := range []string{jobs, executions, letters, fires, logs, workflowRuns} {
		for _, limit := range []string{
			"-1", "0", "201", "1000000000", "9223372036854775808", "1.5", "x", "", "1e1", "%D9%A1",
			"0x10",
		} {
			out = append(out, unfit("45 "+limit, list+"?limit="+limit, "limit", "out_of_range"))
		}
		out = append(out,
			unfit("45", list+"?offset=9223372036854775808", "offset", "unknown_parameter"),
			unfit("70", list+"?sort=(select+sleep(5))", "sort", "unknown_parameter"),
			unfit("76", list+"?limit=1&limit=2", "limit", ""),
			unfit("78", list+"?Limit=1", "Limit", "unknown_parameter"),
			unfit("82 escape", list+"?limit=%zz", "query", "malformed"),
			unfit("82 semicolon", list+"?limit=1;cursor=x", "query", "malformed"),
			unfit("50 cursor", list+"?cursor="+strings.Repeat("x", 600), "cursor", "too_long"),
			unfit("51 cursor", list+"?cursor=%00", "cursor", "invalid_text"),
			unfit("59 cursor", list+"?cursor='+OR+1=1", "cursor", ""),
			unfit("56 cursor", list+"?cursor=%F0%9F%9A%80", "cursor", ""))
	}
	for _, count := range []string{"0", "-1", "1001", "9223372036854775808", "x", ""} {
		out = append(out, unfit("45 "+count, fireTimes+"?count="+count, "count", "out_of_range"))
	}
	for _, address := range []string{
		jobs + "?name", jobs + "?group", executions + "?jobId", executions + "?nodeId",
		letters + "?jobId",
	} {
		name := address[strings.Index(address, "?")+1:]
		out = append(out,
			unfit("51", address+"=a%00b", name, "invalid_text"),
			unfit("52", address+"=%ff", name, "invalid_text"),
			unfit("66", address+"=a%0d%0aInjected:+1", name, "invalid_text"),
			unfit("67", address+"=%1b]0%3Bowned%07", name, "invalid_text"),
			unfit("50", address+"="+strings.Repeat("x", 513), name, "too_long"))
	}
	out = append(out, unfit("45", "/api/v1/monitor/set-aside?limit=0", "limit", "out_of_range"))
	for _, list := range []string{executions, fires, workflowRuns} {
		for _, at := range []string{
			"tomorrow", "1795000000", "2026-12-31T23:59:60Z", "2027-01-01T00:00:00+99:99",
			"0001-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00",
		} {
			out = append(out, unfit("34 "+at, list+"?from="+at, "from", "invalid_time"))
		}
		out = append(out, unfit("31", list+"?from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z", "to", "out_of_order"))
	}
	out = append(out, sums()...)
	for _, at := range []string{"tomorrow", "1795000000", "2026-12-31T23:59:60Z", "0001-01-01T00:00:00Z"} {
		out = append(out, unfit("34 "+at, why+"?at="+at, "at", "invalid_time"))
	}
	out = append(out, unfit("36", why+"?timeZone=Mars/Olympus", "timeZone", "unknown_time_zone"),
		unfit("82", why+"?when=now", "when", "unknown_parameter"))
	const series = "/api/v1/monitor/metrics"
	for _, step := range []string{"0", "59", "90", "604801", "1m", "-60", "9223372036854775808"} {
		out = append(out, unfit("113 "+step, series+"?name=node.cpu&step="+step, "step", "out_of_range"))
	}
	return append(out,
		unfit("113", series, "name", "required"),
		unfit("113", series+"?name=node.cpuu", "name", "unknown_metric"),
		unfit("113", series+"?name=node.cpu&name=node.cpu", "name", "repeated"),
		unfit("113", series+"?name=node.cpu&group=g", "group", "not_by_group"),
		unfit("113", series+"?name=cluster.ready&nodeId=n", "nodeId", "not_by_node"),
		unfit("113", series+"?name=node.cpu&nodes=n", "nodes", "unknown_parameter"),
		unfit("34", series+"?name=node.cpu&from=yesterday", "from", "invalid_time"),
		unfit("113", series+"?name=node.cpu&from=1970-01-01T00:00:00Z", "from", "out_of_range"),
		unfit("113", series+"?name=node.cpu&from=2199-01-01T00:00:00Z", "from", "out_of_order"),
		unfit("31", series+"?name=node.cpu&from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z", "to", "out_of_order"),
		unfit("113", jobs+"?status=LOST", "status", "unknown_value"),
		unfit("113", jobs+"?status=enabled", "status", "unknown_value"),
		unfit("113", jobs+"?jobType=SHELL", "jobType", "unknown_value"),
		unfit("113", executions+"?status=DONE", "status", "unknown_value"),
		unfit("113", executions+"?trigger=MAGIC", "trigger", "unknown_value"),
		unfit("113", executions+"?steps=yes", "steps", "unknown_value"),
		unfit("113", workflowRuns+"?phase=open", "phase", "unknown_value"),
		unfit("113", workflowRuns+"?phase=OPEN,,CLOSED", "phase", "unknown_value"),
		unfit("113", workflowRuns+"?status=OPEN", "status", "unknown_value"),
		unfit("113", workflowRuns+"?runId=x", "runId", "unknown_parameter"),
		unfit("51", workflowRuns+"?workflowId=a%00b", "workflowId", "invalid_text"))
}

// sums are questions for statistics that have no answer.
func sums() []Case {
	const path = "/api/v1/monitor/statistics"
	var out []Case
	for _, zone := range []string{
		"Mars/Base", "Local", "..%2f..%2fetc%2fpasswd", "%2B08:00", "utc%00",
		"Asia%2FShanghai%20",
	} {
		code := "unknown_time_zone"
		if strings.Contains(zone, "%00") {
			code = "invalid_text"
		}
		out = append(out, unfit("113 "+zone, path+"?timeZone="+zone, "timeZone", code))
	}
	for _, top := range []string{"-1", "101", "ten", "1.5", "9223372036854775808"} {
		out = append(out, unfit("113 "+top, path+"?top="+top, "top", "out_of_range"))
	}
	return append(out,
		unfit("34", path+"?from=yesterday", "from", "invalid_time"),
		unfit("34", path+"?to=9999-12-31T23:59:59-01:00", "to", "invalid_time"),
		unfit("31", path+"?from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z", "to", "out_of_order"),
		unfit("113", path+"?from=2199-01-01T00:00:00Z", "from", "out_of_order"),
		unfit("113", path+"?from=2020-01-01T00:00:00Z", "from", "out_of_range"),
		unfit("113", path+"?by=HOUR&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z", "from", "out_of_range"),
		unfit("113", path+"?by=WEEK", "by", "unknown_value"),
		unfit("113", path+"?by=hour", "by", "unknown_value"),
		unfit("113", path+"?topBy=size", "topBy", "unknown_value"),
		unfit("113", path+"?group=g&node=n", "node", "conflict"),
		unfit("113", path+"?job=j&group=g", "group", "conflict"),
		unfit("113", path+"?job=j&top=1", "top", "conflict"),
		unfit("113", path+"?node=n&top=1", "top", "conflict"),
		unfit("113", path+"?by=DAY&by=DAY", "by", "repeated"),
		unfit("113", path+"?jobs=j", "jobs", "unknown_parameter"),
		Case{Row: "69 ", Method: http.MethodGet, Path: path + "?job=%27%20OR%201=1", Status: 404})
}

// addresses that nothing has.
func addresses() []Case {
	var out []Case
	for _, id := range []string{
		"..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "%27%20OR%201=1", strings.Repeat("x", 65),
		"%3Cscript%3E", "caf%C3%A9", "%F0%9F%9A%80", "x%20", "a%0d%0ab",
	} {
		for _, suffix := range []string{"", "/logs", "/attempts"} {
			out = append(out, Case{Row: "69 " + id, Method: http.MethodGet, Path: executions + "/" + id + suffix, Status: 404})
		}
		for _, path := range []string{
			jobs + "/" + id + "/trigger", jobs + "/" + id + "/pause",
			executions + "/" + id + "/cancel", executions + "/" + id + "/retry", letters + "/" + id + "/replay",
		} {
			out = append(out, Case{Row: "69 " + id, Method: http.MethodPost, Path: path, Status: 404})
		}
	}
	for _, c := range [][2]string{
		{http.MethodPatch, jobs},
		{http.MethodDelete, jobs},
		{http.MethodTrace, jobs},
		{"post", jobs},
		{"BREW", executions},
		{strings.Repeat("M", 300), jobs},
		{http.MethodOptions, login},
		{http.MethodGet, trigger},
	} {
		out = append(out, Case{Row: "103", Method: c[0], Path: c[1], Status: 405, Code: "method_not_allowed"})
	}
	for _, path := range []string{
		"/api/v1/nobody", "/api/v2/jobs", "/api/v1/jobs/", "//api/v1/jobs", "/api/v1/JOBS",
		"/debug/pprof/", "/.git/config",
	} {
		out = append(out, Case{Row: "69", Method: http.MethodGet, Path: path, Status: 404})
	}
	return out
}

func headers() []Case {
	var out []Case
	for _, token := range []string{
		"", "Bearer", "Bearer ", "Basic YWRtaW46YWRtaW4=", "Bearer " + strings.Repeat("x", 300),
		"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.",
		"Bearer ' OR 1=1 -- ", "Bearer caf\xc3\xa9",
	} {
		out = append(out,
			Case{
				Row: "115 " + token[:min(len(token), 20)], Method: http.MethodGet, Path: jobs,
				Headers: []string{"Authorization", token}, Status: 401,
			},
			Case{
				Row: "114 " + token[:min(len(token), 20)], Method: http.MethodPost, Path: jobs, Body: minimal().String(),
				Headers: []string{"Authorization", token, "Idempotency-Key", "k"}, Status: 401,
			})
	}
	for _, key := range []string{"a b", "caf\xc3\xa9", strings.Repeat("k", 256), "a\tb"} {
		for _, path := range []string{
			jobs, trigger, executions + "/" + RunID + "/retry",
			letters + "/" + LetterID + "/replay",
		} {
			out = append(out, Case{
				Row: "121 " + key[:3], Method: http.MethodPost, Path: path, Body: minimal().String(),
				Headers: []string{"Idempotency-Key", key},
				Status:  400, Code: "invalid_idempotency_key",
			})
		}
	}
	for _, version := range []string{`"x"`, `"0"`, `"-1"`, `"99999999999999999999"`, `"1", "2"`, `W/"`, "' OR 1=1"} {
		out = append(out,
			Case{
				Row: "122 " + version, Method: http.MethodPut, Path: jobs + "/" + JobID, Body: minimal().String(),
				Headers: []string{"If-Match", version}, Status: 412, Code: "version_mismatch",
			},
			Case{
				Row: "122 " + version, Method: http.MethodDelete, Path: jobs + "/" + JobID,
				Headers: []string{"If-Match", version}, Status: 412, Code: "version_mismatch",
			})
	}
	for _, version := range []string{"0", "-1", "9223372036854775808", "1.5", `"1"`} {
		out = append(out, Case{
			Row: "122 " + version, Method: http.MethodPut, Path: jobs + "/" + JobID, Body: raw("version", version), Status: 422,
			Field: "version",
		})
	}
	return append(out, Case{
		Row: "122 none", Method: http.MethodPut, Path: jobs + "/" + JobID, Body: minimal().String(),
		Status: 422, Field: "version", Code: "required",
	})
}
