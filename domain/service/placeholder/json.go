package placeholder

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonPlace is a place in JSON, or in lines that are JSON each. A value inside a string becomes a part
// of its text; one without quotes has to be one complete value.
type jsonPlace struct {
	// declared: the Content-Type says that the text is JSON.
	declared bool
	// lenient: it says that the text is something else. Values without quotes stay as they are.
	lenient bool

	at     jsonState
	frames []jsonFrame // the lists and objects that are open
	// word is the number, or true, false or null, that is being read.
	word strings.Builder
	// escape counts the bytes of an escape in a string that are still to come.
	escape int
	// lines: a line has ended since the last value that stands in no other.
	lines bool
	// touches: what came last is the value of the placeholder last, and nothing stands behind it yet.
	touches bool
	last    string
	// read counts the bytes of the text.
	read int
}

type jsonState int

const (
	jsonValue    jsonState = iota // a value comes
	jsonFirst                     // a value comes, or the end of the list
	jsonKey                       // a name comes
	jsonFirstKey                  // a name comes, or the end of the object
	jsonColon                     // a colon comes
	jsonAfter                     // a value is over
	jsonString                    // in a string that is a value
	jsonName                      // in a string that is a name
	jsonWord                      // in a number, or in true, false or null
)

// jsonFrame is an open list or object.
type jsonFrame struct {
	object bool
	// names are those of the object so far; true: values stand in it.
	names map[string]bool
	// name is the one that is being read, as it is written; filled: values stand in it; open: such
	// as nobody knows yet.
	name         strings.Builder
	filled, open bool
}

// takesNull reports whether the next value of a text may be null: where JSON has a value without quotes.
func takesNull(place Place) bool {
	p, ok := place.(*jsonPlace)
	return ok && !p.lenient && p.at != jsonString && p.at != jsonName
}

func (p *jsonPlace) plain(text string) error {
	for i := range len(text) {
		if err := p.next(text[i]); err != nil {
			return err
		}
		if p.read++; strings.HasPrefix(text[i:], mark) {
			p.read++ // it was written as $${
		}
	}
	return nil
}

// broken is an error of the text itself.
func (p *jsonPlace) broken() error {
	if !p.declared {
		return p.wrong("it is no JSON from byte %d on: mend it, so that each value can keep its place", p.read+1)
	}
	return p.wrong("it is no JSON from byte %d on, and the header Content-Type says that it is: mend it, so that each "+
		"value can keep its place, or set another type", p.read+1)
}

// wrong is an error of a value or of the text. Where nobody named the type, it may be another one.
func (p *jsonPlace) wrong(format string, args ...any) error {
	if !p.declared {
		format += "; where the text is not meant as JSON, set the header Content-Type, such as text/plain"
	}
	return wrong(format, args...)
}

const jsonSpace = " \t\r\n\x1e" // the last begins each text of a JSON text sequence (RFC 7464)

// next reads one byte of the text.
func (p *jsonPlace) next(c byte) error {
	switch {
	case p.at == jsonString || p.at == jsonName:
		return p.inString(c)
	case p.at == jsonWord && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", c) >= 0:
		p.word.WriteByte(c)
		return nil
	case p.at == jsonWord:
		if !json.Valid([]byte(p.word.String())) {
			return p.broken()
		}
		p.over()
	}
	if strings.IndexByte(jsonSpace, c) >= 0 {
		p.touches = false
		p.lines = p.lines || c == '\n' || c == 0x1e
		return nil
	}
	if p.touches && strings.IndexByte(",:]}", c) < 0 {
		return p.wrong(joined, p.last)
	}
	p.touches = false
	return p.begin(c)
}

// begin reads what is no blank and belongs to no string and no word.
func (p *jsonPlace) begin(c byte) error {
	wantsValue := p.at == jsonValue || p.at == jsonFirst || p.at == jsonAfter && len(p.frames) == 0 && p.lines
	wantsName := p.at == jsonKey || p.at == jsonFirstKey
	switch {
	case c == '"' && wantsName:
		f := &p.frames[len(p.frames)-1]
		f.name.Reset()
		f.filled, f.open = false, false
		p.at = jsonName
	case c == '"' && wantsValue:
		p.at = jsonString
	case (c == '{' || c == '[') && wantsValue:
		p.at = jsonFirst
		if c == '{' {
			p.at = jsonFirstKey
		}
		p.frames = append(p.frames, jsonFrame{object: c == '{'})
	case c == ':' && p.at == jsonColon:
		p.at = jsonValue
	case c == ',' && p.at == jsonAfter && len(p.frames) > 0:
		p.at = jsonValue
		if p.frames[len(p.frames)-1].object {
			p.at = jsonKey
		}
	case c == '}' && p.closes(true) || c == ']' && p.closes(false):
		p.frames = p.frames[:len(p.frames)-1]
		p.over()
	case wantsValue && strings.IndexByte("-0123456789tfn", c) >= 0:
		p.word.Reset()
		p.word.WriteByte(c)
		p.at = jsonWord
	default:
		return p.broken()
	}
	return nil
}

// closes reports whether the innermost object, or list, may end here.
func (p *jsonPlace) closes(object bool) bool {
	if len(p.frames) == 0 || p.frames[len(p.frames)-1].object != object {
		return false
	}
	return p.at == jsonAfter || p.at == jsonFirstKey || p.at == jsonFirst
}

// over ends a value.
func (p *jsonPlace) over() { p.at, p.lines, p.touches = jsonAfter, false, false }

func (p *jsonPlace) inString(c byte) error {
	if p.at == jsonName {
		p.frames[len(p.frames)-1].name.WriteByte(c)
	}
	switch {
	case p.escape > 1: // the digits of \u
		p.escape--
		if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 {
			return p.broken()
		}
		if p.escape == 1 {
			p.escape = 0
		}
	case p.escape == 1:
		p.escape = 0
		if c == 'u' {
			p.escape = 5
		} else if strings.IndexByte(`"\/bfnrt`, c) < 0 {
			return p.broken()
		}
	case c == '\\':
		p.escape = 1
	case c < ' ':
		return p.broken()
	case c == '"' && p.at == jsonName:
		p.at = jsonColon
		return p.named()
	case c == '"':
		p.over()
	}
	return nil
}

// named ends a name. Where values stand in it, it must be no other one of its object: of two fields
// with one name most readers take the last, and a value would choose which of them counts.
func (p *jsonPlace) named() error {
	f := &p.frames[len(p.frames)-1]
	var name string
	if err := json.Unmarshal([]byte(`"`+f.name.String()), &name); err != nil {
		return p.broken()
	}
	if f.open {
		return nil
	}
	if filled, twice := f.names[name]; twice && (filled || f.filled) {
		return p.wrong("a value makes the name of a field that the object has already: give another value, or another name")
	}
	if f.names == nil {
		f.names = map[string]bool{}
	}
	f.names[name] = f.filled
	return nil
}

const (
	joined = "%s joins what stands beside it, and without quotes it has to be a whole JSON value: put all of the value " +
		"into the parameter, or quotes around all of the text"
	noPlace = "%s stands where JSON has no value: put it into quotes, or in place of a whole value"
	noValue = "the value of %s is not one JSON value (a number, true, false, null, a text in quotes, a list such as " +
		"[1,2], an object): give one, or put quotes around the placeholder where a text is meant"
)

func (p *jsonPlace) value(v value) (string, error) {
	p.read += len(v.placeholder)
	if p.at == jsonString || p.at == jsonName {
		if p.escape > 0 {
			return "", p.wrong("%s stands behind a backslash, in the middle of an escape of JSON: write \\\\ for a backslash",
				v.placeholder)
		}
		text := quoted(v.text)
		if p.at == jsonName {
			f := &p.frames[len(p.frames)-1]
			f.name.WriteString(text)
			f.filled, f.open = true, f.open || v.sample || v.open
		}
		return text, nil
	}
	switch {
	case p.at == jsonWord || p.touches || p.at == jsonAfter && len(p.frames) == 0 && !p.lines:
		return "", p.wrong(joined, v.placeholder)
	case p.at != jsonValue && p.at != jsonFirst && (p.at != jsonAfter || len(p.frames) > 0):
		return "", p.wrong(noPlace, v.placeholder)
	}
	text, err := p.bare(v)
	if err != nil {
		return "", err
	}
	p.over()
	p.touches, p.last = true, v.placeholder
	return text, nil
}

// bare is a value without quotes around it. It has no line ends, because in lines of JSON each is a
// value of its own.
func (p *jsonPlace) bare(v value) (string, error) {
	if p.lenient {
		return v.text, nil
	}
	texts := v.known
	if !v.open {
		texts = []string{v.text}
	}
	for _, text := range texts {
		if !json.Valid([]byte(text)) {
			return "", p.wrong(noValue, v.placeholder)
		}
	}
	if v.open {
		return `"` + quoted(v.text) + `"`, nil
	}
	if !strings.ContainsAny(v.text, "\r\n") {
		return v.text, nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, []byte(v.text))
	return b.String(), err
}

func (p *jsonPlace) end(string) error {
	if p.at == jsonWord {
		if !json.Valid([]byte(p.word.String())) {
			return p.broken()
		}
		p.over()
	}
	if len(p.frames) > 0 || p.at != jsonAfter {
		return p.broken()
	}
	return nil
}

// quoted is a text as the inside of a JSON string.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}
