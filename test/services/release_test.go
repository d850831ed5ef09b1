package services_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository is a folder with a small program, the script and a history.
func repository(t *testing.T) (dir string, run func(name string, args ...string) (said string, failed bool)) {
	t.Helper()
	script, err := os.ReadFile("../../tools/release")
	require.NoError(t, err)
	dir = t.TempDir()
	for name, text := range map[string]string{
		"tools/release": string(script), "LICENSE": "free", ".gitignore": "/dist/\n/web/dist/\n",
		"go.mod":                         "module tried\n\ngo 1.26\n",
		"web/dist/index.html":            "the console",
		"cmd/platform-scheduler/main.go": "package main\n\nfunc main() {}\n",
		"tools/go.mod":                   "module tools\n\ngo 1.26\n\ntool tools/cyclonedx-gomod\n",
		"cyclonedx-gomod/main.go": `package main

import "os"

func main() { os.WriteFile(os.Args[len(os.Args)-2], []byte(os.Args[len(os.Args)-4]), 0o600) }
`,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	run = func(name string, args ...string) (string, bool) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		return string(out), err != nil
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		said, failed := run("git", args...)
		require.False(t, failed, said)
	}
	return dir, run
}

func TestAReleaseIsTheSameEachTime(t *testing.T) {
	dir, run := repository(t)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	program := "platform-scheduler_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	said, failed := run("bash", "tools/release", "v1.2.3", platform)
	require.False(t, failed, said)
	require.Contains(t, said, "a rehearsal: the tag v1.2.3 does not exist yet")
	first, err := os.ReadFile(filepath.Join(dir, "dist/v1.2.3/SHA256SUMS"))
	require.NoError(t, err)
	require.Regexp(t, `^[0-9a-f]{64}  LICENSE\n[0-9a-f]{64}  `+program+`\n[0-9a-f]{64}  `+program+`\.cdx\.json\n$`,
		string(first))
	sbom, err := os.ReadFile(filepath.Join(dir, "dist/v1.2.3", program+".cdx.json"))
	require.NoError(t, err)
	require.Equal(t, "v1.2.3", string(sbom))

	said, failed = run("git", "tag", "v1.2.3")
	require.False(t, failed, said)
	said, failed = run("bash", "tools/release", "v1.2.3", platform)
	require.False(t, failed, said)
	require.NotContains(t, said, "rehearsal")
	again, err := os.ReadFile(filepath.Join(dir, "dist/v1.2.3/SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(first), string(again))
}

func TestAReleaseIsRefusedThatNoCommitHolds(t *testing.T) {
	dir, run := repository(t)
	for _, version := range []string{"", "1.2.3", "v1.2", "v01.2.3", "v1.2.3 -X a=b", "v1.2.3-dirty_", "latest"} {
		said, failed := run("bash", "tools/release", version)
		require.True(t, failed, version)
		require.Contains(t, said, "is no tag such as v1.2.3")
	}
	console := filepath.Join(dir, "web/dist/index.html")
	require.NoError(t, os.Rename(console, console+".kept"))
	said, failed := run("bash", "tools/release", "v1.2.3")
	require.True(t, failed)
	require.Contains(t, said, "the console is not built: make console")
	require.NoError(t, os.Rename(console+".kept", console))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "more"), nil, 0o600))
	said, failed = run("bash", "tools/release", "v1.2.3")
	require.True(t, failed)
	require.Contains(t, said, "changes that no commit holds")

	for _, args := range [][]string{{"tag", "v1.2.3"}, {"add", "-A"}, {"commit", "-q", "-m", "Go on"}} {
		said, failed = run("git", args...)
		require.False(t, failed, said)
	}
	said, failed = run("bash", "tools/release", "v1.2.3")
	require.True(t, failed)
	require.Contains(t, said, "the tag v1.2.3 is ")
	require.NoDirExists(t, filepath.Join(dir, "dist"))
}
