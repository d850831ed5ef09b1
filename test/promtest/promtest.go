// Package promtest runs the programs of Prometheus in tests.
package promtest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// envRequire is 1 where tests may not go without the programs: `make test` installs them.
const envRequire = "PS_TEST_REQUIRE_SERVICES"

// NeedPrometheus returns where the program prometheus or promtool is. Without it, it skips the
// test, or fails it where services are required.
func NeedPrometheus(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv(envRequire) == "1" {
		require.Fail(t, "no "+program, "test/services/install prometheus brings it, and %s=1", envRequire)
	}
	t.Skipf("it needs %s: run test/services/install prometheus", program)
	return ""
}
