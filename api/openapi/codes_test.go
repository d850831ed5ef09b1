package openapi_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/application/service/explain"
)

// codesPage lists the codes of explanations, with their sentences and parameters.
func codesPage() string {
	var out strings.Builder
	out.WriteString("# Codes of `why`\n\n" +
		"Written by `make docs` from `application/service/explain`. `GET /jobs/{id}/why` answers `verdict`, `code` and " +
		"`params`, and\n`{code, params}` for each fact; the English sentence is made of them. `{name}` is a parameter. What " +
		"is in brackets is left\nout where a parameter in it is missing. Times are RFC 3339, durations milliseconds; their " +
		"names end in `Ms`. A code `*` is\neach other one of its verdict. With the parameter `rangeEnd` the answer is about " +
		"a range of fires (`RANGE`).\n\n" +
		"| verdict | code | sentence |\n|---|---|---|\n")
	for _, s := range explain.Sentences() {
		verdict, code := string(s.Verdict), string(s.Code)
		if verdict == "" {
			verdict = "(fact)"
		}
		if code == "" {
			code = "*"
		}
		fmt.Fprintf(&out, "| %s | `%s` | %s |\n", verdict, code, s.Text)
	}
	reasons, waits := explain.Meanings()
	out.WriteString("\n## Reasons\n\nThe parameter `reason`, and the reasons of executions, attempts, dead letters and " +
		"fires. Their `message` or\n`errorMessage` is free text: what the run said.\n\n| reason | meaning |\n|---|---|\n")
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&out, "| `%s` | %s |\n", r, reasons[r])
	}
	out.WriteString("\n## What runs wait for\n\nThe parameter `waitsFor`.\n\n| value | meaning |\n|---|---|\n")
	for _, w := range slices.Sorted(maps.Keys(waits)) {
		fmt.Fprintf(&out, "| `%s` | %s |\n", w, waits[w])
	}
	return out.String()
}
