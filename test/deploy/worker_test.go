package deploy_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/platform-scheduler/platform-scheduler/cmd/cli"
)

// The files that start workers, and the page about them, give the command flags that it has.
func TestWorkersAreStartedWithKnownFlags(t *testing.T) {
	var help, said bytes.Buffer
	require.Zero(t, cli.Execute([]string{"worker", "--help"}, &help, &said, nil), said.String())
	known := regexp.MustCompile(`(?m)^\s+(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(help.String(), -1)
	require.NotEmpty(t, known)
	flag := regexp.MustCompile("(?m)[ `]--([a-z-]+)")
	own := []string{"build", "days", "job-group"} // of other commands
	for _, file := range []string{"compose.worker.yaml", "worker.conf", "../docs/workers/running.md"} {
		found := flag.FindAllStringSubmatch(read(t, file), -1)
		require.NotEmpty(t, found, file)
		for _, f := range found {
			has := slices.ContainsFunc(known, func(k []string) bool { return k[1] == f[1] })
			require.True(t, has || slices.Contains(own, f[1]), "%s: --%s", file, f[1])
		}
	}
}

// The container of a worker has no more than that of a server, and what checks its health asks the worker.
func TestTheContainerOfAWorker(t *testing.T) {
	var file struct {
		Services map[string]struct {
			Build   struct{ Context, Dockerfile string }
			Command []string
			ReadOn  bool     `yaml:"read_only"`
			CapDrop []string `yaml:"cap_drop"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "compose.worker.yaml")), &file))
	worker := file.Services["worker"]
	require.FileExists(t, filepath.Join("..", "..", "deploy", worker.Build.Context, worker.Build.Dockerfile))
	require.Equal(t, []string{"ALL"}, worker.CapDrop)
	require.True(t, worker.ReadOn)
	require.Contains(t, worker.Command, "--health=127.0.0.1:8080")
	require.Contains(t, read(t, "Dockerfile"), "PS_SERVER_ADDR=:8080", "the health check of the image asks there")
}
