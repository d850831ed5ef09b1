package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

// Each setting says where its value comes from, and no secret is in it.
func TestEffectiveSettingsNameTheirSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	content := "engine:\n  batchSize: 7\nexecutor:\n  slots: 5\nlog:\n  level: ~\n"
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	c, _, err := config.Load(config.Options{
		File: file, Environ: []string{"PS_EXECUTOR_SLOTS=9", "PS_SERVER_METRICS_TOKEN=canary-secret-value-0123456789"},
		Flags: map[string]string{"dataDir": t.TempDir()},
	})
	require.NoError(t, err)
	from := map[string]config.Source{}
	for _, e := range c.Effective() {
		from[e.Name] = e.Source
		require.NotContains(t, fmt.Sprint(e.Current), "canary", e.Name)
	}
	require.Len(t, from, len(config.Settings()))
	require.Equal(t, config.SourceFile, from["engine.batchSize"])
	require.Equal(t, config.SourceEnvironment, from["executor.slots"])
	require.Equal(t, config.SourceEnvironment, from["server.metricsToken"])
	require.Equal(t, config.SourceFlag, from["dataDir"])
	require.Equal(t, config.SourceDefault, from["engine.leaseMs"])
	require.Equal(t, config.SourceDefault, from["log.level"], "the file names it without a value")
}
