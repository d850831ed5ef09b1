// Package services_test runs the scripts of this folder.
package services_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// gotest runs the script in a module of its own, and returns what it says.
func gotest(t *testing.T, files map[string]string) (said string, failed bool) {
	t.Helper()
	script, err := filepath.Abs("gotest")
	require.NoError(t, err)
	dir := t.TempDir()
	files["go.mod"] = "module tried\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "bash", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "TEST_TIMEOUT=30s")
	out, err := cmd.CombinedOutput()
	return string(out), err != nil
}

func TestTheTestsEndWithTheListOfWhatFailed(t *testing.T) {
	const begin = "package a\n\nimport \"testing\"\n\n"
	said, failed := gotest(t, map[string]string{
		"good/a_test.go": begin + "func TestGood(t *testing.T) {}\n",
		"bad/a_test.go": begin + "func TestBad(t *testing.T) { t.Run(\"inner\", func(t *testing.T) { t.Error(\"no\") }) " +
			"}\nfunc TestFine(t *testing.T) {}\n",
		"torn/a_test.go": begin + "func TestTorn(t *testing.T) { panic(\"torn apart\") }\n",
	})
	require.True(t, failed)
	require.Regexp(t, `(?s)=== what failed:
  tried/bad	\S+
  --- FAIL: TestBad \(\S+\)
      --- FAIL: TestBad/inner \(\S+\)
  tried/torn	\S+
  --- FAIL: TestTorn \(\S+\)
    panic: torn apart.*
=== FAILED in \d+ min \d\d s
$`, said)

	said, failed = gotest(t, map[string]string{
		"good/a_test.go": begin + "func TestGood(t *testing.T) {}\n",
		"odd/a_test.go":  begin + "func TestOdd(t *testing.T) { t.Errorf(\"%d\", \"text\") }\n",
		"half/a_test.go": begin + "func TestHalf(t *testing.T) { missing() }\n",
	})
	require.True(t, failed)
	require.Regexp(t, `(?s)=== what failed:\n  go vet \./\.\.\.: see above\n.*  tried/half \[build failed\]\n.*=== FAILED in`, said)

	said, failed = gotest(t, map[string]string{"good/a_test.go": begin + "func TestGood(t *testing.T) {}\n"})
	require.False(t, failed, said)
	require.NotContains(t, said, "what failed")
	require.Contains(t, said, "=== passed in 0 min")
}
