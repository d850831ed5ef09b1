package architecture

import (
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Enum says where the values of an enumeration of the API stand in the code.
type Enum struct {
	// Of is a type with its package, such as alert.Level: the values are its constants that are not empty.
	Of string
	// Plus are values that the API has beside them, and Less are constants that it does not take or answer.
	Plus, Less []string
}

// Enums compares the enumerations that the API documents by hand with the constants of their types,
// and each list of constants in the domain with the constants that there are. A row of the table
// without an enumeration is a violation, too.
func Enums(root fs.FS, table map[string]Enum) ([]Violation, error) {
	files, err := load(root)
	if err != nil {
		return nil, err
	}
	constants := map[string]map[string]string{}
	for _, f := range files {
		if !f.isTest() {
			f.constants(constants)
		}
	}
	var found []Violation
	open := maps.Clone(table)
	for _, f := range files {
		if f.isTest() {
			continue
		}
		found = append(found, f.shortLists(constants)...)
		for name, values := range f.documented() {
			row, ok := table[name]
			delete(open, name)
			want := slices.Sorted(maps.Values(constants[row.Of]))
			want = slices.DeleteFunc(append(want, row.Plus...), func(v string) bool { return slices.Contains(row.Less, v) })
			slices.Sort(want)
			slices.Sort(values)
			switch {
			case !ok:
				found = append(found, Violation{
					f.path, "the enumeration of " + name + " is in no row of the table: name its type there",
				})
			case !slices.Equal(want, values):
				found = append(found, Violation{
					f.path, fmt.Sprintf("%s documents %v, and the code has %v", name, values, want),
				})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		found = append(found, Violation{name, "has a row in the table of enumerations, and no such tag"})
	}
	return found, nil
}

// constants adds the typed texts of a file that are not empty, by type and name.
func (f *file) constants(all map[string]map[string]string) {
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil || len(spec.Values) != len(spec.Names) {
			return true
		}
		of, ok := spec.Type.(*ast.Ident)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			literal, ok := spec.Values[i].(*ast.BasicLit)
			if !ok {
				continue
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && text != "" {
				key := f.syntax.Name.Name + "." + of.Name
				if all[key] == nil {
					all[key] = map[string]string{}
				}
				all[key][name.Name] = text
			}
		}
		return true
	})
}

// shortLists finds functions such as RuleTypes that return all constants of a type, but one.
func (f *file) shortLists(constants map[string]map[string]string) (found []Violation) {
	if !below(f.dir(), "domain") {
		return nil
	}
	for _, d := range f.syntax.Decls {
		list, ok := d.(*ast.FuncDecl)
		if !ok || list.Recv != nil || len(list.Type.Params.List) > 0 || len(list.Body.List) != 1 {
			continue
		}
		returned, ok := list.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(returned.Results) != 1 {
			continue
		}
		literal, ok := returned.Results[0].(*ast.CompositeLit)
		if !ok {
			continue
		}
		array, ok := literal.Type.(*ast.ArrayType)
		if !ok {
			continue
		}
		of, ok := array.Elt.(*ast.Ident)
		if !ok {
			continue
		}
		var named []string
		for _, e := range literal.Elts {
			if name, ok := e.(*ast.Ident); ok {
				named = append(named, name.Name)
			}
		}
		for name := range constants[f.syntax.Name.Name+"."+of.Name] {
			if !slices.Contains(named, name) {
				found = append(found,
					f.violation(list.Pos(), "%s lists every %s, but %s is missing", list.Name.Name, of.Name, name))
			}
		}
	}
	return found
}

// annotated is an enumeration in the comment above an action.
var annotated = regexp.MustCompile(`@Param (\w+) .*\b[eE]nums\(([^)]*)\)`)

// documented are the enumerations in the tags and annotations of a file: package.Type.field, or
// package.Action parameter.
func (f *file) documented() map[string][]string {
	out := map[string][]string{}
	if !below(f.dir(), "api") {
		return out
	}
	add := func(owner, list string) {
		for v := range strings.SplitSeq(list, ",") {
			if v = strings.TrimSpace(v); v != "" {
				out[path.Base(f.dir())+"."+owner] = append(out[path.Base(f.dir())+"."+owner], v)
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Doc != nil {
				for _, m := range annotated.FindAllStringSubmatch(n.Doc.Text(), -1) {
					add(n.Name.Name+" "+m[1], m[2])
				}
			}
		case *ast.TypeSpec:
			fields, ok := n.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range fields.Fields.List {
				if field.Tag == nil {
					continue
				}
				tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`"))
				name, _, _ := strings.Cut(tag.Get("json"), ",")
				if list, ok := tag.Lookup("enums"); ok {
					add(n.Name.Name+"."+name, list)
				}
			}
		}
		return true
	})
	return out
}
