//go:build linux

package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// People see what a run waits for, and that one which its target works at has no
// node.
func TestPeopleSeeWhatRunsWaitFor(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(target.Close)
	s.must("job", "apply", "-f", s.file("jobs.yaml", `
{name: gpu, jobType: CUSTOM, jobClass: noop, routing: {labels: {gpu: "yes"}}}
---
{name: far, jobType: HTTP, jobData: {method: POST, url: "`+target.URL+`", async: true}, timeoutSec: 3600}
`))
	const idle = "the job has no schedule: it runs when it is triggered"
	require.Equal(t, idle+"\n", s.must("job", "why", "gpu"))

	waiting := strings.TrimSpace(s.must("job", "trigger", "gpu"))
	const waits = "waits: no node that is up carries the labels that the job asks for\n"
	says := waits + "- its latest run, " + waiting + ", " + waits +
		"- the job asks for the label gpu=yes\n- 1 executor is up, and none of them has it\n"
	require.Eventually(t, func() bool { return strings.HasSuffix(s.must("job", "why", "gpu"), says) }, time.Minute,
		50*time.Millisecond)
	require.Regexp(t, waiting+` +gpu .* WAITING +waits for NODE`, s.must("execution", "list", "--waits-for", "node"))

	far := strings.TrimSpace(s.must("job", "trigger", "far"))
	require.Eventually(t, func() bool {
		return strings.Contains(s.must("execution", "list", "--job", "far"), "none: its target works")
	}, time.Minute, 50*time.Millisecond)
	require.Regexp(t, `(?m)^Deadline: +20\d\d-`, s.must("execution", "get", far))
	require.Contains(t, s.must("job", "why", "far"),
		"\n- its latest run, "+far+", runs\n- the run "+far+" has no node: its "+
			"target works, and reports the end\n")
	s.must("execution", "cancel", far, waiting)
	require.Eventually(t, func() bool {
		return strings.HasPrefix(s.must("job", "why", "far"), idle+"\n- its latest run, "+far+", ended as CANCELLED")
	}, time.Minute, 50*time.Millisecond)
}
