//go:build linux

package e2e_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nodes "github.com/platform-scheduler/platform-scheduler/test/rig"
)

func freePort(t *testing.T) string {
	t.Helper()
	addr, err := nodes.FreeAddr(t.Context())
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	return port
}

// triggered triggers a job with parameters.
func (b *binary) triggered(job string, params map[string]any) string {
	b.t.Helper()
	var run struct {
		IDs []string `json:"executionIds"`
	}
	b.must(202, http.MethodPost, "/api/v1/jobs/"+job+"/trigger", map[string]any{"params": params}, &run)
	return run.IDs[0]
}

// shown waits until a run is as wanted.
func (b *binary) shown(id string, wanted func(x shownRun) bool) (x shownRun) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		x = shownRun{}
		b.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &x)
		return wanted(x)
	}, 40*time.Second, 20*time.Millisecond, "%s", id)
	return x
}

// hangUp listens in the place of a server until somebody has called, and does not answer.
func hangUp(t *testing.T, addr string) {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	require.NoError(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)))
	call, err := l.Accept()
	require.NoError(t, err, "nobody reports")
	require.NoError(t, call.Close())
}

// The target of the walkthrough works on while the server is killed, and reports
// to the next one.
func TestTheTargetOfTheWalkthroughSurvivesARestart(t *testing.T) {
	page, err := os.ReadFile("../../docs/walkthrough.md")
	require.NoError(t, err)
	program := regexp.MustCompile(`(?s)<<'EOF'\n(.*?)\nEOF\n`).FindSubmatch(page)
	require.NotNil(t, program)
	file := filepath.Join(t.TempDir(), "target.py")
	require.NoError(t, os.WriteFile(file, program[1], 0o600))
	addr := "127.0.0.1:" + freePort(t)
	target := exec.Command("python3", file, strings.TrimPrefix(addr, "127.0.0.1:"))
	require.NoError(t, target.Start())
	t.Cleanup(func() { _, _ = target.Process.Kill(), target.Wait() })
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", addr)
		return err == nil && c.Close() == nil
	}, 10*time.Second, 20*time.Millisecond)

	b := startBinary(t)
	var job struct{ ID string }
	b.must(201, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name": "walkthrough", "jobType": "HTTP", "timeoutSec": 60,
		"jobData": map[string]any{"method": "POST", "url": "http://" + addr, "async": true},
	}, &job)
	id := b.triggered(job.ID, nil)
	b.shown(id, func(x shownRun) bool { return x.Detached && x.Progress == 50 })
	require.Regexp(t, `(?m)^Node: +none: its target works$`, newShell(t, b).must("execution", "get", id))
	b.kill()
	hangUp(t, b.addr) // the target reports to nobody meanwhile
	b.start()
	x := b.shown(id, func(x shownRun) bool { return x.Status != "RUNNING" })
	require.Equal(t, []any{"SUCCESS", 1, map[string]any{"orders": 500.0}, ""},
		[]any{x.Status, x.Attempt, x.Output, x.NodeID})
}

// A command whose node died goes on behind its last checkpoint.
func TestACommandGoesOnBehindItsCheckpoint(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	s.must("job", "apply", "-f", "../../configs/jobs")
	var found struct{ Items []struct{ ID string } }
	b.must(200, http.MethodGet, "/api/v1/jobs?name=import+in+steps", nil, &found)
	require.Len(t, found.Items, 1)
	id := b.triggered(found.Items[0].ID, map[string]any{"stepSeconds": 0.4})
	before := b.shown(id, func(x shownRun) bool { return x.Progress >= 30 })
	require.NotEmpty(t, before.Checkpoint)
	b.kill()
	b.start()
	x := b.shown(id, func(x shownRun) bool { return x.Status == "SUCCESS" })
	require.Regexp(t, `(?m)^1 +FAILED +NODE_LOST .* [1-9]0 % .*\n2 +SUCCESS .* 100 % +– +\{"steps": 10, "begunAt": \d+\}`,
		s.must("execution", "get", id))
	output, ok := x.Output.(map[string]any)
	require.True(t, ok, x.Output)
	require.Equal(t, []any{2, 10.0, "10"}, []any{x.Attempt, output["steps"], x.Checkpoint})
	require.GreaterOrEqual(t, output["begunAt"], 3.0)
	require.Less(t, output["begunAt"], 10.0)
}
