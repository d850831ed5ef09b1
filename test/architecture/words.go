package architecture

import (
	"go/ast"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

const (
	glossary = "docs/glossary.md"
	// unusedHead is the heading of the glossary's table of words that nobody uses.
	unusedHead = "## Words that we do not use"
)

var (
	// seams are where the words of a name in Go meet: load|Job, HTTP|Call.
	seams  = regexp.MustCompile(`([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])`)
	quoted = regexp.MustCompile("`([a-z]+)`")
)

// unusedWords reads the words of the glossary that no declaration of the product has: those in the
// left column of its last table that stand in code.
func (b *library) unusedWords() (map[string]bool, error) {
	text, err := fs.ReadFile(b.root, glossary)
	if err != nil {
		return nil, err
	}
	_, table, _ := strings.Cut(string(text), unusedHead)
	words := map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			words[m[1]] = true
		}
	}
	return words, nil
}

// strayWords finds declarations of the product whose names hold a word that the glossary does not
// use. Names on the wire, in columns and in settings stay: a field that spells the word in its tag.
func (b *library) strayWords() ([]Violation, error) {
	unused, err := b.unusedWords()
	if err != nil || len(unused) == 0 {
		return nil, err
	}
	var found []Violation
	for _, f := range b.files {
		if f.isTest() || f.generated || below(f.dir(), "test") {
			continue
		}
		for _, name := range f.declaredNames() {
			if word, ok := wordAmong(name.Name, unused); ok {
				found = append(found, f.violation(name.Pos(), "%s: the glossary does not use the word %q", name.Name, word))
			}
		}
	}
	return found, nil
}

func wordAmong(name string, words map[string]bool) (string, bool) {
	parts := strings.Fields(strings.ToLower(seams.ReplaceAllString(name, "$1$3 $2$4")))
	i := slices.IndexFunc(parts, func(part string) bool { return words[part] })
	if i < 0 {
		return "", false
	}
	return parts[i], true
}

// declaredNames are the functions, methods, types, constants and variables of a file, and the fields and
// methods of its types.
func (f *file) declaredNames() []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range f.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					names = append(names, s.Names...)
				case *ast.TypeSpec:
					names = append(append(names, s.Name), fieldsOf(s)...)
				}
			}
		}
	}
	return names
}

// fieldsOf are the fields and methods of a type, without fields whose tag spells their name.
func fieldsOf(s *ast.TypeSpec) (names []*ast.Ident) {
	ast.Inspect(s.Type, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		for _, name := range field.Names {
			if field.Tag == nil || !strings.Contains(strings.ToLower(field.Tag.Value), strings.ToLower(name.Name)) {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}
