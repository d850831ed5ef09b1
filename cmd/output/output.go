// Package output prints the answers of commands: as a table for people, or as the JSON or YAML of
// the REST API for programs.
package output

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/platform-scheduler/platform-scheduler/api/model/vo"
	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
	"github.com/platform-scheduler/platform-scheduler/cmd/usage"
)

// The forms of --output.
const (
	Table = "table"
	JSON  = "json"
	YAML  = "yaml"
)

// None stands for a value that is not there.
const None = "–"

// Printer prints in the form that --output names. It belongs to one command.
type Printer struct {
	Out    io.Writer
	Format string
	failed error
}

// Failed is why something was not printed; nothing was after it.
func (p *Printer) Failed() error { return p.failed }

// Write implements io.Writer.
func (p *Printer) Write(text []byte) (n int, err error) {
	if p.failed == nil {
		n, p.failed = p.Out.Write(text)
	}
	return n, p.failed
}

func (p *Printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) }

// Flag adds --output to a command and those below it.
func (p *Printer) Flag(c *cobra.Command) {
	c.PersistentFlags().StringVarP(&p.Format, "output", "o", Table, "`FORMAT`: table, json or yaml")
	// It fails only for flags that are not there.
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{Table, JSON, YAML},
		cobra.ShellCompDirectiveNoFileComp))
}

// Check refuses a form that is not known.
func (p *Printer) Check() error {
	switch p.Format {
	case Table, JSON, YAML:
		return nil
	}
	return usage.Errorf("--output is table, json or yaml, not %q", p.Format)
}

// ForPeople reports whether a table, or words, are wanted.
func (p *Printer) ForPeople() bool { return p.Format != JSON && p.Format != YAML }

// Raw prints an answer of the API: as JSON the very bytes, as YAML the same values in the same order. An
// empty answer prints nothing.
func (p *Printer) Raw(answer json.RawMessage) {
	switch {
	case len(answer) == 0:
	case p.Format == YAML:
		p.YAML(answer)
	default:
		p.printf("%s\n", strings.TrimRight(string(answer), "\n"))
	}
}

// YAML prints an answer of the API as YAML in each form.
func (p *Printer) YAML(answer json.RawMessage) {
	text, err := yamljson.ToYAML(answer)
	p.failed = cmp.Or(p.failed, err)
	_, _ = p.Write(text)
}

// Event prints one answer of several: JSON on a line, YAML as a document.
func (p *Printer) Event(answer json.RawMessage) {
	if p.Format == YAML {
		p.printf("---\n")
	}
	p.Raw(answer)
}

// Value prints what a command itself knows, in the form of the API's answers.
func (p *Printer) Value(v any) {
	text, err := json.Marshal(v)
	p.failed = cmp.Or(p.failed, err)
	p.Raw(text)
}

// Either prints what a command itself knows for programs, and a line for people.
func (p *Printer) Either(v any, format string, args ...any) {
	if !p.ForPeople() {
		p.Value(v)
	}
	p.Line(format, args...)
}

// Items prints a list of what a command itself knows, as the API answers lists.
func Items[T any](p *Printer, items []T) { p.Value(vo.NewPage(items, "")) }

// Line prints a line for people, and nothing in the other forms.
func (p *Printer) Line(format string, args ...any) {
	if p.ForPeople() {
		p.printf(format+"\n", args...)
	}
}

// Lines prints each of the lines, as Line does.
func (p *Printer) Lines(lines []string) {
	for _, line := range lines {
		p.Line("%s", line)
	}
}

// Rows prints a table.
func (p *Printer) Rows(header []string, rows [][]string) {
	w := tabwriter.NewWriter(p, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.Join(header, "\t"))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Cell(cell, maxCell)
			if i == len(row)-1 {
				cells[i] = Cell(cell, maxLast)
			}
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush()
}

// Field is a line of a description.
type Field struct{ Name, Value string }

// Fields prints a description: a line for each field that has a value. Further
// lines of a value are indented below its first.
func (p *Printer) Fields(fields []Field) {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	for _, f := range fields {
		if f.Value == "" {
			continue
		}
		name := f.Name + ":"
		for line := range strings.SplitSeq(strings.TrimRight(f.Value, "\n"), "\n") {
			p.printf("%-*s  %s\n", width+1, name, Printable(line))
			name = ""
		}
	}
}

// The bounds of the cells of a table, in runes; the last one of a row has more room.
const (
	maxCell = 100
	maxLast = 300
)

// Cell is a string for a table: one line of at most so many runes, without control characters. An
// empty string is None.
func Cell(text string, most int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(Printable(line))
	if len(runes) > most {
		runes, more = runes[:most-1], true
	}
	switch {
	case len(runes) == 0 && !more:
		return None
	case more:
		return strings.TrimRight(string(runes), " ") + "…"
	}
	return string(runes)
}

// Printable replaces characters that steer a terminal or turn the text around.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)
}
