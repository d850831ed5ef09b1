package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
	"github.com/platform-scheduler/platform-scheduler/api/apitest"
	"github.com/platform-scheduler/platform-scheduler/domain/repository"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/dbtest"
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

// The numbers are those of the catalogue of bad inputs.
func TestTheEdgeRefusesBadInput(t *testing.T) {
	e := newEdge(t)
	for _, c := range apitest.Edge() {
		t.Run(c.Name(), func(t *testing.T) {
			a := e.on(t).call(c.Method, c.Path, c.Body, c.Headers...)
			c.Check(t, a.status, a.header, a.body)
		})
	}
	require.Empty(t, e.all(), "no half row")
	require.NoError(t, dbtest.Write(t.Context(), e.Store, repository.LaneAPI, "test",
		func(ctx context.Context, tx dbtest.Tx) error {
			calls, err := tx.QueryText(ctx, "SELECT CAST(COUNT(*) AS TEXT) FROM scheduler_idempotency_key")
			require.Equal(t, "0", calls, "no call is kept")
			return err
		}))
}

func TestUnusualButValidSchedules(t *testing.T) {
	e := newEdge(t)
	for row, s := range map[string]fields{
		"16": {"dialect": "UNIX", "cronExpression": "0 0 29 2 *"}, "23": {"dialect": "UNIX", "cronExpression": "0 0 * * 7"},
		"24": {"dialect": "QUARTZ", "cronExpression": "0 0 0 L * ?"},
		"29": {"dialect": "QUARTZ", "cronExpression": "* * * * * ?"},
		"30": {"cronExpression": "0 0 0 * * ?", "timeZone": "Asia/Shanghai"},
	} {
		t.Run(row, func(t *testing.T) {
			e := e.on(t)
			e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"name": row, "schedule": s}))).want(201)
		})
	}
}

func TestUnusualButValidTexts(t *testing.T) {
	e := newEdge(t)
	for row, name := range map[string]string{
		"55": "می\u200cخواهم", "56": "job 🚀", "56 joined": "👩\u200d👩\u200d👧", "57": "cafe\u0301", "58": "Trailing ",
		"59": "' OR 1=1 -- ", "60": `"; DROP TABLE`,
		"61": "1/**/UNION SELECT", "63": "<script>alert(1)</script>", "64": "javascript:alert(1)",
		"65": "{{7*7}} ${jndi:ldap://x} %n%s", "68": "=HYPERLINK()",
	} {
		t.Run(row, func(t *testing.T) {
			e := e.on(t)
			a := e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{"name": name}))).want(201)
			require.Equal(t, name, a.json()["name"], "what was sent comes back as it was")
			require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"))
			require.NotContains(t, a.body, "<script>")
		})
	}
	e.create(encode(t, minimal().with(fields{"name": `by 100%_\`})))
	for pattern, found := range map[string]int{"%25": 2, "_": 1, "%5C": 1, "100%25_%5C": 1, "0%25%5C": 0} {
		// 62: a pattern means itself
		require.Len(t, e.call("GET", "/api/v1/jobs?name="+pattern, "").want(200).json()["items"], found, pattern)
	}
}

func TestTheLimitsThemselvesAreValid(t *testing.T) {
	e := newEdge(t)
	e.call("POST", "/api/v1/jobs", raw("timeoutSec", "0")).want(201) // 36: zero is "no limit"
	e.call("POST", "/api/v1/jobs",
		`{"name":"deep","jobType":"CUSTOM","jobClass":"settle","jobData":`+strings.Repeat(`{"a":`, 62)+"1"+strings.Repeat("}",
			63)).want(201)
	e.call("POST", "/api/v1/jobs", encode(t, minimal()), "Content-Type", "Application/JSON; charset=UTF-8").want(201)
}

func TestAMisspeltFieldIsSuggested(t *testing.T) { // 78
	e := newEdge(t)
	for _, c := range [][2]string{{"Name", "name"}, {"JOBTYPE", "jobType"}, {"Timeoutsec", "timeoutSec"}} {
		require.Contains(t, e.call("POST", "/api/v1/jobs", encode(t, minimal().with(fields{c[0]: 1}))).body,
			"did you mean "+c[1])
	}
}

func TestAllWrongFieldsAtOnce(t *testing.T) {
	e := newEdge(t)
	a := e.call("POST", "/api/v1/jobs",
		`{"name":" ","jobType":"SHELL","priority":"high","timeoutSec":-1,"labels":{"a":1},"Owner":"x",
		"schedule":{"kind":"CRON","cronExpression":"nonsense","misfireMaxFires":1.5,"startTime":"soon"},
		"retryPolicy":{"maxRetries":-1,"jitter":true},"shardCount":0}`)
	a.want(422)
	code, wrong := a.problem()
	require.Equal(t, "invalid", code)
	for _, field := range []string{
		"name", "jobType", "priority", "timeoutSec", "labels.a", "Owner", "schedule.cronExpression",
		"schedule.misfireMaxFires",
		"schedule.startTime", "retryPolicy.maxRetries", "retryPolicy.jitter", "shardCount",
	} {
		require.Contains(t, wrong, field)
	}
	require.Len(t, wrong, 12, a.body)
}

func TestACallerWhoLeavesIsNoFailureOfTheServer(t *testing.T) { // 84
	for what, want := range map[string]bool{"stays": true, "leaves": false} {
		t.Run(what, func(t *testing.T) {
			e := newEdge(t)
			e.rebuild(func(d *api.Deps) { d.Auth = failingAuth{d.Auth, context.Canceled} })
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if what == "leaves" {
				leave()
			}
			req := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/jobs", nil)
			req.Header.Set("Authorization", "Bearer "+adminToken)
			rec := httptest.NewRecorder()
			e.router.ServeHTTP(rec, req)
			conforms(t, req, "", rec)
			require.Equal(t, 503, rec.Code)
			require.Contains(t, e.log.String(), "context canceled")
			require.Equal(t, want, strings.Contains(e.log.String(), `"level":"ERROR"`), e.log.String())
		})
	}
}
