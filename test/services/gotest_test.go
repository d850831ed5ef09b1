// Package services_test runs the scripts of this folder.
package services_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scripted runs a script of this module in a folder of its own, where make and go find what is given. It
// returns what the script says, and whether it failed.
func scripted(t *testing.T, script string, files map[string]string, env []string, args ...string) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module tried\n\ngo 1.26\n"
	for _, name := range []string{script, "test/services/lib/steps.sh", "test/services/lib/packages.sh"} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		files[name] = string(text)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{filepath.Join(dir, script)}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(environment(), append(env, "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))...)
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}

// environment is that of this process, without what a target of make tells gotest.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PS_TEST_") })
}

// runs is the gate's stand-in: it says how it was called, and fails where it is told to.
const runs = `package main

import ("fmt"; "os"; "strings")

func main() {
	fmt.Println("gate", strings.Join(os.Args[1:], " "))
	if os.Getenv("GATE_FAILS") != "" { os.Exit(1) }
}
`

// The gate runs all packages but the long ones, the quick tests of e2e, the failpoints, and the newcomer.
func TestTheGateLeavesOutWhatProveRuns(t *testing.T) {
	module := func() map[string]string {
		return map[string]string{
			"test/gate/main.go": runs, "domain/a.go": "package domain\n", "test/e2e/a.go": "package e2e\n",
			"test/fault/a.go": "package fault\n", "test/faults/a.go": "package faults\n",
			"Makefile": "newcomer:\n\t@echo a newcomer came\n",
		}
	}
	said, failed := scripted(t, "test/services/gotest", module(), []string{"CI=true"}, "./...")
	require.False(t, failed, said)
	require.Regexp(
		t,
		`gate -known test/known-reds.txt .*-narrow ./test/e2e=\^\(Test\S+\)\$ tried/domain tried/test/faults tried/test/gate\n`,
		said,
	)
	require.Contains(t, said, "-flag -skip=^(TestThreeNodesMoveToAPromotedReplica|")
	require.Contains(t, said, "-flag -tags=failpoints ./infrastructure/failpoint/...")
	require.Regexp(
		t,
		`gate [^\n]*-p=4 -flag -timeout=\S+ ./test/simulate [^\n]*./test/architecture\n`,
		said,
	)
	require.Contains(t, said, "a newcomer came")
	require.Regexp(t, `=== passed in 0 min \d\d s\n$`, said)

	said, failed = scripted(t, "test/services/gotest", module(), []string{"CI=true", "PS_TEST_NEWCOMER=0"}, "./test/fault")
	require.False(t, failed, said)
	require.Regexp(t, `gate .* ./test/fault\n`, said)
	require.NotContains(t, said, "newcomer")

	said, failed = scripted(t, "test/services/gotest", module(), []string{"CI=true", "GATE_FAILS=1"}, "./...")
	require.True(t, failed)
	require.Contains(t, said, "a newcomer came")
	require.Contains(t, said, "=== FAILED in")
}

// Each long package is a folder with tests, and a step of prove runs it.
func TestEachLongPackageIsProven(t *testing.T) {
	prove, err := os.ReadFile("prove")
	require.NoError(t, err)
	makefile, err := os.ReadFile("../../Makefile")
	require.NoError(t, err)
	names := strings.Fields(variable(t, "test/services/lib/packages.sh", "LONG_PACKAGES"))
	require.NotEmpty(t, names)
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join("../..", name, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, found, "%s has no tests", name)
		run := regexp.MustCompile(`\./` + name + `[\s;]`)
		require.True(t, run.Match(append(prove, makefile...)), "no step runs %s", name)
	}
}

// Each test that the gate runs of e2e, and each that it leaves out elsewhere, exists in the folders of its step and
// nowhere else.
func TestTheNamedTestsExist(t *testing.T) {
	for list, folders := range map[string]string{
		"QUICK_E2E": "test/e2e/", "CLUSTER_TESTS": "cmd/app/", "COST_TESTS": "(api|application/manager/engine/redact)/",
	} {
		names := strings.Split(strings.Trim(variable(t, "test/services/lib/packages.sh", list), "^()$"), "|")
		require.NotEmpty(t, names)
		for _, name := range names {
			found := output(t, "../..", "grep", "-rlE", "--include=*_test.go", "--exclude-dir=node_modules", "^func "+name+`\(`,
				"api", "application", "cmd", "domain", "infrastructure", "internal", "sdk", "sql", "test", "web")
			require.Regexp(t, "^"+folders+`\w+_test\.go\n$`, found, name)
		}
	}
}

// output is what a command prints in a folder.
func output(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, slices.DeleteFunc(environment(), func(v string) bool {
		return strings.HasPrefix(v, "MAKEFLAGS=") || strings.HasPrefix(v, "MAKELEVEL=") || strings.HasPrefix(v, "MFLAGS=")
	})
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}
