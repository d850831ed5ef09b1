// Package architecture holds the source tree to the rules of the house that a
// compiler does not know: which layer may import which, how long a file may
// grow, what a package may not be called, and that every exported name is
// explained. It reads syntax only, so it works while other code does not build.
package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// Module is the path that the imports of our own packages start with.
const Module = "github.com/platform-scheduler/platform-scheduler"

// Violation is one place that breaks one rule.
type Violation struct {
	// Where is a path below the root, with a line where there is one.
	Where string
	// The text says what is wrong there, and what would be right.
	What string
}

// String gives the violation in the form that editors turn into a link.
func (v Violation) String() string { return v.Where + ": " + v.What }

// Check holds a tree to all rules and returns what breaks them, in no
// particular order; nothing if nothing does. A file that is no Go is an error.
func Check(root fs.FS) ([]Violation, error) {
	files, err := load(root)
	if err != nil {
		return nil, err
	}
	found := undocumentedPackages(files)
	for _, f := range files {
		found = append(found, f.forbiddenImports()...)
		found = append(found, f.tooLong()...)
		found = append(found, f.misnamed()...)
		found = append(found, f.leftovers()...)
		found = append(found, f.undocumented()...)
		found = append(found, f.claimLetters()...)
		found = append(found, f.silentEnds()...)
		found = append(found, f.nodeClocks()...)
	}
	scripts, err := claimScripts(root)
	if err != nil {
		return nil, fmt.Errorf("read the scripts: %w", err)
	}
	return append(found, scripts...), nil
}

// file is one Go file with what the rules ask about it.
type file struct {
	path      string // below the root, with slashes
	lines     int
	generated bool
	positions *token.FileSet
	syntax    *ast.File
}

func load(root fs.FS) ([]*file, error) {
	var files []*file
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && foreign(root, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f, err := parse(root, name)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the source tree: %w", err)
	}
	return files, nil
}

// foreign tells whether a directory holds none of the module's own packages:
// the go command's rules, and what npm fetched.
func foreign(root fs.FS, dir string) bool {
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || base == "vendor" || strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	return err == nil
}

func parse(root fs.FS, name string) (*file, error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	positions := token.NewFileSet()
	syntax, err := parser.ParseFile(positions, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", name, err)
	}
	return &file{
		path:      name,
		lines:     strings.Count(string(source), "\n"),
		generated: ast.IsGenerated(syntax),
		positions: positions,
		syntax:    syntax,
	}, nil
}

// dir is the directory of the file below the root, "." for the root itself.
func (f *file) dir() string { return path.Dir(f.path) }

// isTest tells whether the file serves tests only: a _test.go file, or part of
// a test-support package.
func (f *file) isTest() bool {
	return strings.HasSuffix(f.path, "_test.go") || isSupport(f.dir()) || below(f.dir(), "test")
}

// isSupport tells whether a directory holds test support: like httptest, such
// a package is named after what it supports.
func isSupport(dir string) bool {
	base := path.Base(dir)
	return base != "test" && strings.HasSuffix(base, "test")
}

// below tells whether dir is top or lies in it.
func below(dir, top string) bool { return dir == top || strings.HasPrefix(dir, top+"/") }

func (f *file) violation(at token.Pos, format string, values ...any) Violation {
	return Violation{
		Where: fmt.Sprintf("%s:%d", f.path, f.positions.Position(at).Line),
		What:  fmt.Sprintf(format, values...),
	}
}
