package apitest

import (
	"net/http"
	"strings"
)

const approvals = "/api/v1/approvals"

// votes are bad calls about approvals.
func votes() []Case {
	out := []Case{
		unfit("113", approvals+"?status=LATE", "status", "unknown_value"),
		unfit("113", approvals+"?mine=yes", "mine", "unknown_value"),
		unfit("113", approvals+"?group=x", "group", "unknown_parameter"),
		unfit("45", approvals+"?limit=0", "limit", "out_of_range"),
		unfit("113", approvals+"?cursor=%2F", "cursor", "invalid_cursor"),
		{Row: "69 nobody", Method: http.MethodGet, Path: approvals + "/none", Status: 404, Code: "not_found"},
		{
			Row: "69 nobody", Method: http.MethodPost, Path: approvals + "/none", Body: `{"decision":"APPROVE"}`, Status: 404,
			Code: "not_found",
		},
	}
	for _, c := range []struct{ row, body, field, code string }{
		{"70", `{}`, "decision", "required"},
		{"113", `{"decision":"approve"}`, "decision", "unknown"},
		{"47", `{"decision":true}`, "decision", "wrong_type"},
		{"50", `{"decision":"APPROVE","comment":"` + strings.Repeat("c", 501) + `"}`, "comment", "too_long"},
		{"54", `{"decision":"APPROVE","comment":"\u0000"}`, "comment", ""},
		{"78", `{"decision":"APPROVE","text":"x"}`, "text", "unknown_field"},
	} {
		out = append(out, Case{
			Row: c.row, Method: http.MethodPost, Path: approvals + "/none", Body: c.body, Status: 422, Field: c.field,
			Code: c.code,
		})
	}
	return out
}
