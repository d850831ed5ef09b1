package deploy_test

import (
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/schema"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The compose files keep the schema of the Compose specification. No daemon has started them here.
func TestTheComposeFilesKeepTheSchema(t *testing.T) {
	check := func(text string) error {
		var file map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &file))
		return schema.Validate(file)
	}
	for _, name := range []string{"compose.yaml", "compose.cluster.yaml", "compose.worker.yaml"} {
		text := read(t, name)
		require.NoError(t, check(text), name)
		for _, wrong := range [][2]string{
			{"    restart: unless-stopped", "    restarts: unless-stopped"},
			{"    environment:", "    environment: 5\n    labels:"},
		} {
			require.Contains(t, text, wrong[0])
			require.Error(t, check(strings.Replace(text, wrong[0], wrong[1], 1)), "%s with %s", name, wrong[1])
		}
	}
}
