package app

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of tasks in docs/cluster.md names each task of a node on which all of them are on, and no other.
func TestEveryTaskIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/cluster.md")
	require.NoError(t, err)
	documented := []string{}
	_, table, ok := strings.Cut(string(page), "| task | every | who | why |\n")
	require.True(t, ok, "the table is gone")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		documented = append(documented, m[1])
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(limitsOfTasks(t))), documented)
}
