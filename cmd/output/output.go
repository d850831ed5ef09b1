// Package output prints the answers of commands: as a table for people, or as the JSON or YAML of
// the REST API for programs.
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

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
}

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

// Raw prints an answer of the API: as JSON the very bytes, as YAML the same
// values in the same order. For people it is JSON with indents. An empty answer
// prints nothing.
func (p *Printer) Raw(answer json.RawMessage) error {
	if len(answer) == 0 {
		return nil
	}
	switch p.Format {
	case YAML:
		text, err := yamljson.ToYAML(answer)
		if err == nil {
			_, err = p.Out.Write(text)
		}
		return err
	case JSON:
		_, err := fmt.Fprintln(p.Out, strings.TrimRight(string(answer), "\n"))
		return err
	}
	var indented strings.Builder
	e := json.NewEncoder(&indented)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(answer); err != nil {
		return err
	}
	_, err := io.WriteString(p.Out, indented.String())
	return err
}

// Event prints one answer of several: JSON on a line, YAML as a document.
func (p *Printer) Event(answer json.RawMessage) error {
	if p.Format == YAML {
		if _, err := io.WriteString(p.Out, "---\n"); err != nil {
			return err
		}
	}
	return p.Raw(answer)
}

// Value prints what a command itself knows, in the form of the API's answers.
func (p *Printer) Value(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return p.Raw(text)
}

// Items prints a list of what a command itself knows, as the API answers lists.
func Items[T any](p *Printer, items []T) error {
	if items == nil {
		items = []T{}
	}
	return p.Value(map[string]any{"items": items, "nextCursor": nil})
}

// Line prints a line for people, and nothing in the other forms.
func (p *Printer) Line(format string, args ...any) error {
	if !p.ForPeople() {
		return nil
	}
	_, err := fmt.Fprintf(p.Out, format+"\n", args...)
	return err
}

// Rows prints a table.
func (p *Printer) Rows(header []string, rows [][]string) error {
	w := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
	if len(header) > 0 {
		_, _ = fmt.Fprintln(w, strings.Join(header, "\t"))
	}
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
	return w.Flush()
}

// Field is a line of a description.
type Field struct{ Name, Value string }

// Fields prints a description: a line for each field that has a value. Further
// lines of a value are indented below its first.
func (p *Printer) Fields(fields []Field) error {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	for _, f := range fields {
		if f.Value == "" {
			continue
		}
		lines := strings.Split(strings.TrimRight(f.Value, "\n"), "\n")
		for i, line := range lines {
			name := ""
			if i == 0 {
				name = f.Name + ":"
			}
			if _, err := fmt.Fprintf(p.Out, "%-*s  %s\n", width+1, name, Printable(line)); err != nil {
				return err
			}
		}
	}
	return nil
}

// The bounds of the cells of a table, in runes; the last one of a row has more
// room.
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
