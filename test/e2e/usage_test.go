//go:build linux

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The usage of a command is shown with its run and with each of its attempts; other runs show none.
func TestACommandShowsWhatItTook(t *testing.T) {
	type usage struct{ CPUMs, PeakKb int64 }
	b := startBinary(t)
	shown := func(id string) (u *usage) {
		var run struct{ Usage *usage }
		b.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &run)
		return run.Usage
	}
	// The shell counts, and tail holds what it may have to print.
	const work = "head -c 160000000 /dev/zero | tail -c 150000000 >/dev/null; " +
		"i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; "
	id := b.command(work+"exit 3", map[string]any{"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 100}})
	require.Equal(t, "DEAD", b.ends(id).Status)
	var page struct {
		Items []struct {
			Attempt int
			Usage   *usage
		}
	}
	b.must(200, http.MethodGet, "/api/v1/executions/"+id+"/attempts", nil, &page)
	require.Len(t, page.Items, 2)
	for _, a := range page.Items {
		require.NotNil(t, a.Usage)
		require.Greater(t, a.Usage.CPUMs, int64(100))
		require.Less(t, a.Usage.CPUMs, int64(20_000))
		require.Greater(t, a.Usage.PeakKb, int64(146_000))
		require.Less(t, a.Usage.PeakKb, int64(400_000))
	}
	require.Equal(t, page.Items[1].Usage, shown(id))
	text := newShell(t, b).must("execution", "get", id)
	require.Regexp(t, `Used: +CPU [0-9.]+m?s, memory [0-9]{3}\.[0-9] MiB\n`, text)
	require.Regexp(t, `(?m)^2 .* CPU [0-9.]+m?s, memory`, text)

	id = b.command("exit 0", nil)
	require.Equal(t, "SUCCESS", b.ends(id).Status)
	little := shown(id)
	require.NotNil(t, little)
	t.Logf("%+v, a command that does nothing %+v", page.Items[1].Usage, little)
	require.Less(t, little.CPUMs, int64(100))
	require.Less(t, little.PeakKb, int64(100_000), "the helper's own is no part of it, but for what it has in use")

	var created struct{ ID string }
	b.must(201, http.MethodPost, "/api/v1/jobs",
		map[string]any{"name": "nothing", "jobType": "CUSTOM", "jobClass": "noop", "jobData": map[string]any{}}, &created)
	var run struct {
		IDs []string `json:"executionIds"`
	}
	b.must(202, http.MethodPost, "/api/v1/jobs/"+created.ID+"/trigger", map[string]any{}, &run)
	require.Equal(t, "SUCCESS", b.ends(run.IDs[0]).Status)
	require.Nil(t, shown(run.IDs[0]))
}
