package apitest

import (
	"fmt"
	"net/http"
	"strings"
)

// nobody is the id of nothing.
const nobody = "0190a5e0-7c00-7000-8000-00000000ffff"

// definitions that their executor refuses.
func definitions() []Case {
	return []Case{
		wrong("113", jobs, `{"name":"n","jobType":"CUSTOM","jobClass":"no\u0000handler"}`, "jobClass", "invalid"),
		wrong("63", jobs, `{"name":"n","jobType":"CUSTOM","jobClass":"<script>\u0007"}`, "jobClass", "invalid"),
		wrong("105", jobs, `{"name":"n","jobType":"CRON","jobData":{"argv":["rm","-rf","/"]}}`, "jobData.argv", ""),
		wrong("106", jobs, `{"name":"n","jobType":"COMMAND","jobData":{"command":"$(id)"}}`, "jobData.command", "wrong_type"),
		wrong("77", jobs, `{"name":"n","jobType":"CUSTOM","jobClass":"sleep","jobData":{"secs":1}}`, "jobData.secs", ""),
		{
			Row: "122", Method: http.MethodPut, Path: jobs + "/" + JobID, Body: raw("version", "2147483647"), Status: 409,
			Code: "stale_version",
		},
		{
			Row: "122", Method: http.MethodPut, Path: jobs + "/" + JobID, Body: minimal().String(),
			Headers: []string{"If-Match", `"77"`}, Status: 412, Code: "version_mismatch",
		},
		{
			Row: "122", Method: http.MethodDelete, Path: jobs + "/" + JobID, Headers: []string{"If-Match", `"77"`}, Status: 412,
			Code: "version_mismatch",
		},
	}
}

func target(row, data, field, code string) Case {
	return wrong(row, jobs, `{"name":"n","jobType":"HTTP","jobData":`+data+`}`, field, code)
}

// targets of HTTP jobs.
func targets() []Case {
	out := []Case{
		target("72", `{}`, "jobData.url", "required"),
		target("49", `{"url":""}`, "jobData.url", "required"),
		target("47", `{"url":1}`, "jobData.url", "wrong_type"),
		target("77", `{"url":"http://example.com/","verb":"GET"}`, "jobData.verb", ""),
		target("102", `{"url":"http://example.com/","headers":{"X-A":"a\r\nInjected: 1"}}`, "jobData.headers.X-A", "invalid"),
		target("102 name", `{"url":"http://example.com/","headers":{"X A":"a"}}`, "jobData.headers", "invalid"),
		target("102 Host", `{"url":"http://example.com/","headers":{"hOST":"other"}}`, "jobData.headers.hOST", "reserved"),
		target("102 framing", `{"url":"http://example.com/","headers":{"Transfer-Encoding":"chunked"}}`,
			"jobData.headers.Transfer-Encoding", "reserved"),
		target("104", `{"method":"GET","url":"http://example.com/","body":"x"}`, "jobData.body", "conflict"),
		target("48", `{"url":"http://example.com/","expectedStatus":"ok"}`, "jobData.expectedStatus", "invalid"),
	}
	for _, url := range []string{
		"file:///etc/passwd", "gopher://example.com/", "ftp://example.com/", "unix:/var/run/x.sock", "javascript:alert(1)",
		"http://",
		"http://user:pass@example.com/", "http://good.com@evil.com/", "http://evil.com#good.com", "http://example.com:0/",
		"http://example.com:65536/",
		"http://example.com:/", "http://exa\tmple.com/", " http://example.com/", "http://example.com/%zz", "http://[::1",
		"//example.com/", "/etc/passwd",
		"http://example.com/\r\nX: 1",
	} {
		out = append(out, target("94–101 "+url, fields{"url": url}.String(), "jobData.url", "invalid"))
	}
	for _, method := range []string{"CONNECT", "TRACE", "get", "GE T"} {
		out = append(out, target("103 "+method, fields{"url": "http://example.com/", "method": method}.String(),
			"jobData.method", "unknown_value"))
	}
	many := fields{}
	for i := range 1000 {
		many[fmt.Sprint("X-", i)] = "v"
	}
	return append(out, target("102 many", fields{"url": "http://example.com/", "headers": many}.String(),
		"jobData.headers", "too_many"))
}

// cursors that no page ended with.
func cursors() []Case {
	var out []Case
	for _, list := range []string{jobs, executions, letters, backfill + "s"} {
		for _, cursor := range []string{"x", "====", "!!!!", "AAAA", "w6k", strings.Repeat("QUFB", 20), "-1"} {
			out = append(out, unfit("45 "+cursor, list+"?cursor="+cursor, "cursor", "invalid_cursor"))
		}
	}
	for _, cursor := range []string{"x", "-1", "9223372036854775808", "1.5", nobody + "0"} {
		out = append(out, unfit("45 "+cursor, fires+"?cursor="+cursor, "cursor", ""),
			unfit("45 "+cursor, logs+"?cursor="+cursor, "cursor", "invalid_cursor"))
	}
	return out
}

// missing is what no longer is, or never was.
func missing() []Case {
	var out []Case
	for _, c := range [][2]string{
		{"GET", jobs + "/" + nobody},
		{"DELETE", jobs + "/" + nobody},
		{"POST", jobs + "/" + nobody + "/pause"},
		{"POST", jobs + "/" + nobody + "/resume"},
		{"POST", jobs + "/" + nobody + "/trigger"},
		{"GET", jobs + "/" + nobody + "/fires"},
		{"GET", jobs + "/" + nobody + "/why"},
		{"GET", jobs + "/" + nobody + "/backfills"},
		{"POST", jobs + "/" + nobody + "/backfills/" + nobody + "/cancel"},
		{"POST", backfill + "s/" + nobody + "/cancel"},
		{"GET", jobs + "/" + nobody + "/next-fire-times"},
		{"GET", executions + "/" + nobody},
		{"GET", executions + "/" + nobody + "/logs"},
		{"GET", executions + "/" + nobody + "/attempts"},
		{"POST", executions + "/" + nobody + "/cancel"},
		{"POST", executions + "/" + nobody + "/retry"},
		{"POST", letters + "/" + nobody + "/replay"},
		{"POST", letters + "/" + RunID + "/replay"},
	} {
		out = append(out, Case{Row: "69 nobody", Method: c[0], Path: c[1], Status: 404})
	}
	return append(out,
		Case{Row: "69 nobody", Method: http.MethodPut, Path: jobs + "/" + nobody, Body: raw("version", "1"), Status: 404},
		Case{
			Row: "118", Method: http.MethodPost, Path: executions + "/" + RunID + "/cancel", Status: 409,
			Code: "already_final",
		})
}

// people who are not let in. Each is a try that slows the next ones down, so
// that there are fewer than the free ones of an address.
func people() []Case {
	var out []Case
	for _, name := range []string{
		"' OR 1=1 -- ", "admin\x00", "ADMIN", "admin ", "\u0430dmin", "🚀",
		strings.Repeat("admin", 500),
	} {
		out = append(out, Case{
			Row: "114 " + name[:min(len(name), 12)], Method: http.MethodPost, Path: login,
			Body:    fields{"username": name, "password": AdminPassword}.String(),
			Headers: []string{"Authorization", ""}, Status: 401, Code: "wrong_credentials",
		})
	}
	change := func(row, old, next, field, code string) Case {
		return wrong(row, password, fields{"oldPassword": old, "newPassword": next}.String(), field, code)
	}
	return append(out,
		change("49", AdminPassword, "          ", "newPassword", "too_common"),
		change("50", AdminPassword, strings.Repeat("x", 257), "newPassword", "too_long"),
		change("51", AdminPassword, "a\x00bcdefghij", "newPassword", "invalid_text"),
		change("49 short", AdminPassword, "🚀🚀", "newPassword", "too_short"),
		change("58", AdminPassword, AdminPassword, "newPassword", "unchanged"),
		change("114", AdminPassword+" ", "another password", "oldPassword", "wrong_password"))
}

// AdminPassword is that of the user admin who sends the cases.
const AdminPassword = "correct horse battery"
