package architecture

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	inCode = regexp.MustCompile("`([^`]+)`")
	// somePath is a path with a folder, or a file of a kind that only this tree has.
	somePath = regexp.MustCompile(`^[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]+)*/?$`)
	// source are files that documents name by the end of their path.
	source = regexp.MustCompile(`\.(go|sql|sh|service|md|mod)$`)
	// withFolder are files that documents name so when they are of this tree; without
	// a folder they are somebody's own.
	withFolder = regexp.MustCompile(`/[^/]*\.(ya?ml|json)$`)
	someTest   = regexp.MustCompile(`^(Test|Fuzz|Example|Benchmark)[A-Z_]\w*$`)
	// someName is a name of Go with the package or type that it belongs to.
	someName = regexp.MustCompile(`^((?:[a-z]+/)*[A-Za-z]\w*)\.([A-Z]\w*[a-z]\w*)(?:\(.*\))?$`)
)

// notOurs look like paths or names of this tree and are none.
var notOurs = []string{
	"application/yaml", "application/x-yaml", "application/json", "application/problem+json", // types of content
	"deploy/cluster.env", // who installs a cluster writes it
}

// strayNames finds paths, tests and other names of the program that a document
// mentions in code and that do not exist.
func (b *library) strayNames(d *document) []Violation {
	var found []Violation
	for i, line := range d.lines {
		for _, m := range inCode.FindAllStringSubmatch(line, -1) {
			switch text := m[1]; {
			case slices.Contains(notOurs, text):
			case someTest.MatchString(text) && !b.names[text]:
				found = append(found, d.violation(i, "there is no test %s", text))
			case someName.MatchString(text) && !source.MatchString(text):
				if m := someName.FindStringSubmatch(text); !b.declaredIn(m[1], m[2]) {
					found = append(found, d.violation(i, "nothing is called %s", text))
				}
			case somePath.MatchString(text) && b.ours(text) && !b.exists(text):
				found = append(found, d.violation(i, "%s does not exist", text))
			}
		}
	}
	return found
}

// declaredIn tells whether a type, a package, or a variable that is called like its
// type has a name. Packages that the program imports from elsewhere have all names.
func (b *library) declaredIn(owner, name string) bool {
	if of := strings.ToUpper(owner[:1]) + owner[1:]; b.names[of+"."+name] || of == owner {
		return b.names[of+"."+name]
	}
	known := len(owner) == 1 || b.imported[path.Base(owner)] // one letter is a variable: t.Skip
	for file, names := range b.declared {
		if dir := path.Dir(file); dir == owner || path.Base(dir) == owner || strings.HasSuffix(dir, "/"+owner) {
			known = false
			if names[name] {
				return true
			}
		}
	}
	return known
}

// ours tells whether a text names something of this tree: its first part is a
// folder at the top, or it is a file of source.
func (b *library) ours(text string) bool {
	top, _, folder := strings.Cut(text, "/")
	return folder && top != "." && b.paths[top] || source.MatchString(text) || withFolder.MatchString(text)
}

// exists tells whether a path, a pattern, or the end of a path is in the tree.
func (b *library) exists(text string) bool {
	text = strings.TrimSuffix(text, "/")
	if b.paths[text] {
		return true
	}
	parts := strings.Count(text, "/") + 1
	for name := range b.paths {
		all := strings.Split(name, "/")
		if len(all) < parts {
			continue
		}
		if ok, err := path.Match(text, strings.Join(all[len(all)-parts:], "/")); err == nil && ok {
			return true
		}
	}
	return false
}

// declares returns the names that a file declares, methods also with their
// type, and adds those, and fields with their type, to all.
func (f *file) declares(all map[string]bool) map[string]bool {
	own := map[string]bool{}
	add := func(name string) { own[name], all[name] = true, true }
	for _, decl := range f.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			owner, _ := receiver(d)
			add(d.Name.Name)
			add(owner + d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name.Name)
					members(s, all)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(name.Name)
					}
				}
			}
		}
	}
	return own
}

// members adds the fields of a struct and the methods of an interface to all.
func members(s *ast.TypeSpec, all map[string]bool) {
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return
	}
	for _, field := range fields.List {
		for _, name := range field.Names {
			all[s.Name.Name+"."+name.Name] = true
		}
	}
}
