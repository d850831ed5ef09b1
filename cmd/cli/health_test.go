package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealthAsksTheServerOfThisMachine(t *testing.T) {
	ready := true
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, "/readyz", r.URL.Path)
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	addr := s.Listener.Addr().String()
	_, port, _ := strings.Cut(addr, ":")
	for _, at := range []string{addr, ":" + port, "0.0.0.0:" + port} {
		code, out, _ := run(t, []string{"PS_SERVER_ADDR=" + at}, "health")
		require.Zero(t, code, at)
		require.Equal(t, "ready\n", out)
	}
	ready = false
	code, _, problem := run(t, []string{"PS_SERVER_ADDR=" + addr}, "health")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "503")
	s.Close()
	code, _, problem = run(t, []string{"PS_SERVER_ADDR=" + addr}, "health")
	require.Equal(t, 1, code)
	require.Contains(t, problem, "the server does not answer")
	code, _, _ = run(t, nil, "health", "extra")
	require.Equal(t, 2, code)
}
