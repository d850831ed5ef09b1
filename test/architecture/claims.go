package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// claimFiles are where the letters, marks and ranges of the claim index stand.
var claimFiles = []string{"domain/entity/claimkey.go", "domain/entity/queue.go"}

var (
	// claimText is a key, or the beginning of one, in SQL: what the column is
	// compared with.
	claimText = regexp.MustCompile(`(?i)claim_key\s*(?:[<>=]+|LIKE|IN|BETWEEN)\s*(?:CONCAT)?\(?\s*'`)
	// claimLetter is a letter of the index, alone or with a mark.
	claimLetter = regexp.MustCompile(`^[A-Z][*~!+]?$`)
	// claimNames are what files speak of that have to do with the index.
	claimNames = regexp.MustCompile(`^(Claim|Queue)(Key|Span|Range|Reader|Request|s)?$|^(Lo|Hi|NodeQueue|ClassQueue)$`)
)

// claimLetters finds what spells keys of the claim index itself. Everybody else
// asks for keys, spans and queues, so that a new letter is counted everywhere.
func (f *file) claimLetters() []Violation {
	if slices.Contains(claimFiles, f.path) || strings.HasSuffix(f.path, "_test.go") {
		return nil
	}
	const remedy = "the claim index is spelt in domain/entity/claimkey.go: use its keys and spans"
	speaks := false
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		speaks = speaks || ok && claimNames.MatchString(id.Name)
		return !speaks
	})
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err == nil && (claimText.MatchString(text) || speaks && claimLetter.MatchString(text)) {
			found = append(found, f.violation(lit.Pos(), "%s: %s", lit.Value, remedy))
		}
		return true
	})
	return found
}

// claimScripts finds the same in scripts of the store's schema.
func claimScripts(root fs.FS) ([]Violation, error) {
	var found []Violation
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && foreign(root, name):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".sql":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if claimText.Match(text) {
			found = append(found, Violation{
				Where: name,
				What:  "compares claim_key with a text: keys are made and read by the program alone",
			})
		}
		return nil
	})
	return found, err
}
