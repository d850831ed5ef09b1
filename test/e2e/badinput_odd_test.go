package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api/apitest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
)

// transcript is what a server answered, without what differs by nature.
type transcript struct {
	*rig
	answers []string
}

// different are ids, times and other numbers of one server.
var different = regexp.MustCompile(
	`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|"[A-Za-z0-9_-]{48}"|20\d\d-\d\d-\d\dT[0-9:.]+Z|"(latenessMs|durationMs)":\d+`)

// ask sends a request, notes the answer and returns it.
func (a *transcript) ask(want int, what, method, path string, body any, headers ...string) map[string]any {
	a.t.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		raw, err := json.Marshal(body)
		require.NoError(a.t, err)
		text = string(raw)
	}
	status, header, answer := a.send(method, path, text, headers...)
	require.Equal(a.t, want, status, "%s: %.1000s", what, answer)
	a.answers = append(a.answers,
		different.ReplaceAllString(fmt.Sprintf("%s: %d %s %s", what, status, header.Get("Content-Type"), answer), "…"))
	var m map[string]any
	if answer != "" {
		d := json.NewDecoder(strings.NewReader(answer))
		d.UseNumber() // some are beyond all others
		require.NoError(a.t, d.Decode(&m), what)
	}
	return m
}

func odd(name string, more map[string]any) map[string]any {
	job := map[string]any{"name": name, "jobType": "CUSTOM", "jobClass": anything}
	for k, v := range more {
		job[k] = v
	}
	return job
}

func TestOddInputGetsTheSameAnswerOnEveryStore(t *testing.T) {
	var first []string
	dbtest.Each(t, func(t *testing.T, store persistence.Config) {
		r := newRig(t, store)
		a := &transcript{rig: r}
		a.names()
		a.filters()
		a.limits()
		a.triggers()
		a.keys()
		r.blameless()
		slices.Sort(a.answers)
		if first == nil {
			first = a.answers
		}
		require.Equal(t, first, a.answers)
	})
}

// oddNames are as many names of jobs.
var oddNames = []string{
	"payment", "Payment", "PAYMENT", "payment ", " payment", "payment  ", "рayment", // 55, 58: case, spaces, lookalikes
	"caf\u00e9", "cafe\u0301", "cafe", "stra\u00dfe", "strasse", "\u0130stanbul", "istanbul", // 57
	"job 🚀", "job 🚁", "👩‍👩‍👧", "\U0010ffff", "\uffff", "\ufffd", // 56
	"' OR 1=1 -- ", `"; DROP TABLE scheduler_job_definition; --`, "1/**/UNION SELECT", "100%", "100_", `back\slash`, `\`,
	"'", "''", "`", "?", ":x", "$1", "%s",
	"<script>alert(1)</script>", "javascript:alert(1)", "{{7*7}} ${jndi:ldap://x} %n%s", "=HYPERLINK()",
	"../../etc/passwd", "null", "0", "true",
	strings.Repeat("🚀", 100), strings.Repeat("\u0130", 100), strings.Repeat("x", 100), strings.Repeat("x", 99) + " ",
}

// maskedNames hold what is not seen, or reads in another order.
var maskedNames = []string{
	"pay\u200bment", "pay\u202etnem", "\ufeffmark", "a\u2028b", "a\u200db", "soft\u00adhyphen",
	"\u2066left\u2069", "tag\U000e0041",
} // 54, 55

// names that differ in a way that stores may overlook are different names;
// what was sent comes back as it was.
func (a *transcript) names() {
	create := func(want int, name string) {
		a.t.Helper()
		m := a.ask(want, "create "+name, http.MethodPost, "/api/v1/jobs", odd(name, nil))
		if want == 201 {
			require.Equal(a.t, name, m["name"])
			read := a.ask(200, "read "+name, http.MethodGet, "/api/v1/jobs/"+m["id"].(string), nil)
			require.Equal(a.t, name, read["name"], "as it was stored")
		}
	}
	for _, name := range oddNames {
		create(201, name)
		create(409, name)
	}
	for _, name := range maskedNames {
		a.ask(422, "create "+name, http.MethodPost, "/api/v1/jobs", odd(name, nil))
	}
}

// filters find what is meant, and nothing that merely compares as equal.
func (a *transcript) filters() {
	count := func(path string) int {
		a.t.Helper()
		items, _ := a.ask(200, path, http.MethodGet, path, nil)["items"].([]any)
		return len(items)
	}
	for _, text := range []string{
		"payment", "PAYMENT", "payment ", " payment", "payment  ", "caf\u00e9", "cafe\u0301", "cafe", "STRASSE", "\u0130",
		"i",
		"🚀", "🚁", "%", "_", `\`, "100%", "100_", "'", "--", "\ufffd", "\U0010ffff", "%25", "*", " OR 1=1", "?", "$1",
		strings.Repeat("🚀", 100),
	} {
		want := 0
		for _, name := range oddNames {
			if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
				want++
			}
		}
		if strings.Contains("fails", strings.ToLower(text)) { // the one that was there before
			want++
		}
		require.Equal(a.t, want, count("/api/v1/jobs?limit=200&name="+url.QueryEscape(text)), "%q", text)
	}
	a.ask(201, "a group", http.MethodPost, "/api/v1/jobs", odd("grouped", map[string]any{"group": "支払い"}))
	a.ask(201, "the same name elsewhere", http.MethodPost, "/api/v1/jobs",
		odd("payment", map[string]any{"group": "Payments"}))
	for group, want := range map[string]int{
		"支払い": 1, "支払い ": 0, "Payments": 1, "payments": 0, "Payments ": 0, "Paym%": 0,
		"🚀": 0, "' OR 1=1 -- ": 0,
	} {
		require.Equal(a.t, want, count("/api/v1/jobs?group="+url.QueryEscape(group)), "%q", group)
	}
	job := a.ids.Replace("/" + apitest.JobID)[1:]
	letter := a.ids.Replace("/" + apitest.LetterID)[1:]
	failing := a.ask(200, "the letter's run", http.MethodGet, "/api/v1/executions/"+letter, nil)["jobId"].(string)
	for suffix, want := range map[string]int{
		"": 1, " ": 0, "%": 0, "é": 0, "🚀": 0, "' OR '1'='1": 0,
		strings.Repeat("x", 400): 0,
	} {
		require.Equal(a.t, want, count("/api/v1/executions?jobId="+url.QueryEscape(job+suffix)), "%q", suffix)
		require.Equal(a.t, want, count("/api/v1/dead-letters?jobId="+url.QueryEscape(failing+suffix)), "%q", suffix)
	}
	require.Equal(a.t, 0, count("/api/v1/executions?jobId="+strings.ToUpper(job)), "ids are compared byte for byte")
	for node, want := range map[string]int{"": 2, " ": 0, "é": 0, "🚀": 0, "nobody": 0} {
		require.Equal(a.t, want, count("/api/v1/executions?nodeId="+url.QueryEscape(node)), "%q", node)
	}
	require.Equal(a.t, 0, count("/api/v1/executions?to=1970-01-01T00:00:00Z"))
	require.Equal(a.t, 2, count("/api/v1/executions?from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59.999Z"))
	require.Equal(a.t, 0, count("/api/v1/executions?from=9999-12-31T23:59:59.999Z"))
	require.Equal(a.t, 0, count("/api/v1/jobs?cursor=MA"), "a cursor before everything")
}

// limits: what is just allowed is kept whole.
func (a *transcript) limits() {
	labels, forRouting := map[string]string{}, map[string]string{}
	for i := range 64 {
		name := fmt.Sprintf("🏷%02d%s", i, strings.Repeat("é", 60))
		labels[name] = strings.Repeat("🚀", 30) // 16,127 of 16,384 bytes as JSON
		forRouting[name] = strings.Repeat("🚀", 255)
	}
	reasons := []string{
		"ERROR", "TIMEOUT", "EXIT_CODE", "HTTP_STATUS", "BODY_MISMATCH", "PANIC", "INVALID", "NODE_LOST",
		"SHUTDOWN",
	}
	sent := odd("at the limits", map[string]any{
		"description": strings.Repeat("🚀", 2000), "owner": strings.Repeat("é", 100), "group": strings.Repeat("字", 100),
		"labels":   labels,
		"routing":  map[string]any{"strategy": "ANY", "labels": forRouting},
		"jobData":  map[string]any{"a": strings.Repeat("🚀", 16000)},
		"priority": 10, "timeoutSec": 604800, "startDeadlineSec": 604800, "maxConcurrency": 10000, "maxQueued": 100000,
		"shardCount": 1024,
		"retryPolicy": map[string]any{
			"maxRetries": 1000, "backoff": "EXPONENTIAL", "intervalMs": 86400000,
			"maxIntervalMs": 86400000, "jitter": 1, "noRetryOn": reasons,
		},
		"schedule": map[string]any{
			"kind": "CRON", "cronExpression": "0 0 0 29 2 ? *", "timeZone": "America/Argentina/ComodRivadavia",
			"startTime": "1970-01-01T00:00:00.000Z",
			"endTime":   "2199-12-31T23:59:59.999Z", "jitterMs": 86400000, "misfireThresholdSec": 86400,
			"misfireWindowSec": 31536000, "misfireMaxFires": 10000,
		},
	})
	job := a.ask(201, "limits", http.MethodPost, "/api/v1/jobs", sent)
	path := "/api/v1/jobs/" + job["id"].(string)
	read := a.ask(200, "read limits", http.MethodGet, path, nil)
	for _, field := range []string{"description", "owner", "group"} {
		require.Equal(a.t, sent[field], read[field])
	}
	require.Len(a.t, read["labels"], 64)
	require.Equal(a.t, job, read, "what the first answer told is what is stored")
	require.Equal(a.t, json.Number("2"), a.ask(200, "what GET gives, PUT takes", http.MethodPut, path, read)["version"])
	a.ask(204, "delete limits", http.MethodDelete, path, nil)

	for what, data := range map[string]string{
		"NUL inside": `{"a":"x\u0000y","\u0000":1}`, "huge numbers": `{"a":1e999999,"b":` + strings.Repeat("9",
			10_000) + `,"c":-0,"d":1.0,"e":1E5}`,
		"case variants": `{"a":1,"A":2,"á":3}`, "empty names": `{"":{"":[]}}`,
		"separators": `{"a":"\u2028\u2029\u007f\u0085<>&"}`, "escapes": `{"a":"\ud83d\ude80\/\b"}`,
		"60 levels": strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60),
	} {
		m := a.ask(201, what, http.MethodPost, "/api/v1/jobs",
			`{"name":"data `+what+`","jobType":"CUSTOM","jobClass":"anything","jobData":`+data+`}`)
		status, _, answer := a.send(http.MethodGet, "/api/v1/jobs/"+m["id"].(string), "")
		require.Equal(a.t, 200, status)
		if what == "huge numbers" {
			require.Contains(a.t, answer, strings.Repeat("9", 10_000))
			require.Contains(a.t, answer, `"a":1e999999`)
		}
	}
	// Ids and states are not for callers to choose.
	chosen := a.ask(201, "mass assignment", http.MethodPost, "/api/v1/jobs", odd("chosen", map[string]any{
		"id": "mine", "status": "FINISHED", "version": 77, "createTime": "1999-01-01T00:00:00Z",
		"nextFireTime": "2030-01-01T00:00:00Z",
	}))
	require.NotEqual(a.t, "mine", chosen["id"])
	require.Equal(a.t, "ENABLED", chosen["status"])
	require.Equal(a.t, json.Number("1"), chosen["version"])
	require.Nil(a.t, chosen["nextFireTime"])
}

// triggers with times at the ends of what is known, and texts in parameters.
func (a *transcript) triggers() {
	path := "/api/v1/jobs/" + apitest.JobID + "/trigger"
	for what, body := range map[string]string{
		"the first moment": `{"scheduledTime":"1970-01-01T00:00:00Z"}`,
		"the last moment":  `{"scheduledTime":"9999-12-31T23:59:59.999Z"}`,
		"nanoseconds":      `{"scheduledTime":"2026-01-01T00:00:00.123456789+14:00"}`, "a year": `{"delaySec":31622400}`,
		"nothing": ``, "nulls": `{"params":null,"delaySec":null,"scheduledTime":null}`,
		"params":      `{"params":{"🚀":"a\u0000b","n":1e999,"deep":{"x":[[[]]]}}}`,
		"long params": `{"params":{"x":"` + strings.Repeat("🚀", 16_000) + `"}}`,
	} {
		m := a.ask(202, what, http.MethodPost, path, body)
		id := m["executionIds"].([]any)[0].(string)
		var run struct{ Status, ScheduledTime string }
		if what == "a year" {
			a.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &run)
			require.Equal(a.t, "WAITING", run.Status)
			a.ask(202, "cancel", http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil)
			continue
		}
		a.await(what, "/api/v1/executions/"+id, &run, func() bool { return run.Status == "SUCCESS" })
		if what == "the first moment" {
			require.Equal(a.t, "1970-01-01T00:00:00.000Z", run.ScheduledTime)
		}
	}
}

// keys that differ in case are different keys; bodies are compared as bytes.
func (a *transcript) keys() {
	trigger := func(want int, key, body string) any {
		a.t.Helper()
		return a.ask(want, "key "+key, http.MethodPost, "/api/v1/jobs/"+apitest.JobID+"/trigger", body, "Idempotency-Key",
			key)["executionIds"]
	}
	seen := map[string]bool{}
	for _, key := range []string{"k", "K", "k.", "%", "_", "'", `\`, `"`, strings.Repeat("k", 255)} {
		first := trigger(202, key, "{}")
		require.Equal(a.t, first, trigger(202, key, "{}"))
		trigger(422, key, "{ }")
		require.False(a.t, seen[fmt.Sprint(first)], "%s is a key of its own", key)
		seen[fmt.Sprint(first)] = true
	}
}
