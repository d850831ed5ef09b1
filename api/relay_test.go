package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/api"
)

// neighbour is another node, which holds the execution "theirs".
type neighbour struct {
	address string
	asked   []string
}

func (n *neighbour) HolderOf(_ context.Context, id string) (string, bool) {
	n.asked = append(n.asked, id)
	return n.address, id == "theirs"
}

func (n *neighbour) Transport() http.RoundTripper { return http.DefaultTransport }

func TestReportsReachTheNodeThatHoldsTheAttempt(t *testing.T) {
	var seen []*http.Request
	var bodies []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)
		seen, bodies = append(seen, r), append(bodies, string(body))
		if r.Header.Get("X-Scheduler-Run-Token") != "good" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(
				`{"type":"urn:x","title":"Unauthorized","status":401,"detail":"not here","code":"run_token","requestId":"r"}`))
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer other.Close()
	e := newEdge(t)
	n := &neighbour{address: other.URL}
	e.rebuild(func(d *api.Deps) { d.Peers = n })
	report := func(id, token string, headers ...string) answer {
		return e.call("POST", "/api/v1/executions/"+id+"/report", `{"status":"SUCCESS"}`,
			append([]string{"Authorization", "Bearer canary", "X-Scheduler-Run-Token", token}, headers...)...)
	}
	a := report("theirs", "good").want(204)
	require.NotEmpty(t, a.header.Get("X-Request-Id"))
	require.Equal(t, []string{`{"status":"SUCCESS"}`}, bodies)
	require.Equal(t, "/api/v1/executions/theirs/report", seen[0].URL.Path)
	require.Empty(t, seen[0].Header.Get("Authorization"), "who calls here is nobody there")
	require.Contains(t, report("theirs", "bad").want(401).body, "run_token")

	require.Len(t, seen, 2)
	report("theirs", "good", "X-Scheduler-Relayed", "1").wantCode(401, "run_token")
	report("ours", "good").wantCode(401, "run_token")
	report("theirs", strings.Repeat("x", 101)).wantCode(401, "run_token")
	report("theirs", "").wantCode(401, "run_token")
	require.Len(t, seen, 2, "none of these goes anywhere")
	other.Close()
	a = report("theirs", "good")
	a.wantCode(503, "node_unavailable")
	require.Equal(t, "2", a.header.Get("Retry-After"))
}
