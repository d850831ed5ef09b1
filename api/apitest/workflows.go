package apitest

import (
	"fmt"
	"net/http"
	"strings"
)

// workflowRetries are bad calls that repeat workflow runs.
func workflowRetries() []Case {
	const plan, retry = workflowRuns + "/" + RunID + "/retry-plan", workflowRuns + "/" + RunID + "/retry"
	many := make([]string, 201)
	for i := range many {
		many[i] = fmt.Sprintf(`"s%d"`, i)
	}
	all := strings.Join(many, ",")
	out := []Case{
		unfit("113", plan+"?step=x", "step", "unknown_parameter"),
		unfit("113", plan+"?from=a&from=b", "from", "repeated"),
		unfit("113", plan+"?from="+strings.ReplaceAll(all, `"`, ""), "from", "too_many"),
		unfit("50", plan+"?from="+strings.Repeat("s", 9217), "from", "too_long"),
		{Row: "69 no workflow run", Method: http.MethodGet, Path: plan, Status: 404, Code: "not_found"},
		{Row: "69 no workflow run", Method: http.MethodPost, Path: retry, Status: 404, Code: "not_found"},
		{Row: "69 nobody", Method: http.MethodPost, Path: workflowRuns + "/none/retry", Status: 404, Code: "not_found"},
	}
	for _, c := range []struct{ row, body, field, code string }{
		{"47", `{"from":"a"}`, "from", "wrong_type"},
		{"47", `{"from":[1]}`, "from[0]", "wrong_type"},
		{"113", `{"from":[` + all + `]}`, "from", "too_many"},
		{"50", `{"reason":"` + strings.Repeat("r", 501) + `"}`, "reason", "too_long"},
		{"54", `{"reason":"\u0000"}`, "reason", ""},
		{"78", `{"steps":["a"]}`, "steps", "unknown_field"},
	} {
		out = append(out, Case{
			Row: c.row, Method: http.MethodPost, Path: retry, Body: c.body, Status: 422, Field: c.field, Code: c.code,
		})
	}
	return out
}
