// Package prometheus_test checks what is shipped for Prometheus.
package prometheus_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/test/promtest"
)

const configs = "../../configs/prometheus"

// promtool runs the tool of Prometheus.
func promtool(t *testing.T, args ...string) string {
	t.Helper()
	tool := promtest.NeedPrometheus(t, "promtool")
	out, err := exec.CommandContext(t.Context(), tool, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestPromtoolTakesTheConfiguration(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(configs)))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "metrics-token"), []byte("token"), 0o600))
	promtool(t, "check", "config", filepath.Join(folder, "prometheus.yml"))
	rules := filepath.Join(folder, "rules")
	promtool(t, "check", "rules", filepath.Join(rules, "recording.yml"), filepath.Join(rules, "alerts.yml"))
}

func TestTheRulesFireWhenTheyShould(t *testing.T) {
	out := promtool(t, "test", "rules", filepath.Join(configs, "tests", "alerts.yml"))
	require.Contains(t, out, "SUCCESS")
}
