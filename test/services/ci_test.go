package services_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// ci runs .ci/run in a folder of its own, where make and go find what is given.
func ci(t *testing.T, files map[string]string, steps ...string) (said string, failed bool) {
	t.Helper()
	if files["tools/go.mod"] == "" {
		files["tools/go.mod"] = "module tools\n\ngo 1.26\n"
	}
	return scripted(t, ".ci/run", files, nil, steps...)
}

func TestEachStepRunsAndTheEndNamesWhatFailed(t *testing.T) {
	said, failed := ci(t, map[string]string{
		"Makefile": ".PHONY: test\ntest:\n\t@false\nconsole check-console:\n\t@echo $@ is fine\n",
	}, "test", "console")
	require.True(t, failed)
	require.Contains(t, said, "check-console is fine")
	require.Regexp(t, `(?s)=== 0:\d\d minutes
  FAILED        0:\d\d  test
  passed        0:\d\d  console
=== FAILED: test
$`, said)

	said, failed = ci(t, map[string]string{"Makefile": ".PHONY: test\ntest:\n\t@echo all is well\n"}, "test")
	require.False(t, failed, said)
	require.True(t, strings.HasSuffix(said, "=== passed\n"), said)
}

// A step that nobody knows is refused with the names of those that are known, and nothing runs.
func TestAnUnknownStepIsRefused(t *testing.T) {
	makefile := map[string]string{"Makefile": ".PHONY: test\ntest:\n\t@echo tested\n"}
	said, failed := ci(t, makefile, "test", "tets")
	require.True(t, failed)
	require.Contains(t, said, "unknown step 'tets'. The steps are: tidy generated lint console test\n")
	require.NotContains(t, said, "tested")
	said, failed = scripted(t, "test/services/prove", map[string]string{}, nil, "nosuchstep")
	require.True(t, failed)
	require.Regexp(t, `unknown step 'nosuchstep'. The steps are: vulnerabilities .* fault benches\n`, said)
}

// make prove takes the names of its steps as words, though some of them are targets.
func TestMakeProveTakesSteps(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Makefile"), makefile, 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "test/services"), 0o700))
	script := []byte("#!/bin/sh\necho \"proves: $*\"\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "test/services/prove"), script, 0o700))
	for _, steps := range []string{"", "crash", "crash fault nosuchstep"} {
		said := output(t, dir, append([]string{"make", "--no-print-directory", "prove"}, strings.Fields(steps)...)...)
		require.Equal(t, "proves: "+steps+"\n", said)
	}
}

// A lack of the machine is shown, and is no failure of the code.
func TestAStepThatCannotBeCarriedOutFailsNothing(t *testing.T) {
	said, failed := ci(t, map[string]string{}, "lint", "generated")
	require.False(t, failed, said)
	for _, tool := range []string{"lint: golangci-lint", "generated: swag"} {
		require.Regexp(t, `NOT CHECKED +\d:\d\d  `+tool+` cannot be downloaded or built here`, said)
	}

	prove := func(release string) (string, bool) {
		return scripted(t, "test/services/prove", map[string]string{
			"test/fault/upgrade_test.go": release, "tools/go.mod": "module tools\n\ngo 1.26\n",
		}, nil, "upgrade", "vulnerabilities")
	}
	said, failed = prove("const formerRelease = \"ecf3e51\"\n")
	require.False(t, failed, said)
	require.Regexp(t, `NOT CHECKED +0:\d\d  upgrade: the former release ecf3e51 is not in the history`, said)
	require.Regexp(t, `NOT CHECKED +0:\d\d  vulnerabilities: govulncheck cannot be downloaded or built here`, said)
	said, failed = prove("const earlier = 1\n")
	require.True(t, failed)
	require.Contains(t, said, "names no former release")
}

func TestModulesThatAreNotTidyFail(t *testing.T) {
	said, failed := ci(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n"}, "tidy")
	require.False(t, failed, said)
	said, failed = ci(t, map[string]string{
		"main.go":      "package main\n\nfunc main() {}\n",
		"tools/go.sum": "golang.org/x/net v0.61.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n",
	}, "tidy")
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
	said, failed := ci(t, files("current\n"), "generated")
	require.False(t, failed, said)
	said, failed = ci(t, files("former\n"), "generated")
	require.True(t, failed, said)
	require.Contains(t, said, "-former\n+current\n")
	require.Contains(t, said, "generated files are not current")
}

// The workflow runs the gate for each push, and at night each step of prove in a job of its own.
func TestTheWorkflowsRunTheGateAndEachProof(t *testing.T) {
	type job struct {
		Strategy struct {
			Matrix struct{ Step []string }
		}
		Steps []struct{ Run string }
	}
	read := func(name string) (jobs map[string]job) {
		var workflow struct{ Jobs map[string]job }
		text, err := os.ReadFile("../../.github/workflows/" + name)
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, &workflow))
		return workflow.Jobs
	}
	gate := read("ci.yml")["gate"]
	require.Regexp(t, `\.ci/run$`, gate.Steps[len(gate.Steps)-1].Run)
	prove := read("prove.yml")["prove"]
	require.ElementsMatch(t, strings.Fields(variable(t, "test/services/prove", "STEPS")), prove.Strategy.Matrix.Step)
	require.Regexp(t, `make prove \$\{\{ matrix.step \}\}$`, prove.Steps[len(prove.Steps)-1].Run)
}

// variable is what a script sets a variable of its head to.
func variable(t *testing.T, script, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", script))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^` + name + `='([^']*)'`).FindSubmatch(text)
	require.Len(t, found, 2, name)
	return string(found[1])
}
