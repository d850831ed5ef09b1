package architecture

import (
	"go/ast"
	"go/token"
	"strings"
)

// undocumentedPackages finds packages none of whose files says what they are for.
func undocumentedPackages(files []*file) []Violation {
	documented := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		documented[f.dir()] = documented[f.dir()] || f.generated || f.syntax.Doc.Text() != ""
	}
	var found []Violation
	for dir, ok := range documented {
		if !ok {
			found = append(found, Violation{Where: dir, What: "no file of the package has a package comment"})
		}
	}
	return found
}

// undocumented finds exported names without a comment. The comment of a group
// of constants or variables serves all of them, that of a type its fields and
// the methods an interface lists; what is reached only through an unexported
// type, or lies in a test file, is nobody else's to read.
func (f *file) undocumented() []Violation {
	if f.generated || strings.HasSuffix(f.path, "_test.go") || f.syntax.Name.Name == "main" {
		return nil
	}
	var found []Violation
	missing := func(name *ast.Ident, owner string) {
		found = append(found, f.violation(name.Pos(), "%s%s is exported and has no comment", owner, name.Name))
	}
	for _, decl := range f.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			owner, exported := receiver(d)
			if exported && d.Name.IsExported() && d.Doc.Text() == "" {
				missing(d.Name, owner)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					alone := !d.Lparen.IsValid() && d.Doc.Text() != ""
					if s.Name.IsExported() && !alone && !explained(s.Doc, s.Comment) {
						missing(s.Name, "")
					}
				case *ast.ValueSpec:
					if d.Tok == token.CONST || d.Tok == token.VAR {
						undocumentedValues(d, s, missing)
					}
				}
			}
		}
	}
	return found
}

func undocumentedValues(group *ast.GenDecl, spec *ast.ValueSpec, missing func(*ast.Ident, string)) {
	if explained(group.Doc, spec.Doc, spec.Comment) {
		return
	}
	for _, name := range spec.Names {
		if name.IsExported() {
			missing(name, "")
		}
	}
}

// receiver returns the owner's name with a dot, and whether callers outside the
// package can reach the function at all.
func receiver(fn *ast.FuncDecl) (string, bool) {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return "", true
	}
	expr := fn.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name + ".", e.IsExported()
		default:
			return "", true
		}
	}
}

// explained tells whether one of the comments says anything.
func explained(groups ...*ast.CommentGroup) bool {
	for _, g := range groups {
		if strings.TrimSpace(g.Text()) != "" {
			return true
		}
	}
	return false
}
