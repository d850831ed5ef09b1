package httpcall_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/httpcall"
)

// A user who may only start a job gives its parameters, and adds no field to what it sends.
func TestParametersAddNoFieldsToABody(t *testing.T) {
	var got []string
	var kind string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, kind = append(got, string(b)), r.Header.Get("Content-Type")
	})
	x := httpcall.New(clock.NewSystem(), open())
	defer x.Close()
	send := func(contentType, body string, params map[string]any) (outcome entity.Outcome, faults int) {
		d := data{"method": "POST", "url": s.URL, "body": body}
		if contentType != "" {
			d["headers"] = data{"content-type": contentType}
		}
		run := newRun(t, d)
		text, err := json.Marshal(params)
		require.NoError(t, err)
		run.Execution.Params = string(text)
		got = nil
		return x.Run(t.Context(), run, &executortest.Recorder{}), len(x.Check(run.Job))
	}
	const evil = `x", "admin": true, "y": "`
	for _, contentType := range []string{
		"", "application/json", "Application/Vnd.Api+JSON; charset=utf-8", "${params.type}",
	} {
		outcome, faults := send(contentType, `{"n": ${params.n}, "s": "${params.s}"}`,
			map[string]any{"n": 5, "s": evil, "type": "text/x-chosen"})
		require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
		require.Zero(t, faults)
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(got[0]), &fields))
		require.Equal(t, map[string]any{"n": 5.0, "s": evil}, fields)
		if contentType == "" {
			require.Equal(t, "application/json", kind)
		}
	}
	for _, c := range []struct {
		contentType, body string
		faults            int
	}{
		{"application/json", `[${params.ids}]`, 0},
		{"", `[${params.ids}]`, 0},
		{"application/json", `{"n": -${params.n}}`, 1},
		{"", `{"n": -${params.n}}`, 1},
		{"application/json", `{"n": ${params.s}}`, 0},
		{"application/json", `{"n": 1, ${params.s}}`, 1},
		{"application/json", `{"n": ${executionId}}`, 1},
		{"application/x-ndjson", "{\"n\":1}\n${params.s}\n", 0},
		{"application/xml", "<a ${params.s}/>", 0},
	} {
		outcome, faults := send(c.contentType, c.body, map[string]any{"n": 5, "ids": "1,2", "s": evil})
		require.Equal(t, []any{entity.StatusFailed, entity.ReasonInvalid}, []any{outcome.Status, outcome.Reason}, c.body)
		require.Contains(t, outcome.Message, "jobData.body")
		require.NotContains(t, outcome.Message, "admin")
		require.Empty(t, got, "nothing was sent")
		require.Equal(t, c.faults, faults, "%s: a check knows what no value mends", c.body)
	}

	// Nor by choosing the type of the body, where the definition leaves that to the parameters.
	for _, chosen := range []string{
		"application/x-www-form-urlencoded", "application/xml", "multipart/mixed; boundary=x", "text/plain",
		"application/json",
	} {
		outcome, _ := send("${params.type}", `{"n": ${params.n}, "s": "${params.s}"}`,
			map[string]any{"n": `1, "admin": true`, "s": "x", "type": chosen})
		require.Equal(t, entity.ReasonInvalid, outcome.Reason, chosen)
		require.Empty(t, got, "nothing was sent")
	}

	outcome, _ := send("application/x-www-form-urlencoded", "s=${params.s}&n=${params.n}",
		map[string]any{"n": 5, "s": "x&admin=true"})
	require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
	form, err := url.ParseQuery(got[0])
	require.NoError(t, err)
	require.Equal(t, url.Values{"s": {"x&admin=true"}, "n": {"5"}}, form)

	outcome, _ = send("text/xml", `<r n="${params.n}"><s>${params.s}</s></r>`,
		map[string]any{"n": `5" admin="true`, "s": "</s><admin/><s>"})
	require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
	var r struct {
		N     string   `xml:"n,attr"`
		S     string   `xml:"s"`
		Admin *string  `xml:"admin"`
		Attrs []string `xml:"admin,attr"`
	}
	require.NoError(t, xml.Unmarshal([]byte(got[0]), &r))
	require.Equal(t, []any{`5" admin="true`, "</s><admin/><s>", true, 0}, []any{r.N, r.S, r.Admin == nil, len(r.Attrs)})

	for _, contentType := range []string{"", "application/json", "application/xml", "application/x-www-form-urlencoded"} {
		outcome, _ = send(contentType, "${params.s}", map[string]any{"s": "1,2&</a>"})
		require.Equal(t, entity.StatusSuccess, outcome.Status, outcome.Message)
		require.Equal(t, []string{"1,2&</a>"}, got, "a body that is one placeholder stays raw")
	}
}
