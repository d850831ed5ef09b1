package remote

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/client"
	"github.com/platform-scheduler/platform-scheduler/cmd/output"
	"github.com/platform-scheduler/platform-scheduler/cmd/remote/answer"
)

// Object is an answer of the API, or one of its items.
type Object = answer.Object

// Words are texts that are made of several fields, by the names that columns give them.
type Words map[string]func(k *Call, o Object) string

// column is one column of a table, or a line of a description: title=field|form, or the field alone. Of
// fields between slashes it is the first that there is.
type column struct{ title, field, form string }

// columns reads the columns of a table, which stand between commas.
func columns(text string) []column {
	var all []column
	for part := range strings.SplitSeq(text, ",") {
		title, field, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			field = title
			title, _, _ = strings.Cut(title, "|")
		}
		field, form, _ := strings.Cut(field, "|")
		all = append(all, column{title, field, form})
	}
	return all
}

// forms are how values may be written; the others are as Text writes them.
var forms = map[string]func(k *Call, o Object, path string) string{
	"": func(_ *Call, o Object, path string) string { return o.Text(path) },
	// Also where a word has the name of the field.
	"text":   func(_ *Call, o Object, path string) string { return o.Text(path) },
	"comma":  func(_ *Call, o Object, path string) string { return o.Joined(path, ",") },
	"spaced": func(_ *Call, o Object, path string) string { return o.Joined(path, " ") },
	"moment": func(k *Call, o Object, path string) string { return k.Moment(o.Text(path)) },
	"zoned":  func(k *Call, o Object, path string) string { return In(k.Location(), o.Text(path)) },
	"times": func(k *Call, o Object, path string) string {
		return strings.Join(k.zoned(o.Texts(path)), "\n")
	},
	"lower": func(_ *Call, o Object, path string) string { return strings.ToLower(o.Text(path)) },
	"took":  func(_ *Call, o Object, path string) string { return o.Took(path) },
	// Nothing for zero, or for one.
	"span":    func(_ *Call, o Object, path string) string { return above(0, o.Int(path), o.Took(path)) },
	"some":    func(_ *Call, o Object, path string) string { return above(0, o.Int(path), o.Text(path)) },
	"several": func(_ *Call, o Object, path string) string { return above(1, o.Int(path), o.Text(path)) },
	"seconds": func(_ *Call, o Object, path string) string {
		return above(0, o.Int(path), (time.Duration(o.Int(path)) * time.Second).String())
	},
	"bare": func(_ *Call, o Object, path string) string {
		if !o.Has(path) {
			return ""
		}
		return fmt.Sprint(o.At(path))
	},
	"exact": func(_ *Call, o Object, path string) string { return fmt.Sprintf("%g", o.Float(path)) },
	"count": func(_ *Call, o Object, path string) string {
		list, _ := o.At(path).([]any)
		return fmt.Sprint(len(list))
	},
}

// above is a text about a number, or nothing where that is not above least.
func above(least, n int64, text string) string {
	if n <= least {
		return ""
	}
	return text
}

// Said is a sentence about an object.
func Said(text string) func(k *Call, o Object) string {
	return func(k *Call, o Object) string { return k.Sentence(text, o) }
}

// If is a sentence about an object that has a field, and another where that is none, zero or false.
func If(field, yes, no string) func(k *Call, o Object) string {
	return func(k *Call, o Object) string {
		if text := o.Text(field); text == "" || text == "0" || text == "false" {
			return k.Sentence(no, o)
		}
		return k.Sentence(yes, o)
	}
}

// cell is what a column shows of an object.
func (k *Call) cell(c column, o Object) string {
	if words := k.Words[c.field]; words != nil && c.form == "" {
		return words(k, o)
	}
	path := c.field
	for other := range strings.SplitSeq(c.field, "/") {
		if path = other; o.Has(path) {
			break
		}
	}
	return forms[c.form](k, o, path)
}

// Table prints objects below the titles of their columns.
func (k *Call) Table(text string, items []Object) {
	all := columns(text)
	header, rows := make([]string, len(all)), make([][]string, len(items))
	for i, c := range all {
		header[i] = strings.ToUpper(c.title)
		for n, item := range items {
			rows[n] = append(rows[n], k.cell(c, item))
		}
	}
	k.Rows(header, rows)
}

// Below prints a table after an empty line, or nothing where there are no items.
func (k *Call) Below(text string, items []Object) {
	if len(items) > 0 {
		k.Line("")
		k.Table(text, items)
	}
}

// Describe prints the fields of an object, each on a line.
func (k *Call) Describe(text string, o Object) {
	var lines []output.Field
	for _, c := range columns(text) {
		lines = append(lines, output.Field{Name: c.title, Value: k.cell(c, o)})
	}
	k.Fields(lines)
}

var (
	// blank is where a sentence takes a word: {0} and {1} are arguments, all others are columns.
	blank = regexp.MustCompile(`\{[^}]+\}`)
	// optional is a part in brackets, which goes where one of its blanks is empty.
	optional = regexp.MustCompile(`\[[^]]*\]`)
	// plural is a blank with a word for 1, and one for all else: {runs} (run|runs).
	plural = regexp.MustCompile(`(\{[^}]+\}) \(([^|(){}]+)\|([^|(){}]+)\)`)
)

// Sentence fills the blanks of a text from the arguments and an object.
func (k *Call) Sentence(text string, o Object) string {
	fill := func(name string) string {
		name = name[1 : len(name)-1]
		if i, err := strconv.Atoi(name); err == nil {
			return k.Args[i]
		}
		switch name {
		case "found":
			return k.Title
		case "found.id":
			return k.ID
		}
		return k.cell(columns(name)[0], o)
	}
	text = optional.ReplaceAllStringFunc(text, func(part string) string {
		for _, name := range blank.FindAllString(part, -1) {
			if fill(name) == "" {
				return ""
			}
		}
		return part[1 : len(part)-1]
	})
	text = plural.ReplaceAllStringFunc(text, func(part string) string {
		words := plural.FindStringSubmatch(part)
		if fill(words[1]) == "1" {
			return words[1] + " " + words[2]
		}
		return words[1] + " " + words[3]
	})
	return blank.ReplaceAllStringFunc(text, fill)
}

// Each prints a sentence about each of the objects.
func (k *Call) Each(text string, items []Object) {
	for _, o := range items {
		k.Say(text, o)
	}
}

// Say prints a sentence about an object.
func (k *Call) Say(text string, o Object) { k.Line("%s", k.Sentence(text, o)) }

// Note prints a sentence about an object beside the output.
func (k *Call) Note(text string, o Object) { k.Notef("%s", k.Sentence(text, o)) }

// Named is the object of a list whose field, or id, has a value; nil where there is none.
func (k *Call) Named(path, field, value string) (Object, error) {
	all, err := client.List[Object](k.Cmd.Context(), k.API, path, nil, 0)
	for _, o := range all {
		if o.Text(field) == value || o.Text("id") == value {
			return o, nil
		}
	}
	return nil, err
}

// PauseWords say who paused, until when, and why; "" where nothing is known.
func PauseWords(k *Call, o Object) string {
	text := k.Sentence("[ since {pausedAt|moment}][ by {pauseUser}][ until {pausedUntil|moment}][: {pauseReason}]", o)
	return strings.TrimPrefix(strings.TrimPrefix(text, " "), ": ")
}

// Follows says that not all jobs of a group are paused, or planned, yet.
func Follows(k *Call, o Object) string {
	return If("settled", "", "; its last jobs follow shortly")(k, o)
}
