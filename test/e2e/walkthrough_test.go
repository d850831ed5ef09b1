package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheWalkthroughWorksAsItStands runs every block of the page in one shell.
func TestTheWalkthroughWorksAsItStands(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "jq", "python3"} {
		_, err := exec.LookPath(tool)
		require.NoError(t, err, "test/services/install shell brings it")
	}
	page, err := os.ReadFile("../../docs/walkthrough.md")
	require.NoError(t, err)
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```bash\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		script.WriteString(block[1])
	}
	require.Contains(t, script.String(), "/auth/logout", "the page is read to its end")
	b := startBinary(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-x")
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "URL=" + b.url, "DATA_DIR=" + b.dir, "HOME=" + t.TempDir(),
		"TMPDIR=" + t.TempDir(),
	}
	cmd.Env = append(cmd.Env, "TARGET_PORT="+freePort(t))
	// What a failed script leaves running must not hold up the test.
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "event: end")
}
