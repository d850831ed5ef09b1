// Package yamljson writes documents of the API as YAML and reads them back.
// The document becomes JSON: the same code binds and checks both notations. YAML is as
// strict: what JSON has no word for is refused.
package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how deep objects and lists may nest.
const maxDepth = 64

// Error says what in a YAML text is refused, and on which line; the line is 0
// where the text as a whole is meant.
type Error struct {
	Line    int
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// FromYAML turns a YAML text of one document into JSON. Every error is an
// *Error. The caller bounds the length of the text.
func FromYAML(text []byte) (json.RawMessage, error) {
	documents, err := read(text, 1)
	switch {
	case err != nil:
		return nil, err
	case len(documents) == 0:
		return nil, &Error{Message: "the text is empty"}
	}
	return documents[0], nil
}

// AllFromYAML is FromYAML for a text of any number of documents; JSON is YAML
// too.
func AllFromYAML(text []byte) ([]json.RawMessage, error) { return read(text, 0) }

// read reads at most so many documents; 0 is any number.
func read(text []byte, most int) ([]json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, &Error{Message: "the text is not valid UTF-8"}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var out []json.RawMessage
	for {
		var document yaml.Node
		switch err := d.Decode(&document); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, &Error{Message: strings.TrimPrefix(err.Error(), "yaml: ")}
		}
		if most > 0 && len(out) == most {
			return nil, &Error{Line: document.Line, Message: "another document begins; send one"}
		}
		var b bytes.Buffer
		w := writer{out: &b}
		if err := w.value(document.Content[0], 0); err != nil {
			return nil, err
		}
		out = append(out, b.Bytes())
	}
}

// writer writes nodes as JSON.
type writer struct{ out *bytes.Buffer }

func refuse(n *yaml.Node, format string, args ...any) error {
	return &Error{Line: n.Line, Message: fmt.Sprintf(format, args...)}
}

func (w *writer) value(n *yaml.Node, depth int) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return refuse(n, "anchors (&) and aliases (*) are not read; write the value out, or quote the string")
	case n.Style&yaml.TaggedStyle != 0:
		return refuse(n, "tags (!) are not read; leave %q out, or quote the string", n.Tag)
	case depth > maxDepth:
		return refuse(n, "nests deeper than %d levels", maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.object(n, depth+1)
	case yaml.SequenceNode:
		return w.list(n, depth+1)
	default:
		return w.scalar(n)
	}
}

func (w *writer) list(n *yaml.Node, depth int) error {
	w.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.value(item, depth); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *writer) object(n *yaml.Node, depth int) error {
	w.out.WriteByte('{')
	seen := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode || name.Tag != "!!str" || name.Anchor != "" || name.Style&yaml.TaggedStyle != 0:
			return refuse(name, "the name of a field must be a string; put it into quotes")
		case seen[name.Value]:
			return refuse(name, "the field %q is given twice; give it once", short(name.Value))
		}
		seen[name.Value] = true
		if i > 0 {
			w.out.WriteByte(',')
		}
		if err := w.text(name.Value); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.value(n.Content[i+1], depth); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// number is a number as JSON writes it.
var number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// scalar keeps the digits of numbers as they are. Numbers that only YAML
// knows, such as 0x1F, 1_000 and .inf, are refused rather than guessed at.
// Moments are texts.
func (w *writer) scalar(n *yaml.Node) error {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch {
	case !plain:
		return w.text(n.Value)
	case number.MatchString(n.Value):
		w.out.WriteString(n.Value)
		return nil
	}
	switch n.Tag {
	case "!!null":
		w.out.WriteString("null")
	case "!!bool":
		w.out.WriteString(strings.ToLower(n.Value))
	case "!!int", "!!float":
		return refuse(n, "%q is no number as JSON writes it; write it in decimal digits, or quote the string", short(n.Value))
	default:
		return w.text(n.Value)
	}
	return nil
}

func (w *writer) text(s string) error {
	e := json.NewEncoder(w.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return &Error{Message: "a string cannot be written as JSON"}
	}
	w.out.Truncate(w.out.Len() - 1) // the line's end
	return nil
}

// short keeps a text from the outside short enough for an answer.
func short(s string) string {
	if r := []rune(s); len(r) > 50 {
		return string(r[:50]) + "…"
	}
	return s
}
