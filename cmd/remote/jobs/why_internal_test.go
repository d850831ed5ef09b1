package jobs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Every reason that there is has words, and no words are of a reason that there
// is not.
func TestEveryReasonIsSaidInWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../domain/entity/execution.go", nil, 0)
	require.NoError(t, err)
	known := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		if text, ok := spec.Values[0].(*ast.BasicLit); ok {
			name, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			known[name] = true
		}
		return true
	})
	delete(known, "")
	require.Greater(t, len(known), 15)
	for name := range known {
		require.NotEmpty(t, reasons[name], "%s: say in why.go what it means", name)
	}
	for name := range reasons {
		require.True(t, known[name], "%s is no reason of a run", name)
	}
}

func TestEveryWaitIsSaidInWords(t *testing.T) {
	for _, w := range entity.Waits() {
		require.NotEmpty(t, waitWords[string(w)], "%s: say in why.go what it means", w)
	}
	require.Len(t, waitWords, len(entity.Waits()))
}
