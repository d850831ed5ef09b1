package executors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Targets report where they were told, so a node names an address only when it
// knows one.
func TestTargetsReportWhereTheServerCanBeReached(t *testing.T) {
	for want, s := range map[string]config.Server{
		"http://127.0.0.1:8080":           {Addr: "127.0.0.1:8080"},
		"https://scheduler.internal:8443": {Addr: "scheduler.internal:8443", TLS: config.TLS{CertFile: "x"}},
		"http://[::1]:80":                 {Addr: "[::1]:80"},
		"https://example.com/scheduler":   {Addr: "127.0.0.1:8080", PublicURL: "https://example.com/scheduler/"},
	} {
		require.Equal(t, want, reportBase(config.Config{Server: s}))
	}
	for _, addr := range []string{":8080", "0.0.0.0:8080", "[::]:8080", "127.0.0.1:0", "x", ""} {
		require.Empty(t, reportBase(config.Config{Server: config.Server{Addr: addr}}), addr)
	}
}
