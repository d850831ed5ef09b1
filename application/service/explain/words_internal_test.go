package explain

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Every reason that there is has words, and no words are of a reason that there is not.
func TestEveryReasonIsSaidInWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../../domain/entity/execution.go", nil, 0)
	require.NoError(t, err)
	known := map[entity.Reason]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") || len(spec.Values) != 1 {
			return true
		}
		if text, ok := spec.Values[0].(*ast.BasicLit); ok {
			name, err := strconv.Unquote(text.Value)
			require.NoError(t, err)
			known[entity.Reason(name)] = true
		}
		return true
	})
	delete(known, "")
	require.Greater(t, len(known), 15)
	for name := range known {
		require.NotEmpty(t, reasons[name], "%s: say in words.go what it means", name)
	}
	for name := range reasons {
		require.True(t, known[name], "%s is no reason of a run", name)
	}
}

func TestEveryWaitIsSaidInWords(t *testing.T) {
	for _, w := range entity.Waits() {
		require.NotEmpty(t, waits[w], "%s: say in words.go what it means", w)
	}
	require.Len(t, waits, len(entity.Waits()))
}

// Every code that the package declares, and every one that it says, has a sentence, and each pair has one.
func TestNoCodeLacksASentence(t *testing.T) {
	listed := map[Code]bool{}
	for _, s := range Sentences() {
		listed[s.Code] = true
		require.NotEmpty(t, s.Text)
	}
	pairs := map[string]bool{}
	for _, s := range Sentences() {
		pair := string(s.Verdict) + " " + string(s.Code)
		require.False(t, pairs[pair], "%s has two sentences", pair)
		pairs[pair] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	declared := map[string]Code{}
	var said []*ast.CallExpr
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "Code" && len(n.Values) == 1 {
					text, err := strconv.Unquote(n.Values[0].(*ast.BasicLit).Value)
					require.NoError(t, err)
					declared[n.Names[0].Name] = Code(text)
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "say" || f.Sel.Name == "add") && len(n.Args) == 3 {
					said = append(said, n)
				}
			}
			return true
		})
	}
	require.Greater(t, len(declared), 60)
	for name, code := range declared {
		require.True(t, listed[code], "%s has no sentence in Sentences", name)
	}
	require.Greater(t, len(said), 50)
	for _, call := range said {
		place := 0
		if call.Fun.(*ast.SelectorExpr).Sel.Name == "say" {
			place = 1
		}
		for _, arg := range call.Args[:place+1] {
			text, ok := arg.(*ast.BasicLit)
			require.False(t, ok, "a code is written as a text: %v", text)
		}
	}
}

// Each line of the ledger has a sentence for each status, reason and wait.
func TestEveryLineOfTheLedgerHasASentence(t *testing.T) {
	for _, v := range []Verdict{Fired, Running, Waiting, Skipped} {
		require.NotEmpty(t, template(v, "ANY"), v)
	}
	for _, code := range append(Codes(), FactCodes()...) {
		require.Regexp(t, `^[A-Z][A-Z0-9_]+$`, string(code))
	}
	require.Len(t, Verdicts(), 8)
}
