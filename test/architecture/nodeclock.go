package architecture

import "go/ast"

// storeTimes are the files of the store that may read the clock of the node, with the reason.
var storeTimes = map[string]string{
	"infrastructure/persistence/sqldb/storetime.go": "SQLite has no other clock",
	"infrastructure/persistence/sqldb/unread.go":    "tells people since when; nothing is stored or compared",
}

// nodeClocks finds places in the store that date something by the wall clock of the node
// (engine rule 13).
func (f *file) nodeClocks() []Violation {
	if f.isTest() || !below(f.dir(), "infrastructure/persistence") || storeTimes[f.path] != "" {
		return nil
	}
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && readsNodeClock(call) {
			found = append(found, f.violation(call.Pos(), "the wall clock of a node: take the store's time, which the "+
				"caller gives, or ask Conn.StoreTime"))
		}
		return true
	})
	return found
}

// readsNodeClock recognises Clock.Now(), clock.Now() and time.Now(), of whatever they are fields.
func readsNodeClock(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Now" {
		return false
	}
	switch of := method.X.(type) {
	case *ast.SelectorExpr:
		return of.Sel.Name == "Clock" || of.Sel.Name == "clock"
	case *ast.Ident:
		return of.Name == "clock" || of.Name == "time"
	}
	return false
}
