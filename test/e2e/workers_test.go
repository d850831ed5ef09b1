//go:build linux

package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// anHour is how long a handler sleeps that is to be stopped.
var anHour = map[string]any{"ms": 3_600_000}

// TestWorkersOfTheGoSDK drives processes that are workers. The worker that is killed is lost at the end of its lease of
// 20 s; the other parts go on meanwhile.
func TestWorkersOfTheGoSDK(t *testing.T) {
	// A worker is judged once the server has been up for a worker's lease and its own.
	b := startBinaryWith(t, "PS_ENGINE_BEATMS=500", "PS_ENGINE_LEASEMS=3000")
	program := build(t, "../conformance/goworker")
	killed, lost := aWorkerIsKilled(t, newCrew(b, program, "killed"))

	c := newCrew(b, program, "shop")
	c.join("one")
	t.Run("a run succeeds", func(t *testing.T) {
		id := c.begin("ok", nil, nil)
		require.Equal(t, ending{Status: "SUCCESS", Result: "ok"}, b.ends(id))
		id = c.begin("log", map[string]any{"lines": 2}, nil)
		require.Equal(t, "SUCCESS", b.ends(id).Status)
		require.Equal(t, []string{"line 1", "line 2"}, b.lines(id))
		require.Equal(t, b.worker("shop", "one").ID, b.shown(id, func(shownRun) bool { return true }).NodeID)
	})
	t.Run("a cancel reaches the handler", func(t *testing.T) {
		id := c.begin("sleep", anHour, nil)
		c.entered(id)
		b.must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
		require.Equal(t, "CANCELLED", b.ends(id).Status)
		c.noted("end "+id+":", " cancel", nil)
	})
	t.Run("a run has its time", func(t *testing.T) {
		id := c.begin("sleep", anHour, map[string]any{"timeoutSec": 1})
		require.Equal(t, "TIMEOUT", b.ends(id).Status)
		c.noted("end "+id+":", " timeout", nil)
	})
	t.Run("a secret is filled and hidden", func(t *testing.T) { aSecretIsHidden(t, c) })
	t.Run("SIGTERM drains", func(t *testing.T) { aWorkerDrains(t, newCrew(b, program, "drained")) })

	killed.isRetried(lost)
}

// aWorkerIsKilled kills the one of two workers that runs something.
func aWorkerIsKilled(t *testing.T, c *crew) (_ *crew, id string) {
	t.Helper()
	c.join("one")
	c.join("two")
	id = c.begin("checkpoint", map[string]any{"n": 3, "ms": anHour["ms"]}, map[string]any{
		"retryPolicy": map[string]any{"maxRetries": 1, "intervalMs": 1},
	})
	at := c.entered(id)
	c.shown(id, func(x shownRun) bool { return x.Checkpoint == "c3" })
	c.members[at].kill()
	return c, id
}

// isRetried: the other worker begins the run, with the checkpoint of the one that was killed.
func (c *crew) isRetried(id string) {
	c.t.Helper()
	first := c.entered(id)
	second := c.noted("begin "+id+":", "", map[string]bool{first: true})
	require.Equal(c.t, "DOWN", c.worker(c.name, first).Status)
	c.shown(id, func(x shownRun) bool { return x.Attempt == 2 && x.NodeID == c.worker(c.name, second).ID })
	var attempts struct {
		Items []struct{ Status, Reason, NodeID string }
	}
	c.must(200, http.MethodGet, "/api/v1/executions/"+id+"/attempts", nil, &attempts)
	require.NotEmpty(c.t, attempts.Items)
	require.Equal(c.t, "NODE_LOST", attempts.Items[0].Reason)
	require.Equal(c.t, c.worker(c.name, first).ID, attempts.Items[0].NodeID)
	require.Eventually(c.t, func() bool {
		return strings.Contains(strings.Join(c.lines(id), "\n"), "last c3")
	}, 20*time.Second, 20*time.Millisecond, "it goes on from the checkpoint")
	c.must(202, http.MethodPost, "/api/v1/executions/"+id+"/cancel", nil, nil)
	require.Equal(c.t, "CANCELLED", c.ends(id).Status)
	c.noted("end "+id+":", " cancel", map[string]bool{first: true})
}

func aSecretIsHidden(t *testing.T, c *crew) {
	t.Helper()
	value := canary()
	c.must(201, http.MethodPost, "/api/v1/secrets", map[string]any{"name": "CANARY", "value": value}, nil)
	id := c.begin("echo", map[string]any{"text": "<${secret.CANARY}>"}, nil)
	end := c.ends(id)
	require.Equal(t, "SUCCESS", end.Status, end.ErrorMessage)
	require.Equal(t, "<***>", end.Result)
	for place, text := range c.everywhere([]string{id}) {
		require.NotContains(t, string(text), value, place)
	}
}

// aWorkerDrains: it ends when its run has, and a run that does not end in time goes on elsewhere.
func aWorkerDrains(t *testing.T, c *crew) {
	t.Helper()
	first := c.join("first")
	short := c.begin("sleep", map[string]any{"ms": 1000}, nil)
	c.entered(short)
	first.terminate()
	require.Zero(t, first.exit(), first.said)
	require.Equal(t, "SUCCESS", c.ends(short).Status)
	require.Equal(t, "DOWN", c.worker(c.name, "first").Status)

	second := c.join("second", "PS_GRACE_MS=1")
	long := c.begin("sleep", anHour, nil)
	c.entered(long)
	second.terminate()
	require.Zero(t, second.exit(), second.said)
	c.noted("end "+long+":", " shutdown", nil)
	require.Equal(t, "DOWN", c.worker(c.name, "second").Status)
	c.join("third")
	require.Equal(t, "third", c.noted("begin "+long+":", "", map[string]bool{"second": true}))
	c.must(202, http.MethodPost, "/api/v1/executions/"+long+"/cancel", nil, nil)
	require.Equal(t, "CANCELLED", c.ends(long).Status)
}
