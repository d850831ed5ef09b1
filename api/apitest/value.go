package apitest

import (
	"fmt"
	"net/http"
	"strings"
)

func numbers() []Case {
	var out []Case
	for _, c := range []struct{ row, field, literal, code string }{
		{"35", "timeoutSec", "-1", "out_of_range"},
		{"37", "timeoutSec", "2147483648", "out_of_range"},
		{"38", "timeoutSec", "9223372036854775808", "out_of_range"},
		{"38", "timeoutSec", "-9223372036854775809", "out_of_range"},
		{"39", "timeoutSec", "1e309", "not_an_integer"},
		{"40", "timeoutSec", `"NaN"`, "wrong_type"},
		{"41", "timeoutSec", "1.5", "not_an_integer"},
		{"44", "priority", "0", "out_of_range"},
		{"44", "priority", "11", "out_of_range"},
		{"44", "priority", "4294967297", "out_of_range"},
		{"44", "priority", "99999999999999999999", "out_of_range"},
		{"43", "shardCount", "0", "out_of_range"},
		{"43", "shardCount", "-1", "out_of_range"},
		{"43", "shardCount", "1000000", "out_of_range"},
		{"46", "timeoutSec", `"1"`, "wrong_type"},
		{"47", "timeoutSec", "true", "wrong_type"},
		{"48", "timeoutSec", `"5 parsecs"`, "wrong_type"},
		{"37", "maxConcurrency", "2147483648", "out_of_range"},
		{"37", "maxQueued", "2147483648", "out_of_range"},
		{"37", "startDeadlineSec", "2147483648", "out_of_range"},
		{"47", "broadcast", "1", "wrong_type"},
		{"47", "enabled", "1", ""}, // an edit does not know it
		{"47", "labels", `["a"]`, "wrong_type"},
		{"47", "jobData", `"text"`, "wrong_type"},
		{"47", "schedule", `"0 0 0 * * ?"`, "wrong_type"},
		{"47", "routing", "[]", "wrong_type"},
		{"47", "parameters", "{}", "wrong_type"},
	} {
		out = append(out, wrong(c.row+" "+c.literal, jobs, raw(c.field, c.literal), c.field, c.code))
	}
	out = append(out, wrong("47 name", jobs, `{"jobType":"CUSTOM","jobClass":"noop","name":1}`, "name", "wrong_type"))
	for _, c := range []struct{ row, literal, field string }{
		{"42", `{"maxRetries":-1}`, "maxRetries"},
		{"42", `{"maxRetries":1000000000}`, "maxRetries"},
		{"37", `{"intervalMs":9223372036854775807}`, "intervalMs"},
		{"39", `{"jitter":1e309}`, "jitter"},
		{"40", `{"jitter":"NaN"}`, "jitter"},
		{"47", `{"noRetryOn":[1]}`, "noRetryOn[0]"},
		{"47", `{"noRetryOn":"X"}`, "noRetryOn"},
		{"71 reasons", `{"noRetryOn":["TIMEOUT"` + strings.Repeat(`,"ERROR"`, 10_000) + `]}`, "noRetryOn"},
		{"71 reasons twice", `{"noRetryOn":["TIMEOUT"` + strings.Repeat(`,"ERROR"`, 9) + `]}`, "noRetryOn"},
		{"113", `{"backoff":"fixed"}`, "backoff"},
		{"113", `{"noRetryOn":["BAD_LUCK"]}`, "noRetryOn[0]"},
	} {
		out = append(out, wrong(c.row+" "+c.literal[:min(len(c.literal), 30)], jobs, raw("retryPolicy", c.literal),
			"retryPolicy."+c.field, ""))
	}
	return out
}

func texts() []Case {
	var out []Case
	for _, c := range []struct{ row, name, code string }{
		{"49", ``, "required"},
		{"49 spaces", `   `, "required"},
		{"49 wide space", `\u3000`, "required"},
		{"50", strings.Repeat("x", 101), "too_long"},
		{"50 emoji", strings.Repeat("🚀", 101), "too_long"},
		{"51", `a\u0000b`, ""},
		{"66", `a\r\n2026-01-01 INFO forged`, ""},
		{"67", `a\u001b]0;owned\u0007`, ""},
		{"54", `pay\u202etnem`, "invalid"},
		{"55", `pay\u200bment`, "invalid"},
		{"55 separator", `a\u2028b`, "invalid"},
	} {
		out = append(out, wrong(c.row, jobs, `{"jobType":"CUSTOM","jobClass":"noop","name":"`+c.name+`"}`, "name", c.code))
	}
	for _, c := range []struct{ row, field, text, code string }{
		{"51", "description", "a\x00b", "invalid"},
		{"50", "description", strings.Repeat("🚀", 2001), "too_long"},
		{"51", "owner", "a\x00b", "invalid"},
		{"50", "owner", strings.Repeat("é", 101), "too_long"},
		{"50", "group", strings.Repeat("g", 101), "too_long"},
		{"58", "group", "payments ", "invalid"},
		{"69", "group", "../../etc", "invalid"},
		{"54", "group", "pay\u202etnem", "invalid"},
		{"50", "jobClass", strings.Repeat("c", 256), "too_long"},
	} {
		out = append(out, wrong(c.row, jobs, minimal().with(fields{c.field: c.text}).String(), c.field, c.code))
	}
	many := fields{}
	for i := range 10_000 {
		many[fmt.Sprint("k", i)] = "v"
	}
	for _, c := range []struct {
		row    string
		labels fields
		field  string
	}{
		{"71", many, "labels"},
		{"49", fields{" ": "v"}, "labels"},
		{"50 key", fields{strings.Repeat("k", 64): "v"}, "labels." + strings.Repeat("k", 60) + "…"},
		{"50 value", fields{"k": strings.Repeat("v", 256)}, "labels.k"},
		{"51 value", fields{"k": "a\x00b"}, "labels.k"},
		{"47 value", fields{"k": 1}, "labels.k"},
	} {
		out = append(out, wrong(c.row, jobs, minimal().with(fields{"labels": c.labels}).String(), c.field, ""),
			wrong(c.row, jobs, minimal().with(fields{"routing": fields{"labels": c.labels}}).String(), "routing."+c.field, ""))
	}
	large := fields{}
	for i := range 64 {
		large[fmt.Sprint("k", i)] = strings.Repeat("<", 255)
	}
	out = append(out, wrong("71", jobs, minimal().with(fields{"labels": large}).String(), "labels", "too_large"))
	return append(out, wrong("50 jobData", jobs,
		minimal().with(fields{"jobData": fields{"a": strings.Repeat("x", 64<<10)}}).String(), "jobData", "too_long"))
}

func enumerations() []Case { // 113
	var out []Case
	for field, body := range map[string]string{
		"jobType":                `{"name":"n","jobType":"SHELL"}`,
		"jobClass":               `{"name":"n","jobType":"CUSTOM"}`,
		"overlapPolicy":          raw("overlapPolicy", `"parallel"`),
		"onNodeLoss":             raw("onNodeLoss", `"IGNORE"`),
		"routing.strategy":       raw("routing", `{"strategy":"BEST"}`),
		"schedule.kind":          raw("schedule", `{"kind":"YEARLY"}`),
		"schedule.misfirePolicy": scheduled("misfirePolicy", `"NEVER"`),
		"schedule.dialect":       scheduled("dialect", `"ROBFIG"`),
		"schedule.dstGap":        scheduled("dstGap", `"X"`),
		"schedule.dstOverlap":    scheduled("dstOverlap", `"X"`),
	} {
		out = append(out, wrong("113", jobs, body, field, ""))
	}
	return out
}

func unknownFields() []Case {
	var out []Case
	for _, name := range []string{"tenant", "token", "role", "partition", "fenceSeq", "dueTime", "__proto__"} {
		out = append(out, wrong("77", jobs, minimal().with(fields{name: 1}).String(), name, "unknown_field"))
	}
	for _, name := range []string{"Name", "JOBTYPE", "Timeoutsec"} {
		out = append(out, wrong("78", jobs, minimal().with(fields{name: 1}).String(), name, "unknown_field"))
	}
	crowd := fields{}
	for i := range 5_000 {
		crowd[fmt.Sprint("unknown", i)] = i
	}
	long := strings.Repeat("x", 5000)
	return append(out,
		wrong("77 no name", jobs, minimal().with(fields{"": 1}).String(), "", "invalid"),
		wrong("77 long name", jobs, minimal().with(fields{long: 1}).String(), "", "invalid"),
		wrong("77 a crowd", jobs, minimal().with(crowd).String(), "", "invalid"),
		wrong("77 long label", jobs, minimal().with(fields{"labels": fields{strings.Repeat(long, 100): 1}}).String(), "",
			"invalid"),
		wrong("77 a crowd of reasons", jobs, raw("retryPolicy", `{"noRetryOn":[0`+strings.Repeat(",0", 20_000)+`]}`), "",
			"invalid"),
		wrong("77 schedule", jobs, raw("schedule", `{"kind":"NONE","cron":"x"}`), "schedule.cron", "unknown_field"),
		wrong("77 retries", jobs, raw("retryPolicy", `{"retries":1}`), "retryPolicy.retries", "unknown_field"),
		wrong("77 routing", jobs, raw("routing", `{"strategy":"ANY","node":"x"}`), "routing.node", "unknown_field"))
}

func credentials() []Case {
	anonymous := func(c Case) Case {
		c.Headers = append(c.Headers, "Authorization", "")
		return c
	}
	return []Case{
		anonymous(wrong("72 fields", login, `{}`, "username", "required")),
		anonymous(wrong("73 field", login, `{"username":null,"password":"x"}`, "username", "required")),
		anonymous(wrong("47", login, `{"username":{"$ne":""},"password":"x"}`, "username", "wrong_type")),
		anonymous(wrong("47", login, `{"username":"admin","password":true}`, "password", "wrong_type")),
		anonymous(wrong("77", login, `{"username":"admin","password":"x","role":"ADMIN"}`, "role", "unknown_field")),
		anonymous(Case{
			Row: "76", Method: http.MethodPost, Path: login, Body: `{"username":"a","username":"admin","password":"x"}`,
			Status: http.StatusBadRequest, Code: "duplicate_field",
		}),
		wrong("72 fields", password, `{}`, "oldPassword", "required"),
		wrong("77", password, `{"oldPassword":"a","newPassword":"b","userId":"u"}`, "userId", "unknown_field"),
	}
}
