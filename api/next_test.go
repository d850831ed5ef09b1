package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// To save a job that starts others one needs job:run where these are, on every way to save one; what is not seen is
// told apart from nothing that is not there.
func TestAJobStartsOnlyWhatItsEditorMayRun(t *testing.T) {
	e, _ := estate(t)
	as := as(boundToken)
	body := func(name, next string) string {
		return fmt.Sprintf(`{"name":%q,"group":"mine","jobType":"CUSTOM","jobClass":"noop","next":[%s]}`, name, next)
	}
	own := e.call("POST", "/api/v1/jobs", body("own", `"a"`), as...).want(201).json()
	require.Equal(t, []any{map[string]any{"job": "mine/a", "on": "SUCCESS", "params": nil}}, own["next"])
	var answers []string
	for _, next := range []string{`"theirs/a"`, `{"job":"theirs/a","on":"END"}`, `"theirs/none"`, `"none/a"`} {
		a := e.call("POST", "/api/v1/jobs", body("x", next), as...)
		require.Contains(t, []int{403, 404}, a.status, a.body)
		answers = append(answers, strings.NewReplacer("theirs", "", "none", "").Replace(a.json()["detail"].(string)))
	}
	for _, a := range answers {
		require.Equal(t, answers[0], a)
	}
	e.call("POST", "/api/v1/jobs", body("x", `"shown/a"`), as...).wantCode(403, "forbidden")
	foreign := e.call("POST", "/api/v1/jobs", body("foreign", `"theirs/a"`)).want(201).json()["id"].(string)
	for path, call := range map[string][2]string{
		"/jobs/" + foreign:                         {"PUT", body("foreign", `"theirs/a"`)},
		"/jobs/" + foreign + "/copy":               {"POST", `{"name":"copied"}`},
		"/jobs/" + foreign + "/versions/1/restore": {"POST", ""},
		"/import": {"POST", `{"version":1,"jobs":[` + body("y", `"theirs/a"`) + `]}`},
	} {
		a := e.call(call[0], "/api/v1"+path, call[1], append(as, "If-Match", `"1"`)...)
		require.Contains(t, []int{403, 404}, a.status, "%s: %s", path, a.body)
	}
}
