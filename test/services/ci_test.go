package services_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ci runs .ci/run in a folder of its own, where make and go find what is given.
func ci(t *testing.T, files map[string]string, env string, steps ...string) (said string, failed bool) {
	t.Helper()
	script, err := os.ReadFile("../../.ci/run")
	require.NoError(t, err)
	dir := t.TempDir()
	files["go.mod"] = "module tried\n\ngo 1.26\n"
	if files["tools/go.mod"] == "" {
		files["tools/go.mod"] = "module tools\n\ngo 1.26\n"
	}
	files[".ci/run"] = string(script)
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(dir, ".ci/run")}, steps...)...)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), env)
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}

func TestEachStepRunsAndTheEndNamesWhatFailed(t *testing.T) {
	said, failed := ci(t, map[string]string{
		"Makefile": "test:\n\t@false\ncrash:\n\t@echo killed $(CRASH_ROUNDS) times\nmatrix:\n\t@exit 3\n",
	}, "", "test", "crash", "matrix")
	require.True(t, failed)
	require.Contains(t, said, "killed 20 times")
	require.Regexp(t, `(?s)=== 0:\d\d minutes
  FAILED        0:\d\d  test
  passed        0:\d\d  crash
  FAILED        0:\d\d  matrix
=== FAILED: test matrix
$`, said)

	said, failed = ci(t, map[string]string{"Makefile": "test:\n\t@echo all is well\n"}, "", "test")
	require.False(t, failed, said)
	require.True(t, strings.HasSuffix(said, "=== passed\n"), said)

	said, failed = ci(t, map[string]string{}, "", "tets")
	require.True(t, failed)
	require.Contains(t, said, "unknown step 'tets'")
}

// What the machine lacks is shown, and is no failure of the code.
func TestAStepThatCannotBeCarriedOutFailsNothing(t *testing.T) {
	said, failed := ci(t, map[string]string{
		"Makefile":                   "crash:\n\t@false\n",
		"test/fault/upgrade_test.go": "const formerRelease = \"ecf3e51\"\n",
	}, "LAST_START_MINUTES=-1", "crash", "lint", "vulnerabilities", "generated")
	require.False(t, failed, said)
	require.Regexp(t, `NOT CHECKED +0:\d\d  crash: 0:\d\d minutes are over already`, said)
	for _, tool := range []string{"lint: golangci-lint", "vulnerabilities: govulncheck", "generated: swag"} {
		require.Regexp(t, `NOT CHECKED +\d:\d\d  `+tool+` cannot be downloaded or built here`, said)
	}

	said, failed = ci(t, map[string]string{"test/fault/upgrade_test.go": "const formerRelease = \"ecf3e51\"\n"}, "",
		"upgrade")
	require.False(t, failed, said)
	require.Regexp(t, `NOT CHECKED +0:\d\d  upgrade: the former release ecf3e51 is not in the history`, said)
	said, failed = ci(t, map[string]string{"test/fault/upgrade_test.go": "const earlier = 1\n"}, "", "upgrade")
	require.True(t, failed)
	require.Contains(t, said, "names no former release")
}

func TestModulesThatAreNotTidyFail(t *testing.T) {
	said, failed := ci(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n"}, "", "tidy")
	require.False(t, failed, said)
	said, failed = ci(t, map[string]string{
		"main.go":      "package main\n\nfunc main() {}\n",
		"tools/go.sum": "golang.org/x/net v0.61.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
	}, "", "tidy")
	require.True(t, failed, said)
	require.Contains(t, said, "go.mod or go.sum in tools is not tidy")
}

// What make docs writes anew is shown as a difference, and fails.
func TestGeneratedFilesThatAreNotCurrentFail(t *testing.T) {
	files := func(written string) map[string]string {
		return map[string]string{
			"Makefile": ".PHONY: docs\ndocs:\n\t@echo current > docs/settings.md\n", "docs/settings.md": written, "api/a": "",
			"configs/a": "",
			// A tool of that module itself takes no download; go looks for it below the root.
			"tools/go.mod": "module tools\n\ngo 1.26\n\ntool tools/swag\n", "swag/main.go": "package main\n\nfunc main() {}\n",
		}
	}
	said, failed := ci(t, files("current\n"), "", "generated")
	require.False(t, failed, said)
	said, failed = ci(t, files("former\n"), "", "generated")
	require.True(t, failed, said)
	require.Contains(t, said, "-former\n+current\n")
	require.Contains(t, said, "generated files are not current")
}
