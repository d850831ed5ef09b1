package app_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// A whole server shows its settings to the admin, and no secret among them.
func TestAServerShowsItsSettingsWithoutSecrets(t *testing.T) {
	cfg := newConfig(t)
	cfg.Server.MetricsToken = "canary-secret-for-figures-0123456789"
	e := startEdge(t, cfg)
	defer e.stop()
	res := e.request(http.MethodGet, "/api/v1/settings", nil)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, http.StatusOK, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"server.metricsToken"`)
	require.NotContains(t, string(body), "canary")
	require.NotContains(t, string(body), "a-password-for-tests")
	require.Contains(t, string(body), `"nodeId":"`+cfg.Node.ID+`"`)
}
