package architecture

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// CheckDocs holds the documents to the tree: paths and names of the program
// that they mention exist, links lead somewhere, every document can be found
// from another one, the rules of docs/rules.md are complete and are the only
// ones that anybody cites, and the product declares nothing by a word that the
// glossary does not use. It returns what breaks this, in no particular order.
func CheckDocs(root fs.FS) ([]Violation, error) {
	b, err := loadDocs(root)
	if err != nil {
		return nil, err
	}
	found := b.unlinked()
	for _, d := range b.docs {
		found = append(found, b.brokenLinks(d)...)
		found = append(found, b.strayNames(d)...)
	}
	words, err := b.strayWords()
	if err != nil {
		return nil, err
	}
	rules, broken := b.readRules()
	found = append(append(found, words...), broken...)
	return append(found, b.citations(rules)...), nil
}

// library is what documents are held to.
type library struct {
	root fs.FS
	docs []*document
	// paths are all files and folders of the tree.
	paths map[string]bool
	// cited are the files that may cite a rule: Go, SQL, scripts.
	cited []string
	files []*file
	// declared are the names that each Go file declares, methods also as Type.Method.
	declared map[string]map[string]bool
	// names are those of all files, with fields.
	names map[string]bool
	// imported are the last parts of what the files import.
	imported map[string]bool
}

// document is one Markdown file.
type document struct {
	path string
	// lines are its text; those of blocks of code are empty.
	lines []string
	// anchors are what links may name behind a #.
	anchors map[string]bool
}

var (
	// unread are folders at the top that hold nothing of the project, or what it makes.
	unread = []string{".git", ".cache", "bin", "data", "dist"}
	// fetched are folders anywhere that npm and Python make for the packages of others.
	fetched = []string{"node_modules", ".venv"}
)

func loadDocs(root fs.FS) (*library, error) {
	b := &library{
		root: root, paths: map[string]bool{}, declared: map[string]map[string]bool{}, names: map[string]bool{},
		imported: map[string]bool{},
	}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(unread, name) || slices.Contains(fetched, entry.Name())):
			return fs.SkipDir
		}
		b.paths[name] = true
		switch path.Ext(name) {
		case ".md":
			text, err := fs.ReadFile(root, name)
			if err != nil {
				return fmt.Errorf("read %s: %w", name, err)
			}
			b.docs = append(b.docs, newDocument(name, string(text)))
		case ".go", ".sql", ".sh":
			b.cited = append(b.cited, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	if b.files, err = load(root); err != nil {
		return nil, err
	}
	for _, f := range b.files {
		b.declared[f.path] = f.declares(b.names)
		for _, spec := range f.syntax.Imports {
			b.imported[path.Base(strings.Trim(spec.Path.Value, `"`))] = true
		}
	}
	return b, nil
}

var (
	heading = regexp.MustCompile(`^#{1,6} +(.*)`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func newDocument(name, text string) *document {
	d := &document{path: name, lines: strings.Split(text, "\n"), anchors: map[string]bool{}}
	fenced := false
	for i, line := range d.lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			d.lines[i] = ""
		} else if fenced {
			d.lines[i] = ""
		} else if m := heading.FindStringSubmatch(line); m != nil {
			d.anchors[unique(d.anchors, anchorOf(m[1]))] = true
		}
	}
	return d
}

// anchorOf is the anchor that a heading gets where documents are shown.
func anchorOf(title string) string {
	title = strings.ToLower(strings.TrimSpace(linked.ReplaceAllString(title, "$1")))
	return strings.ReplaceAll(dropped.ReplaceAllString(title, ""), " ", "-")
}

func unique(taken map[string]bool, anchor string) string {
	name := anchor
	for n := 1; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", anchor, n)
	}
	return name
}

func (d *document) violation(line int, format string, values ...any) Violation {
	return Violation{Where: fmt.Sprintf("%s:%d", d.path, line+1), What: fmt.Sprintf(format, values...)}
}
