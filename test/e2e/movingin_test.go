//go:build linux

package e2e_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The definitions of the page about moving in are taken as they stand there.
func TestThePageAboutMovingInHoldsJobs(t *testing.T) {
	b := startBinary(t)
	s := newShell(t, b)
	page, err := os.ReadFile("../../docs/moving-in.md")
	require.NoError(t, err)
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	require.Len(t, blocks, 2)
	require.Contains(t, string(page), "\nplatform-scheduler worker group set billing --job-group billing\n")
	s.must("worker", "group", "set", "billing", "--job-group", "billing")
	for _, block := range blocks {
		job, _, _ := strings.Cut(block, "```")
		require.Contains(t, s.must("job", "apply", "-f", s.file("moved.yaml", job)), "1 created")
	}
}
