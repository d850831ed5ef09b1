//go:build linux

package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const ticking = `
name: ticking
jobType: CUSTOM
jobClass: log
jobData: {lines: [tick]}
schedule: {kind: FIXED_RATE, intervalMs: 200}
`

// The commands about a store halt and wake a server that runs beside them.
func TestTheCommandLineHaltsAndActivatesAServer(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", s.file("ticking.yaml", ticking))
	newest := func() string { return s.must("execution", "list", "--limit", "1", "-o", "json") }
	goesOn := func(what string) {
		t.Helper()
		before := newest()
		require.Eventually(t, func() bool { return newest() != before }, 30*time.Second, 100*time.Millisecond, what)
	}
	goesOn("it fires")
	s.env = append(s.env, "PS_DATA_DIR="+b.dir)
	require.Contains(t, s.must("store", "standby", "--reason", "a drill"), "stand by")
	require.Eventually(t, func() bool {
		before := newest()
		time.Sleep(2 * time.Second) // ten fires of a server that works
		return newest() == before
	}, 30*time.Second, time.Millisecond, "it stands by")

	code, _, errOut := s.run("store", "activate")
	require.NotZero(t, code, "nobody is there who could be asked")
	require.Contains(t, errOut, "--yes")
	halted := newest()
	require.Contains(t, s.must("store", "activate", "--yes"), "ticking", "the command says what will fire")
	require.Eventually(t, func() bool { return newest() != halted }, 30*time.Second, 100*time.Millisecond,
		"it works again")
	goesOn("and goes on")
	require.Regexp(t, `scheduler_job_execution +[1-9]`, s.must("store", "size"))
}
