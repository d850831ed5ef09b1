// Package difference shows people what changes in a definition: field by field,
// and strings of several lines line by line.
package difference

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
)

// The colours of a terminal.
const (
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Red    = "\x1b[31m"
	plain  = "\x1b[0m"
)

// Printer shows changes. Colour is for terminals.
type Printer struct {
	Out    io.Writer
	Colour bool
}

// Paint colours a string where colours are wanted; an empty colour leaves it.
func (p Printer) Paint(colour, text string) string {
	if !p.Colour || colour == "" {
		return text
	}
	return colour + text + plain
}

// Changes shows [before, after] by field, indented, in the order of the fields' names.
func (p Printer) Changes(changes map[string][2]any) {
	for _, field := range slices.Sorted(maps.Keys(changes)) {
		p.change(field, changes[field][0], changes[field][1])
	}
}

// dataField is the field whose inside is compared, too.
const dataField = "jobData"

func (p Printer) change(field string, before, after any) {
	if old, now, ok := insides(field, before, after); ok {
		for _, name := range union(old, now) {
			if a, b := old[name], now[name]; !reflect.DeepEqual(a, b) {
				p.change(field+"."+name, a, b)
			}
		}
		return
	}
	if old, now, ok := texts(before, after); ok {
		p.printf("    %s:\n", output.Printable(field))
		for _, l := range lines(old, now) {
			colour := map[mark]string{removed: Red, added: Green}[l.mark]
			if l.mark == skipped {
				p.printf("      …\n")
				continue
			}
			p.printf("      %s\n", p.Paint(colour, string(l.mark)+" "+output.Printable(l.text)))
		}
		return
	}
	p.printf("    %s: %s → %s\n", output.Printable(field), p.Paint(Red, compact(before)), p.Paint(Green, compact(after)))
}

// insides are the members of jobData, or of an object in it, which are compared
// one by one. Where there was none, or is none any more, it is as if it were empty.
func insides(field string, before, after any) (old, now map[string]any, ok bool) {
	if field != dataField && !strings.HasPrefix(field, dataField+".") {
		return nil, nil, false
	}
	old, wasObject := before.(map[string]any)
	now, isObject := after.(map[string]any)
	return old, now, wasObject && isObject
}

func union(a, b map[string]any) []string {
	all := map[string]any{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// texts are two strings, one of which has several lines; one that is not there is empty.
func texts(before, after any) (old, now string, ok bool) {
	old, wasText := before.(string)
	now, isText := after.(string)
	return old, now, (wasText || before == nil) && (isText || after == nil) && strings.Contains(old+now, "\n")
}

func (p Printer) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.Out, format, args...) }

// compact is a value as JSON on one line.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return output.Printable(strings.TrimSpace(b.String()))
}
