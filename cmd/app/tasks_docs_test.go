package app

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of tasks in docs/cluster.md names each task, and those that are loops of
// their own.
func TestEveryTaskIsDocumented(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("tasks.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/cluster.md")
	require.NoError(t, err)
	made, documented := []string{}, []string{}
	for _, m := range regexp.MustCompile(`\{"([a-z-]+)", `).FindAllSubmatch(source, -1) {
		made = append(made, string(m[1]))
	}
	_, table, ok := strings.Cut(string(page), "| task | every | who | why |\n")
	require.True(t, ok, "the table is gone")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	require.Greater(t, len(made), 15)
	require.ElementsMatch(t, append(made, "heartbeat", "relay", "alerts", "notifier"), documented)
}
