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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/mq/kafka/kafkatest"
)

// TestTheWalkthroughWorksAsItStands runs every block of the page in one shell.
func TestTheWalkthroughWorksAsItStands(t *testing.T) {
	b := startBinary(t)
	out := walk(t, "../../docs/walkthrough.md", []string{"bash", "curl", "jq", "python3"},
		"URL="+b.url, "DATA_DIR="+b.dir, "TARGET_PORT="+freePort(t))
	require.Contains(t, out, "event: end")
}

// TestTheWalkthroughOfMonitoringWorksAsItStands sends real mails and webhooks, asks a real Prometheus, and has each
// change of the alert copied to a real Kafka.
func TestTheWalkthroughOfMonitoringWorksAsItStands(t *testing.T) {
	kafka := kafkatest.Config(t)
	b := startBinaryWith(t, "PS_KAFKA_BROKERS="+strings.Join(kafka.Brokers, ","),
		"PS_KAFKA_TOPICPREFIX="+kafka.TopicPrefix)
	out := walk(t, "../../docs/monitoring.md", []string{"bash", "curl", "jq", "openssl", "prometheus"},
		"URL="+b.url, "DATA_DIR="+b.dir, "PYTHON="+mailPython(t), "MAIL_PORT="+freePort(t), "HOOK_PORT="+freePort(t),
		"PROM_PORT="+freePort(t))
	require.Regexp(t, "Subject: .*nightly import", out)
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		copies, err := kafkatest.ReadAll(t.Context(), kafka, "alerts")
		require.NoError(c, err)
		var all strings.Builder
		for _, m := range copies {
			all.Write(m.Value)
		}
		for _, status := range []string{"FIRING", "ACKNOWLEDGED", "RESOLVED"} {
			require.Contains(c, all.String(), status)
		}
	}, time.Minute, time.Second)
}

// mailPython is a Python that has the mail server of the page.
func mailPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import aiosmtpd").Run() == nil {
			return python
		}
	}
	require.Fail(t, "no Python has aiosmtpd: test/services/install shell brings it")
	return ""
}

// walk runs every block of a page in one shell, and returns what it printed.
func walk(t *testing.T, path string, tools []string, environ ...string) string {
	t.Helper()
	return walkIn(t, "", path, tools, environ...)
}

// walkIn is walk in a folder.
func walkIn(t *testing.T, dir, path string, tools []string, environ ...string) string {
	t.Helper()
	for _, tool := range tools {
		_, err := exec.LookPath(tool)
		require.NoError(t, err, "test/services/install shell prometheus brings it")
	}
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```bash\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		script.WriteString(block[1])
	}
	require.Contains(t, script.String(), "# the end of the walk", "the page is read to its end")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-x")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script.String())
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()},
		environ...)
	// Processes of a failed script must not hold up the test.
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Setpgid: true}, time.Second
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
