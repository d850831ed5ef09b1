package architecture

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
)

// A file that grows beyond this holds two things. Tests may be longer: their tables are.
const (
	maxLines     = 400
	maxTestLines = 600
)

// meaningless names say nothing of what a package holds, so everything ends up there.
var meaningless = []string{"base", "common", "helper", "helpers", "misc", "shared", "util", "utils"}

// unfinished marks work left for later; it belongs into an issue.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func (f *file) tooLong() []Violation {
	limit := maxLines
	if f.isTest() {
		limit = maxTestLines
	}
	if f.generated || f.lines <= limit {
		return nil
	}
	return []Violation{{Where: f.path, What: fmt.Sprintf("has %d lines, more than %d: does it hold two things?", f.lines,
		limit)}}
}

func (f *file) misnamed() []Violation {
	for _, name := range []string{f.syntax.Name.Name, path.Base(f.dir())} {
		if slices.Contains(meaningless, name) {
			return []Violation{f.violation(f.syntax.Name.Pos(), "package %s: name it after what it holds", name)}
		}
	}
	return nil
}

// leftovers finds hidden start-up code, work left for later and tests that do not test.
func (f *file) leftovers() []Violation {
	if f.generated {
		return nil
	}
	var found []Violation
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			found = append(found, f.violation(fn.Pos(), "func init: let a constructor do it"))
		}
	}
	for _, group := range f.syntax.Comments {
		for _, comment := range group.List {
			if mark := unfinished.FindString(comment.Text); mark != "" {
				found = append(found, f.violation(comment.Pos(), "%s: finish it, or open an issue", mark))
			}
		}
	}
	ast.Walk(skips{f: f, found: &found}, f.syntax)
	return found
}

// maySkip are the only helpers that skip a test: one whose server or program is not given.
// They fail it where services are required.
var maySkip = map[string]string{
	"infrastructure/persistence/dbtest/dbtest.go":     "NeedMySQL",
	"infrastructure/redisconn/redistest/redistest.go": "need",
	"infrastructure/mq/kafka/kafkatest/kafkatest.go":  "Config",
	"test/promtest/promtest.go":                       "NeedPrometheus",
}

// skips finds tests that skip themselves. A property test's Skip only rejects
// the drawn value, so it matters whose method it is: tests names the
// parameters in scope that are testing's.
type skips struct {
	f     *file
	found *[]Violation
	tests []string
}

// Visit follows the scopes of functions downwards; see ast.Walk.
func (s skips) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.FuncDecl:
		if maySkip[s.f.path] == n.Name.Name {
			return nil
		}
		s.tests = enter(s.tests, n.Type)
	case *ast.FuncLit:
		s.tests = enter(s.tests, n.Type)
	case *ast.CallExpr:
		method, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
			break
		}
		if on, ok := method.X.(*ast.Ident); ok && slices.Contains(s.tests, on.Name) {
			*s.found = append(*s.found, s.f.violation(n.Pos(), "%s.%s: a test that does not run proves nothing", on.Name,
				method.Sel.Name))
		}
	}
	return s
}

// enter returns the test parameters in scope inside a function.
func enter(outer []string, fn *ast.FuncType) []string {
	inner := slices.Clone(outer)
	for _, field := range fn.Params.List {
		for _, name := range field.Names {
			inner = slices.DeleteFunc(inner, func(n string) bool { return n == name.Name })
			if isTesting(field.Type) {
				inner = append(inner, name.Name)
			}
		}
	}
	return inner
}

func isTesting(expr ast.Expr) bool {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "testing"
}
