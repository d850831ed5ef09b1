package yamljson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ToYAML writes a JSON text as YAML, in the order and with the digits that it
// has. FromYAML of it gives the same JSON.
func ToYAML(text json.RawMessage) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	n, err := node(d)
	if err != nil {
		return nil, fmt.Errorf("read the JSON that becomes YAML: %w", err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	return b.Bytes(), nil
}

// node reads one value.
func node(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := t.(type) {
	case json.Delim:
		return structure(d, v)
	case string:
		return textNode(v), nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}, nil
	default: // a number or a bool, as JSON writes them
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v)}, nil
	}
}

func structure(d *json.Decoder, open json.Delim) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	if open == '[' {
		n.Kind = yaml.SequenceNode
	}
	for d.More() {
		item, err := node(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, item)
	}
	if len(n.Content) == 0 {
		n.Style = yaml.FlowStyle // {} and []
	}
	_, err := d.Token() // its end
	return n, err
}

// simple texts need no quotes: nobody takes them for anything else. tidy ones
// read well as a block of lines.
var (
	simple = regexp.MustCompile(`^\pL[\pL\pN_./-]*( [\pL\pN_./-]+)*$`)
	tidy   = regexp.MustCompile(`^[^\pC\pZ]+( +[^\pC\pZ]+)*(\n( *[^\pC\pZ]+)*)+$`)
)

func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	// Readers of YAML 1.1 take these for true and false.
	words := []string{"y", "n", "yes", "no", "on", "off"}
	switch {
	case simple.MatchString(s) && !slices.Contains(words, strings.ToLower(s)):
		n.Style = 0
	case tidy.MatchString(s):
		n.Style = yaml.LiteralStyle
	}
	return n
}
