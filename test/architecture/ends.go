package architecture

import (
	"go/ast"
	"slices"
	"strings"
)

// endWrites are the writes of executions that may make them final.
var endWrites = []string{"Close", "Finish", "Insert", "Update"}

// endsElsewhere are the files that write executions and leave the telling to
// others, with the reason.
var endsElsewhere = map[string]string{
	"application/manager/engine/admission/replace.go": "hands what it ends to its callers, in PostCommit.Closed",
	"application/manager/engine/admission/ready.go":   "moves what waits",
	"application/service/execution/execution.go":      "asks what runs to stop",
}

// silentEnds finds writes of executions beside the one door of ends: who makes an
// execution final tells the observers in the same transaction (engine rule 24).
func (f *file) silentEnds() []Violation {
	if f.isTest() || endsElsewhere[f.path] != "" || !strings.HasPrefix(f.path, "application/") {
		return nil
	}
	var writes []*ast.SelectorExpr
	tells := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		tells = tells || method.Sel.Name == "RecordEnds"
		if of, ok := method.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Executions" &&
			slices.Contains(endWrites, method.Sel.Name) {
			writes = append(writes, method)
		}
		return true
	})
	if tells {
		return nil
	}
	var found []Violation
	for _, w := range writes {
		found = append(found, f.violation(w.Pos(),
			"Executions.%s without RecordEnds: tell the observers of the ends in the same transaction", w.Sel.Name))
	}
	return found
}
