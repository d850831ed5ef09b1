package httpcall_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/outbound"
)

func TestPlaceholdersBecomeTheValuesOfTheRun(t *testing.T) {
	var got *http.Request
	var body string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		_, _ = io.WriteString(w, "for ann & co")
	})
	run := newRun(t, data{
		"method": "POST", "url": s.URL + "/${params.who}/${scheduledTime:yyyyMMdd}?who=${params.who}&n=1",
		"headers": data{"Authorization": "Bearer ${secret.TOKEN}"}, "body": `{"who":"${params.who}","run":"${executionId}"}`,
		"expectedBody": "for ${params.who}",
	})
	run.Execution.Params = `{"who":"ann & co"}`
	run.Secrets = map[string]string{"TOKEN": "hunter2"}
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	outcome := x.Run(t.Context(), run, &executortest.Recorder{})
	require.Equal(t, entity.Succeeded("for ann & co"), outcome)
	require.Equal(t, "/ann%20%26%20co/20260301?who=ann%20%26%20co&n=1", got.RequestURI)
	require.Equal(t, "Bearer hunter2", got.Header.Get("Authorization"))
	require.JSONEq(t, `{"who":"ann & co","run":"execution-1"}`, body)
}

func TestValuesAreCheckedLikeAnyText(t *testing.T) {
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	for name, c := range map[string]struct {
		d      data
		params string
		field  string
	}{
		"line break in a header": {data{"headers": data{"X-A": "${params.v}"}}, `{"v":"1\r\nX-B: 2"}`, "jobData.headers.X-A"},
		"address of a cloud":     {data{"url": "${params.v}"}, `{"v":"http://169.254.169.254/"}`, "jobData.url"},
		"other host":             {data{"url": "http://${params.v}/"}, `{"v":"evil.example/x"}`, "jobData.url"},
		"user in a host":         {data{"url": "http://good.${params.v}/"}, `{"v":"@evil.example"}`, "jobData.url"},
		"missing":                {data{"body": "${params.none}", "method": "POST"}, `{}`, "jobData.body"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.d["url"] == nil {
				c.d["url"] = "http://127.0.0.1"
			}
			run := newRun(t, c.d)
			require.Empty(t, x.Check(run.Job), "it may be good when it runs")
			run.Execution.Params = c.params
			outcome := x.Run(t.Context(), run, &executortest.Recorder{})
			require.Equal(t, entity.ReasonInvalid, outcome.Reason)
			require.Contains(t, outcome.Message, c.field)
			require.NotContains(t, outcome.Message, "evil")
		})
	}
}

// A secret that is not there is no mistake of the definition, and not mended by
// another try.
func TestARunWithoutItsSecretIsNotRepeated(t *testing.T) {
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	run := newRun(t, data{"url": "http://127.0.0.1", "headers": data{"X-A": "${secret.NONE}"}})
	require.Empty(t, x.Check(run.Job), "it may be there when it runs")
	outcome := x.Run(t.Context(), run, &executortest.Recorder{})
	require.Equal(t, []any{entity.ReasonSecretMissing, true}, []any{outcome.Reason, outcome.NoRetry})
	require.Contains(t, outcome.Message, "jobData.headers.X-A: there is no secret named NONE")
}

func TestCheckSeesWhatIsWrongAroundPlaceholders(t *testing.T) {
	x := httpcall.New(clock.NewSystem(), httpcall.Settings{Guard: outbound.New(outbound.Policy{})})
	defer x.Close()
	for url, good := range map[string]bool{
		"https://${params.host}/x":               true,
		"https://${params.host}:${params.port}":  true,
		"${params.url}":                          true,
		"${secret.HOOK}?x=1":                     true,
		"https://h/${params.a}/${scheduledTime}": true,
		"http://127.0.0.1/${params.a}":           false,
		"ftp://${params.host}/":                  false,
		"https://h/${HOME}":                      false,
		"https://h/${scheduledTime:QQ}":          false,
		"https://h/${params.a}#x":                false,
	} {
		faults := x.Check(newRun(t, data{"url": url}).Job)
		require.Equal(t, good, len(faults) == 0, "%s %v", url, faults)
	}
}

// A value stays where it stands in a path: it does not lead elsewhere on the
// host, however the service there reads it.
func TestAValueDoesNotClimbOutOfAPath(t *testing.T) {
	calls := 0
	s := serve(t, func(http.ResponseWriter, *http.Request) { calls++ })
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	call := func(path, v string) entity.Outcome {
		run := newRun(t, data{"url": s.URL + path})
		require.Empty(t, x.Check(run.Job), "it may be good when it runs")
		params, err := json.Marshal(map[string]string{"v": v})
		require.NoError(t, err)
		run.Execution.Params = string(params)
		return x.Run(t.Context(), run, &executortest.Recorder{})
	}
	for _, v := range []string{
		".", "..", "../..", "a/../../b", "..\\..", "/..", "%2e%2e", "%2E.", "..%2f..", "%252e%252e", "..;x", "..%3bx",
		"..\x00", "..\x00x", "..%00", "..%2f%zz", "..%5c..", "a/.", "./a",
	} {
		o := call("/v1/items/${params.v}/end", v)
		require.Equal(t, []any{entity.StatusFailed, entity.ReasonInvalid}, []any{o.Status, o.Reason}, "%q", v)
		require.Contains(t, o.Message, "jobData.url")
	}
	for path, v := range map[string]string{
		"/v1/.${params.v}/x": ".", "/v1/${params.v}./x": ".",
		"/v1/%2e${params.v}": ".",
	} {
		require.Equal(t, entity.ReasonInvalid, call(path, v).Reason, path)
	}
	require.Zero(t, calls, "nothing was called")
	for _, v := range []string{"a.b", "...", ".a", "a..b", "a/b", "1.2.3", "..a", "%", "100%", "日本", "a;b"} {
		require.Equal(t, entity.StatusSuccess, call("/v1/items/${params.v}/end", v).Status, "%q", v)
	}
	require.Equal(t, entity.StatusSuccess, call("/v1/items?at=${params.v}", "..").Status, "a query is no path")
	require.NotEmpty(t, x.Check(newRun(t, data{"url": s.URL + "/v1/../${params.v}"}).Job))
	require.Empty(t, x.Check(newRun(t, data{"url": s.URL + "/v1/../x"}).Job), "the author's own")
}
