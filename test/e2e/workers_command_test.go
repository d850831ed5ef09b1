//go:build linux

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// host is a worker group whose members are the product, as `platform-scheduler worker`.
type host struct{ *crew }

func newHost(b *binary, name string, rights map[string]any) host {
	b.t.Helper()
	h := host{newCrew(b, os.Args[0], name)}
	group := map[string]any{"jobGroups": []string{"default"}}
	maps.Copy(group, rights)
	b.must(200, http.MethodPut, "/api/v1/worker-groups/"+name, group, nil)
	return h
}

// join starts a member.
func (h host) join(instance string, flags ...string) *process {
	h.t.Helper()
	env := []string{asServer + "=1", "PS_EXECUTOR_HTTP_ALLOW_PRIVATE=true"}
	if os.Geteuid() == 0 {
		env = append(env, "PS_EXECUTOR_COMMAND_USER=nobody")
	}
	p := launch(h.t, h.dir, env, append([]string{
		h.program, "worker", "--server", h.url, "--group", h.name, "--token-file", "token", "--instance", instance,
	}, flags...)...)
	h.members[instance] = p
	h.t.Cleanup(func() { _ = p.cmd.Process.Signal(syscall.SIGCONT) })
	return p
}

// script runs one on the members.
func (h host) script(text string, more map[string]any) (execution string) {
	h.t.Helper()
	job := map[string]any{"routing": map[string]any{"workers": h.name}, "onNodeLoss": "RETRY"}
	maps.Copy(job, more)
	return h.command(text, job)
}

// TestACommandAndACallRunOnAWorker drives the product as worker and as server. A worker that is killed, and one that is
// frozen, are lost at the end of their leases of 20 s; the other parts go on meanwhile.
func TestACommandAndACallRunOnAWorker(t *testing.T) {
	b := startBinaryWith(t, "PS_ENGINE_BEATMS=500", "PS_ENGINE_LEASEMS=3000")
	may := map[string]any{"commands": true, "secrets": true}
	killed := newHost(b, "killed", may).isLost(func(p *process) { p.kill() })
	frozen := newHost(b, "frozen", may).isLost(func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGSTOP) })

	h := newHost(b, "hosts", may)
	p := h.join("one", "--commands", "--command-slots", "2")
	t.Run("a command", func(t *testing.T) { aCommandRunsOnAWorker(t, h) })
	t.Run("a call", func(t *testing.T) { aCallRunsOnAWorker(t, h) })
	t.Run("rights", func(t *testing.T) { commandsNeedTheirGroup(t, b) })
	t.Run("SIGTERM drains", func(t *testing.T) {
		id := h.script("echo begun; sleep 1; echo done", nil)
		h.says(id, "begun")
		p.terminate()
		require.Zero(t, p.exit(), p.said)
		require.Equal(t, "SUCCESS", b.ends(id).Status)
	})
	killed()
	frozen()
}

// says waits for a line of a run.
func (h host) says(id, line string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool { return strings.Contains(strings.Join(h.lines(id), "\n"), line) },
		20*time.Second, 20*time.Millisecond, "%s", line)
}

// isLost loses the one of two workers that runs a command. The command ends, and only then begins elsewhere.
func (h host) isLost(lose func(p *process)) (isRetried func()) {
	h.t.Helper()
	h.join("one", "--commands")
	h.join("two", "--commands")
	seconds := 100_000 + rand.IntN(800_000)
	id := h.script(fmt.Sprintf("echo by $SCHEDULER_ATTEMPT; sleep %d", seconds), map[string]any{
		"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 1},
	})
	h.says(id, "by 1")
	first := h.shown(id, func(x shownRun) bool { return x.NodeID != "" }).NodeID
	other := h.worker(h.name, "two").ID
	lost := h.members["one"]
	if first == other {
		other, lost = h.worker(h.name, "one").ID, h.members["two"]
	}
	require.Eventually(h.t, func() bool { return sleepers(seconds) == 1 }, 10*time.Second, 10*time.Millisecond)
	lose(lost)
	return func() {
		h.t.Helper()
		require.Eventually(h.t, func() bool {
			require.LessOrEqual(h.t, sleepers(seconds), 1, "never two")
			return strings.Contains(strings.Join(h.lines(id), "\n"), "by 2")
		}, 60*time.Second, 20*time.Millisecond, "%s", h.name)
		h.shown(id, func(x shownRun) bool { return x.Attempt == 2 && x.NodeID == other })
		h.must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
		require.Equal(h.t, "CANCELLED", h.ends(id).Status)
		require.Zero(h.t, sleepers(seconds))
	}
}

func aCommandRunsOnAWorker(t *testing.T, h host) {
	t.Helper()
	value := canary()
	h.must(201, http.MethodPost, "/api/v1/secrets", map[string]any{"name": "CANARY", "value": value}, nil)
	id := h.trigger(map[string]any{
		"jobType": "COMMAND", "routing": map[string]any{"workers": h.name},
		"jobData": map[string]any{
			"command": []string{"sh", "-c", `echo "$1 $S $SCHEDULER_ATTEMPT"; id -un; echo oops >&2; exit 3`, "sh", "<${params.day}>"},
			"env":     map[string]any{"S": "${secret.CANARY}"}, "successExitCodes": []int{3},
		},
	}, "${jobName} $${x}")
	end := h.ends(id)
	require.Equal(t, "SUCCESS", end.Status, end.ErrorMessage)
	require.True(t, strings.HasPrefix(end.Result, "<${jobName} $${x}> *** 1\n"), end.Result)
	if os.Geteuid() == 0 {
		require.Contains(t, end.Result, "nobody")
	}
	for place, text := range h.everywhere([]string{id}) {
		require.NotContains(t, string(text), value, place)
	}
	require.Equal(t, h.worker(h.name, "one").ID, h.shown(id, func(shownRun) bool { return true }).NodeID)

	id = h.script(`echo "progress 40" >>$SCHEDULER_REPORT; echo "checkpoint row=5" >>$SCHEDULER_REPORT
		echo 'result {"rows": 5}' >>$SCHEDULER_REPORT; exit 7`, nil)
	end = h.ends(id)
	require.Equal(t, ending{"FAILED", "EXIT_CODE", "ended with exit code 7", `{"rows": 5}`}, end)
	require.Equal(t, "row=5", h.shown(id, func(shownRun) bool { return true }).Checkpoint)

	seconds := 100_000 + rand.IntN(800_000)
	id = h.script(fmt.Sprintf("(setsid sleep %d &); sleep %d", seconds, seconds), map[string]any{"timeoutSec": 1})
	require.Equal(t, "TIMEOUT", h.ends(id).Status)
	require.Zero(t, sleepers(seconds))
	id = h.script(fmt.Sprintf("sleep %d", seconds), nil)
	require.Eventually(t, func() bool { return sleepers(seconds) == 1 }, 10*time.Second, 10*time.Millisecond)
	h.must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
	require.Equal(t, "CANCELLED", h.ends(id).Status)
	require.Zero(t, sleepers(seconds))
}

func aCallRunsOnAWorker(t *testing.T, h host) {
	t.Helper()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/away" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = fmt.Fprintf(w, "%s %s %s", r.URL.Query().Get("q"), body, r.Header.Get("X-Scheduler-Attempt"))
	}))
	defer target.Close()
	call := func(path string, more map[string]any) map[string]any {
		data := map[string]any{
			"url": target.URL + path + "?q=${params.day}", "method": "POST", "body": `{"a": "${params.day}"}`,
			"headers": map[string]any{"Content-Type": "application/json"},
		}
		maps.Copy(data, more)
		return map[string]any{
			"name": "call " + path, "jobType": "HTTP", "routing": map[string]any{"workers": h.name}, "jobData": data,
			"retryPolicy": map[string]any{"maxRetries": 0}, "timeoutSec": 20,
		}
	}
	id := h.trigger(call("/", nil), `&"${jobId}`)
	end := h.ends(id)
	require.Equal(t, "SUCCESS", end.Status, end.ErrorMessage)
	require.Equal(t, `&"${jobId} {"a": "\u0026\"${jobId}"} 1`, end.Result)
	require.Equal(t, h.worker(h.name, "one").ID, h.shown(id, func(shownRun) bool { return true }).NodeID)
	end = h.ends(h.trigger(call("/away", nil), "b"))
	require.Equal(t, []string{"FAILED", "HTTP_STATUS"}, []string{end.Status, end.Reason}, end.ErrorMessage)
	_, text := h.call(http.MethodPost, "/api/v1/jobs", call("/async", map[string]any{"async": true}))
	require.Contains(t, string(text), `"jobData.async"`)
}

// commandsNeedTheirGroup: a save and a worker that offers commands are refused where the group may not run them, and a
// command waits where no worker offers them.
func commandsNeedTheirGroup(t *testing.T, b *binary) {
	t.Helper()
	shop := newHost(b, "plain", map[string]any{"commands": false})
	job := map[string]any{
		"name": "refused", "jobType": "COMMAND", "jobData": map[string]any{"command": []string{"true"}},
		"routing": map[string]any{"workers": "plain"},
	}
	var refused struct {
		Errors []struct{ Field, Code string }
	}
	b.must(422, http.MethodPost, "/api/v1/jobs", job, &refused)
	require.Equal(t, []struct{ Field, Code string }{{"routing.workers", "worker_group_no_commands"}}, refused.Errors)
	p := shop.join("offers", "--commands")
	require.NotZero(t, p.exit())
	require.Contains(t, p.said.String(), "may not run commands")

	calls := newHost(b, "calls", map[string]any{"commands": true})
	health := "127.0.0.1:" + freePort(t)
	calls.join("one", "--health", health)
	var state struct{ State, ID string }
	require.Eventually(t, func() bool {
		answer, err := http.Get("http://" + health + "/readyz")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		return answer.StatusCode == http.StatusOK && json.NewDecoder(answer.Body).Decode(&state) == nil
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, []string{"UP", calls.worker("calls", "one").ID}, []string{state.State, state.ID})
	id := calls.script("true", nil)
	var run struct{ Status, WaitsFor string }
	require.Eventually(t, func() bool {
		b.must(200, http.MethodGet, "/api/v1/executions/"+id, nil, &run)
		return run.WaitsFor == "WORKER"
	}, 20*time.Second, 20*time.Millisecond, "%+v", run)
	require.Equal(t, "WAITING", run.Status)
	folders, err := filepath.Glob(filepath.Join(calls.dir, "*"))
	require.NoError(t, err)
	require.Len(t, folders, 1, "a worker keeps nothing but what it was given: %s", folders)
}
