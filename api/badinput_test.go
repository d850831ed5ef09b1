package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fields of a JSON object under construction.
type fields map[string]any

func (f fields) with(more fields) fields {
	out := maps.Clone(f)
	maps.Copy(out, more)
	return out
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func minimal() fields {
	return fields{"name": "settle orders", "jobType": "CUSTOM", "jobClass": "noop"}
}

// raw is a minimal job with one field as literal JSON.
func raw(field, literal string) string {
	return fmt.Sprintf(`{"name":"n","jobType":"CUSTOM","jobClass":"noop",%q:%s}`, field, literal)
}

func scheduled(field, literal string) string {
	return raw("schedule", fmt.Sprintf(`{"kind":"CRON","cronExpression":"0 0 0 * * ?",%q:%s}`, field, literal))
}

// The numbers are those of the catalogue of bad inputs.
func TestBadCronAndTimes(t *testing.T) {
	e := newEdge(t)
	const expression, zone = "schedule.cronExpression", "schedule.timeZone"
	for _, c := range []struct {
		row     string
		dialect string
		value   any
	}{
		{"1", "UNIX", "TZ="},
		{"2", "UNIX", "TZ=0"},
		{"3", "UNIX", "CRON_TZ=Asia/Tokyo"},
		{"4", "UNIX", "TZ=../../etc/passwd * * * * *"},
		{"5", "QUARTZ", ""},
		{"6", "QUARTZ", "   "},
		{"7", "QUARTZ", "0 0 0 *"},
		{"7", "UNIX", "* * * *"},
		{"8", "QUARTZ", "0 0 0 * * ? 2026 2027"},
		{"8", "UNIX", "* * * * * * *"},
		{"9", "UNIX", "60 * * * *"},
		{"10", "UNIX", "*/0 * * * *"},
		{"11", "UNIX", "*/999999999 * * * *"},
		{"12", "UNIX", "5-1 * * * *"},
		{"13", "UNIX", "-1 * * * *"},
		{"14", "UNIX", "1-4294967296 * * * *"},
		{"15", "UNIX", "0 0 30 2 *"},
		{"17", "UNIX", "0 0 31 4,6,9,11 *"},
		{"18", "QUARTZ", "@every 0s"},
		{"19", "QUARTZ", "@every -5m"},
		{"20", "QUARTZ", "@every 1ns"},
		{"21", "QUARTZ", "@every 999999h"},
		{"22", "QUARTZ", "@reboot"},
		{"24", "UNIX", "0 0 L * *"},
		{"25", "UNIX", "１ * * * *"},
		{"26", "UNIX", "* * * * *\n* * * * *"},
		{"27", "UNIX", "* * * * *;rm -rf /"},
		{"28", "UNIX", strings.Repeat("1,", 100_000) + "1 * * * *"},
	} {
		t.Run(c.row, func(t *testing.T) {
			e := e.on(t)
			body := minimal().with(fields{"schedule": fields{"kind": "CRON", "dialect": c.dialect, "cronExpression": c.value}})
			e.call("POST", "/api/v1/jobs", encode(t, body)).wantField(422, expression, "")
			preview := fields{"schedule": body["schedule"]}
			e.call("POST", "/api/v1/schedules/preview", encode(t, preview)).wantField(422, expression, "")
		})
	}
	for _, z := range []string{"Mars/Phobos", "Local", "UTC+25", "../../etc/passwd", "\x00", strings.Repeat("x", 5000)} {
		t.Run("30 "+z[:min(len(z), 12)], func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{
				"schedule": fields{"kind": "CRON", "cronExpression": "0 0 0 * * ?", "timeZone": z},
			}))).wantField(422, zone, "")
		})
	}
	for _, c := range []struct{ row, body, field string }{
		{"31", scheduled("startTime", `"2027-01-02T00:00:00Z","endTime":"2027-01-01T00:00:00Z"`), "schedule.startTime"},
		{"32", scheduled("startTime", `"0001-01-01T00:00:00Z"`), "schedule.startTime"},
		{"32", scheduled("startTime", `"9999-12-31T00:00:00Z"`), "schedule.startTime"},
		{"33", raw("schedule", `{"kind":"ONCE","at":"2020-01-01T00:00:00Z"}`), "schedule.at"},
		{"34", scheduled("startTime", `"2027-01-01T00:00:00+99:99"`), "schedule.startTime"},
		{"34", scheduled("startTime", `"2026-12-31T23:59:60Z"`), "schedule.startTime"},
		{"34", scheduled("startTime", `"2026-12-31"`), "schedule.startTime"},
		{"34", scheduled("startTime", `"tomorrow"`), "schedule.startTime"},
		{"34", scheduled("endTime", `1795000000`), "schedule.endTime"},
	} {
		t.Run(c.row+" "+c.field, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", c.body).wantField(422, c.field, "")
		})
	}
	require.Empty(t, e.jobs.jobs, "no half row")
}

func TestUnusualButValidSchedules(t *testing.T) {
	e := newEdge(t)
	for row, s := range map[string]fields{
		"16": {"dialect": "UNIX", "cronExpression": "0 0 29 2 *"}, "23": {"dialect": "UNIX", "cronExpression": "0 0 * * 7"},
		"24": {"dialect": "QUARTZ", "cronExpression": "0 0 0 L * ?"}, "29": {"dialect": "QUARTZ", "cronExpression": "* * * * * ?"},
		"30": {"cronExpression": "0 0 0 * * ?", "timeZone": "Asia/Shanghai"},
	} {
		t.Run(row, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"schedule": s}))).want(201)
		})
	}
}

func TestBadNumbers(t *testing.T) {
	e := newEdge(t)
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
		{"47", "broadcast", "1", "wrong_type"},
		{"47", "name", "1", "wrong_type"},
		{"47", "labels", `["a"]`, "wrong_type"},
		{"47", "jobData", `"text"`, "wrong_type"},
		{"47", "schedule", `"0 0 0 * * ?"`, "wrong_type"},
	} {
		t.Run(c.row+" "+c.literal, func(t *testing.T) {
			e := e.on(t)
			body := raw(c.field, c.literal)
			if c.field == "name" {
				body = `{"jobType":"CUSTOM","jobClass":"noop","name":` + c.literal + `}`
			}
			e.call("POST", "/api/v1/jobs", body).wantField(422, c.field, c.code)
		})
	}
	for _, c := range []struct{ row, literal, field string }{
		{"42", `{"maxRetries":-1}`, "retryPolicy.maxRetries"},
		{"42", `{"maxRetries":1000000000}`, "retryPolicy.maxRetries"},
		{"39", `{"jitter":1e309}`, "retryPolicy.jitter"},
		{"40", `{"jitter":"NaN"}`, "retryPolicy.jitter"},
		{"47", `{"noRetryOn":[1]}`, "retryPolicy.noRetryOn[0]"},
		{"47", `{"noRetryOn":"X"}`, "retryPolicy.noRetryOn"},
		{"113", `{"backoff":"fixed"}`, "retryPolicy.backoff"},
	} {
		t.Run(c.row+" "+c.literal, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", raw("retryPolicy", c.literal)).wantField(422, c.field, "")
		})
	}
	e.call("POST", "/api/v1/jobs", raw("timeoutSec", "0")).want(201) // 36: zero is "no limit"
	for _, limit := range []string{"-1", "0", "201", "1000000000", "9223372036854775808", "1.5", "x", ""} {
		e.call("GET", "/api/v1/jobs?limit="+limit, "").wantField(422, "limit", "out_of_range") // 45
	}
	e.call("GET", "/api/v1/jobs?offset=9223372036854775808", "").wantField(422, "offset", "unknown_parameter") // 45
}

func TestBadStrings(t *testing.T) {
	e := newEdge(t)
	for _, c := range []struct{ row, name, code string }{
		{"49", ``, "required"},
		{"49", `   `, "required"},
		{"49", `\u3000`, "required"},
		{"50", strings.Repeat("x", 101), "too_long"},
		{"51", `a\u0000b`, ""},
		{"66", `a\r\n2026-01-01 INFO forged`, ""},
		{"67", `a\u001b]0;owned\u0007`, ""},
	} {
		t.Run(c.row, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", `{"jobType":"CUSTOM","jobClass":"noop","name":"`+c.name+`"}`).wantField(422, "name", c.code)
		})
	}
	e.call("POST", "/api/v1/jobs", `{"name":"`+strings.Repeat("x", 10<<20)+`"}`).wantCode(413, "body_too_large") // 50
	e.call("POST", "/api/v1/jobs", "{\"name\":\"a\xff\"}").wantCode(400, "invalid_utf8")                         // 52
	for _, lone := range []string{`\ud800`, `\udc00`, `\ud800x`, `\ud800\u0041`, `\\\ud800`} {
		e.call("POST", "/api/v1/jobs", `{"name":"`+lone+`"}`).wantCode(400, "lone_surrogate") // 53
	}
	labels := fields{}
	for i := range 10_000 {
		labels[fmt.Sprint("k", i)] = "v"
	}
	e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"labels": labels}))).wantField(422, "labels", "") // 71
	e.call("GET", "/api/v1/jobs?sort=(select+sleep(5))", "").wantField(422, "sort", "unknown_parameter")             // 70
	for _, id := range []string{"..%2f..%2fetc%2fpasswd", "%2e%2e", "a%00b", "%27%20OR%201=1", strings.Repeat("x", 65), "<script>"} {
		for _, suffix := range []string{"", "/logs"} {
			a := e.call("GET", "/api/v1/executions/"+id+suffix, "") // 69
			a.want(404)
			a.problem()
		}
	}
	require.Empty(t, e.jobs.jobs, "no half row")
}

func TestUnusualButValidTexts(t *testing.T) {
	e := newEdge(t)
	for row, name := range map[string]string{
		"54": "pay\u202etnem", "55": "pay\u200bment", "56": "job 🚀", "57": "cafe\u0301", "58": "Trailing ", "59": "' OR 1=1 -- ", "60": `"; DROP TABLE`,
		"61": "1/**/UNION SELECT", "63": "<script>alert(1)</script>", "64": "javascript:alert(1)", "65": "{{7*7}} ${jndi:ldap://x} %n%s", "68": "=HYPERLINK()",
	} {
		t.Run(row, func(t *testing.T) {
			e := e.on(t)
			a := e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"name": name}))).want(201)
			require.Equal(t, name, a.json()["name"], "what was sent comes back as it was")
			require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
			require.NotContains(t, a.body, "<script>")
		})
	}
	for _, pattern := range []string{"%25", "_", "%5C", "100%25_%5C"} { // 62: the store escapes; the edge passes it on
		e.call("GET", "/api/v1/jobs?name="+pattern, "").want(200)
	}
	require.Equal(t, `100%_\`, e.jobs.filter.NameContains)
}

func TestBadJSON(t *testing.T) {
	e := newEdge(t)
	deep := func(n int) string { return raw("jobData", strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)) }
	for _, c := range []struct {
		row, body string
		status    int
		code      string
	}{
		{"72", " ", 400, "empty_body"},
		{"73", "null", 400, "not_an_object"},
		{"74", "[]", 400, "not_an_object"},
		{"74", "1", 400, "not_an_object"},
		{"74", `"x"`, 400, "not_an_object"},
		{"75", deep(100_000), 400, "invalid_json"},
		{"75", deep(64), 400, "too_deep"},
		{"75", `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", 400, "too_deep"},
		{"76", `{"name":"a","name":"b"}`, 400, "duplicate_field"},
		{"76", `{"jobData":{"a":{"b":1,"b":2}}}`, 400, "duplicate_field"},
		{"76", `{"a":1,"\u0061":2}`, 400, "duplicate_field"},
		{"82", `{"name":"a"} x`, 400, "invalid_json"},
		{"82", `{"name":"a"}{}`, 400, "invalid_json"},
		{"82", `{"name":"a",}`, 400, "invalid_json"},
		{"82", `{"name":}`, 400, "invalid_json"},
		{"82", `{name:"a"}`, 400, "invalid_json"},
		{"82", `{"name":"a"`, 400, "invalid_json"},
		{"82", `{"a":[1,]}`, 400, "invalid_json"},
		{"82", `{"a":NaN}`, 400, "invalid_json"},
		{"82", `{"a":01}`, 400, "invalid_json"},
		{"82", "\xef\xbb\xbf{}", 400, "invalid_json"},
		{"79", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "body_too_large"},
	} {
		t.Run(c.row, func(t *testing.T) {
			e := e.on(t)
			for _, path := range []string{"/api/v1/jobs", "/api/v1/jobs/x/trigger", "/api/v1/schedules/preview", "/api/v1/auth/password"} {
				e.call("POST", path, c.body).wantCode(c.status, c.code)
			}
			e.call("POST", "/api/v1/auth/login", c.body, "Authorization", "").wantCode(c.status, c.code)
		})
	}
	e.call("POST", "/api/v1/jobs", "", "Content-Type", "application/json").wantCode(400, "empty_body") // 72
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", "application/json; charset=gbk", ";;"} {
		a := e.call("POST", "/api/v1/jobs", encode(t, minimal()), "Content-Type", kind) // 81
		a.want(415)
		a.problem()
	}
	e.call("POST", "/api/v1/jobs", encode(t, minimal()), "Content-Encoding", "gzip").wantCode(415, "unsupported_encoding") // 80
	require.Empty(t, e.jobs.jobs, "no half row")
	e.call("POST", "/api/v1/jobs", deep(62)).want(201)
	e.call("POST", "/api/v1/jobs", encode(t, minimal()), "Content-Type", "Application/JSON; charset=UTF-8").want(201)
}

func TestUnknownFields(t *testing.T) {
	e := newEdge(t)
	for _, name := range []string{"tenant", "token", "role", "partition", "fenceSeq", "dueTime", "", "__proto__", strings.Repeat("x", 5000)} {
		a := e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{name: 1})))
		a.want(422)
		_, wrong := a.problem()
		require.Contains(t, fmt.Sprint(wrong), "unknown_field") // 77
		require.Less(t, len(a.body), 2000)
	}
	for _, c := range [][2]string{{"Name", "name"}, {"JOBTYPE", "jobType"}, {"Timeoutsec", "timeoutSec"}} { // 78
		a := e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{c[0]: 1})))
		a.wantField(422, c[0], "unknown_field")
		require.Contains(t, a.body, "did you mean "+c[1])
	}
	for _, c := range []struct{ body, field string }{
		{raw("schedule", `{"kind":"NONE","cron":"x"}`), "schedule.cron"},
		{raw("retryPolicy", `{"retries":1}`), "retryPolicy.retries"},
		{raw("routing", `{"strategy":"ANY","node":"x"}`), "routing.node"},
	} {
		e.call("POST", "/api/v1/jobs", c.body).wantField(422, c.field, "unknown_field")
	}
	require.Empty(t, e.jobs.jobs)
}

func TestUnknownEnumerations(t *testing.T) { // 113
	e := newEdge(t)
	for field, body := range map[string]string{
		"jobType":                  `{"name":"n","jobType":"SHELL"}`,
		"jobClass":                 `{"name":"n","jobType":"CUSTOM"}`,
		"overlapPolicy":            raw("overlapPolicy", `"parallel"`),
		"onNodeLoss":               raw("onNodeLoss", `"IGNORE"`),
		"routing.strategy":         raw("routing", `{"strategy":"BEST"}`),
		"schedule.kind":            raw("schedule", `{"kind":"YEARLY"}`),
		"schedule.misfirePolicy":   scheduled("misfirePolicy", `"NEVER"`),
		"schedule.dialect":         scheduled("dialect", `"ROBFIG"`),
		"schedule.dstGap":          scheduled("dstGap", `"X"`),
		"schedule.dstOverlap":      scheduled("dstOverlap", `"X"`),
		"retryPolicy.noRetryOn[0]": raw("retryPolicy", `{"noRetryOn":["BAD_LUCK"]}`),
	} {
		t.Run(field, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", body).wantField(422, field, "")
		})
	}
	e.call("GET", "/api/v1/jobs?status=LOST", "").wantField(422, "status", "unknown_value")
	e.call("GET", "/api/v1/executions?trigger=MAGIC", "").wantField(422, "trigger", "unknown_value")
}

func TestAllWrongFieldsAtOnce(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/jobs", `{"name":" ","jobType":"SHELL","priority":"high","timeoutSec":-1,"labels":{"a":1},"Owner":"x",
		"schedule":{"kind":"CRON","cronExpression":"nonsense","misfireMaxFires":1.5,"startTime":"soon"},
		"retryPolicy":{"maxRetries":-1,"jitter":true},"shardCount":0}`)
	a.want(422)
	code, wrong := a.problem()
	require.Equal(t, "invalid", code)
	for _, field := range []string{
		"name", "jobType", "priority", "timeoutSec", "labels.a", "Owner", "schedule.cronExpression", "schedule.misfireMaxFires",
		"schedule.startTime", "retryPolicy.maxRetries", "retryPolicy.jitter", "shardCount",
	} {
		require.Contains(t, wrong, field)
	}
	require.Len(t, wrong, 12, a.body)
}
