package architecture

import (
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// maxClauses is how many sentences of a thousand may begin with a clause in place of a noun.
const maxClauses = 5

var (
	// clauseStart begins a sentence whose subject has no noun: "Who ends a run tells the observers".
	clauseStart = regexp.MustCompile(`^[^\p{L}]*(?:What|Whatever|Who|Whoever|Whom|Whose|Those)\b`)
	// sentenceEnd parts sentences: a full stop, then a capital or code.
	sentenceEnd = regexp.MustCompile("[.!?][)\"*]*\\s+([(\"*\\[]*[\\p{Lu}`])")
	listItem    = regexp.MustCompile(`^\s*(?:[-*] |\d+\. )`)
	// madeByProgram is what a file says that the code writes as a whole.
	madeByProgram = regexp.MustCompile("Code generated|(?m)^(?:Written by `make docs`|Made from .* by `make docs`)")
	scriptLine    = regexp.MustCompile(`(?m)^\s*(?://|/?\*+(?:/|\s|$)|<!--)[ \t]?(.*)$`)
)

// leastWords is the length of a sentence; what is shorter is a label, such as a cell of a table.
const leastWords = 4

// text is a paragraph with the place where it begins.
type text struct {
	where string
	words string
}

// CheckSentences counts the sentences that begin with What, Who or Those in place of a noun, in comments
// and in documents. It names all of them where they are more than the house allows.
func CheckSentences(root fs.FS) ([]Violation, error) {
	files, err := load(root)
	if err != nil {
		return nil, err
	}
	var comments, documents []text
	for _, f := range files {
		comments = append(comments, f.comments()...)
	}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && foreign(root, name) {
				return fs.SkipDir
			}
			return nil
		}
		extension := path.Ext(name)
		if extension != ".md" && extension != ".ts" && extension != ".vue" {
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		switch {
		case strings.HasSuffix(name, ".d.ts"), madeByProgram.Match(source):
		case extension == ".md":
			documents = append(documents, newDocument(name, string(source)).paragraphs()...)
		default:
			comments = append(comments, scriptComments(name, string(source))...)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the sentences: %w", err)
	}
	return append(clauses("comments", comments), clauses("documents", documents)...), nil
}

// clauses finds the sentences that begin with a clause, where they are too many of a thousand.
func clauses(kind string, texts []text) []Violation {
	var found []Violation
	total := 0
	for _, t := range texts {
		for _, s := range sentences(t.words) {
			total++
			if clauseStart.MatchString(s) && !strings.HasSuffix(s, "?") {
				found = append(found, Violation{Where: t.where, What: "name the noun: " + s})
			}
		}
	}
	if len(found)*1000 <= total*maxClauses {
		return nil
	}
	return append(found, Violation{
		Where: kind,
		What: fmt.Sprintf("%d of %d sentences begin with What, Who or Those, more than %d of 1,000",
			len(found), total, maxClauses),
	})
}

func sentences(words string) []string {
	words = strings.Join(strings.Fields(words), " ")
	var found []string
	add := func(s string) {
		if len(strings.Fields(s)) >= leastWords {
			found = append(found, strings.TrimSpace(s))
		}
	}
	from := 0
	for _, m := range sentenceEnd.FindAllStringSubmatchIndex(words, -1) {
		add(words[from:m[2]])
		from = m[2]
	}
	add(words[from:])
	return found
}

// comments are the paragraphs of the comments of a Go file that people wrote.
func (f *file) comments() []text {
	if f.generated {
		return nil
	}
	var found []text
	for _, group := range f.syntax.Comments {
		found = append(found, f.paragraphs(group)...)
	}
	return found
}

func (f *file) paragraphs(group *ast.CommentGroup) []text {
	var lines []string
	for line := range strings.Lines(group.Text()) {
		// An annotation of the API is a paragraph, without its name.
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "@"); ok {
			_, rest, _ = strings.Cut(rest, " ")
			line = "\n" + rest
		}
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	where := fmt.Sprintf("%s:%d", f.path, f.positions.Position(group.Pos()).Line)
	return paragraphs(lines, func(int) string { return where })
}

// paragraphs are the texts of a document that may hold sentences: no headings, no blocks of code.
func (d *document) paragraphs() []text {
	return paragraphs(d.lines, func(i int) string { return fmt.Sprintf("%s:%d", d.path, i+1) })
}

// paragraphs joins lines to paragraphs, items of lists and cells of tables.
func paragraphs(lines []string, where func(line int) string) []text {
	var found []text
	var now text
	end := func() {
		if now.words != "" {
			found = append(found, now)
		}
		now = text{}
	}
	for i, line := range lines {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
			end()
		case strings.HasPrefix(trimmed, "|"):
			end()
			for cell := range strings.SplitSeq(trimmed, "|") {
				found = append(found, text{where(i), cell})
			}
		default:
			if listItem.MatchString(line) || strings.HasPrefix(line, "\n") {
				end()
				trimmed = listItem.ReplaceAllString(line, "")
			}
			if now.words == "" {
				now.where = where(i)
			}
			now.words += trimmed + " "
		}
	}
	end()
	return found
}

// scriptComments are the comments of TypeScript and Vue that stand on lines of their own.
func scriptComments(name, source string) []text {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		if m := scriptLine.FindStringSubmatch(line); m != nil {
			lines[i] = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(m[1]), "*/"), "-->")
		} else {
			lines[i] = ""
		}
	}
	return paragraphs(lines, func(i int) string { return fmt.Sprintf("%s:%d", name, i+1) })
}
