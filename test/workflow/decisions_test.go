package workflow_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each of the decisions W1 to W47 has one row on the page, which names a place, a test, and what is otherwise. That
// the places and the tests exist is checked for all pages: test/architecture.
func TestEachDecisionIsAccountedFor(t *testing.T) {
	page, err := os.ReadFile("../../docs/workflow-decisions.md")
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| (W\d+) \|`).FindAllSubmatch(page, -1)
	require.Len(t, rows, 47)
	whole := regexp.MustCompile("(?m)^\\| (W\\d+) \\| [^|]{4,} \\| [^|]*`[^|]+ \\| `Test[^|]+` \\| [^|]{5,} \\|$")
	for i, row := range whole.FindAllSubmatch(page, -1) {
		require.Equal(t, fmt.Sprint("W", i+1), string(row[1]))
	}
	require.Len(t, whole.FindAll(page, -1), 47)
}
