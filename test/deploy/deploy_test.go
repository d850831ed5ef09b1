// Package deploy_test checks that the files of the folder deploy say what the
// product understands.
package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/config"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	require.NoError(t, err)
	return string(data)
}

// A misspelt variable would be ignored by nobody: the server refuses it.
func TestTheSettingsAreKnown(t *testing.T) {
	variable := regexp.MustCompile(`(PS_[A-Z_]+)\s*[=:]\s*"?([^"\s\\]+)`)
	found := 0
	for _, file := range []string{
		"Dockerfile", "compose.yaml", "compose.worker.yaml", "platform-scheduler.service", "worker.conf",
	} {
		environ := map[string]string{}
		for _, match := range variable.FindAllStringSubmatch(read(t, file), -1) {
			if strings.Contains(match[2], "…") {
				continue
			}
			environ[match[1]] = match[2]
			found++
		}
		var list []string
		for name, value := range environ {
			list = append(list, name+"="+value)
		}
		_, warnings, err := config.Load(config.Options{Environ: list})
		require.NoError(t, err, file)
		require.Empty(t, warnings, file)
	}
	require.GreaterOrEqual(t, found, 5)
}

func TestTheComposeFileIsBuiltFromTheDockerfile(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Build   struct{ Context, Dockerfile string }
			Volumes []string
			CapDrop []string `yaml:"cap_drop"`
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "compose.yaml")), &file))
	service := file.Services["scheduler"]
	require.FileExists(t, filepath.Join("..", "..", "deploy", service.Build.Context, service.Build.Dockerfile))
	require.Equal(t, []string{"ALL"}, service.CapDrop)
	for _, v := range service.Volumes {
		name, _, _ := strings.Cut(v, ":")
		require.Contains(t, file.Volumes, name)
	}
}

func TestTheImageRunsWithoutRoot(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	require.Regexp(t, `(?m)^USER 10001:10001$`, dockerfile)
	require.Contains(t, dockerfile, `ENTRYPOINT ["platform-scheduler"]`,
		"the server is the first process and gets the signals")
	require.Contains(t, dockerfile, `CMD ["platform-scheduler", "health"]`)
	require.Contains(t, read(t, "../go.mod"), "go 1.26", "the image builds with the language of the module")
	require.Contains(t, dockerfile, "golang:1.26-")
}

func TestTheUnitLetsRunsEnd(t *testing.T) {
	all := unit(t)
	unit := map[string]string{}
	for name, values := range all {
		unit[name] = values[len(values)-1]
	}
	require.Equal(t, "notify", unit["Type"])
	require.Equal(t, "mixed", unit["KillMode"], "a signal for the group would end commands before their runs may")
	require.Equal(t, "memory pids", unit["Delegate"])
	require.Greater(t, unit["TimeoutStopSec"], "30")
}
