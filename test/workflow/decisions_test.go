package workflow_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each decision about workflows, workers and operation has one row on its page, which names a place, a test, and what
// is otherwise. That the places and the tests exist is checked for all pages: test/architecture. Some decisions about
// the console's lists are not built, and have no test.
func TestEachDecisionIsAccountedFor(t *testing.T) {
	for _, c := range []struct {
		page, letter string
		last         int
	}{{"workflow-decisions.md", "W", 47}, {"workers/decisions.md", "V", 39}, {"operation-decisions.md", "Y", 48}} {
		page, err := os.ReadFile("../../docs/" + c.page)
		require.NoError(t, err)
		want, found := map[string]bool{}, map[string]bool{}
		for i := range c.last {
			want[fmt.Sprint(c.letter, i+1)] = true
		}
		rows := regexp.MustCompile(`(?m)^\| (`+c.letter+`\d+) \|`).FindAllSubmatch(page, -1)
		require.Len(t, rows, c.last, c.page)
		whole := regexp.MustCompile("(?m)^\\| (" + c.letter + "\\d+) \\| [^|]{4,} \\| [^|]*`[^|]+ \\| (?:`[^|]+|none) \\| [^|]{5,} \\|$")
		for _, row := range whole.FindAllSubmatch(page, -1) {
			found[string(row[1])] = true
		}
		require.Equal(t, want, found, c.page)
	}
}
