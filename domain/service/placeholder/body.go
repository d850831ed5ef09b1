package placeholder

import (
	"encoding/json"
	"mime"
	"regexp"
	"strings"
)

// Body returns the escape for the body of a request with a Content-Type; "" is none that is known.
// A body that is one placeholder stays as its value is. In every other one a value cannot change what
// stands around it, where the type says what that is: JSON, a form, XML or several parts. A body in the
// form of JSON is taken for JSON, whatever the type. Of a type without a form, such as text/plain, its
// values without quotes stay raw.
func Body(contentType, text string) Escape {
	if !Holds(text) {
		return Raw
	}
	parts, err := parse(text)
	if err != nil || whole(parts) {
		return Raw
	}
	kind, boundary := mediaOf(contentType)
	if kind == mediaJSON {
		return func() Place { return &jsonPlace{declared: true} }
	}
	formed := beginsJSON(parts) && isJSON(parts)
	switch {
	case kind == mediaNone && (formed || beginsJSON(parts) && meansJSON(parts)):
		return func() Place { return &jsonPlace{} }
	case formed && kind == mediaOther:
		return func() Place { return &jsonPlace{lenient: true} }
	case formed: // such as that of a client that names a form by default
		return func() Place { return &jsonPlace{} }
	case kind == mediaForm:
		return func() Place { return form{} }
	case kind == mediaXML:
		return func() Place { return &xmlPlace{} }
	case kind == mediaParts:
		return func() Place { return newMultipart(boundary) }
	case kind == mediaNone:
		return func() Place { return unnamed{} }
	}
	return Raw
}

// whole reports whether a text is one placeholder, with blanks around it at most.
func whole(parts []part) bool {
	values := 0
	for _, p := range parts {
		if p.value != nil {
			values++
		} else if strings.TrimSpace(p.text) != "" {
			return false
		}
	}
	return values == 1
}

// media is what a type says about the form of a body.
type media int

const (
	mediaNone media = iota
	mediaOther
	mediaJSON
	mediaForm
	mediaXML
	mediaParts
)

// mediaOf reads a Content-Type. Types of JSON are those with json in their name: application/json,
// problem+json, x-ndjson, jsonl and others.
func mediaOf(contentType string) (kind media, boundary string) {
	if strings.TrimSpace(contentType) == "" {
		return mediaNone, ""
	}
	name, parameters, err := mime.ParseMediaType(contentType)
	boundary = parameters["boundary"]
	if err != nil {
		name, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		name = strings.TrimSpace(name)
		if found := boundaryOf.FindStringSubmatch(contentType); found != nil {
			boundary = strings.TrimSpace(found[1])
		}
	}
	first, second, _ := strings.Cut(name, "/")
	switch {
	case strings.Contains(name, "json"):
		return mediaJSON, ""
	case second == "x-www-form-urlencoded":
		return mediaForm, ""
	case strings.HasSuffix(second, "xml"):
		return mediaXML, ""
	case first == "multipart" && boundary != "":
		return mediaParts, boundary
	}
	return mediaOther, ""
}

// boundaryOf finds a boundary that is written in a looser way than RFC 2045 has it, such as without the quotes that its
// characters ask for. Receivers take it.
var boundaryOf = regexp.MustCompile(`(?i);\s*boundary\s*=\s*"?([^";]+)`)

// Formed reports whether a Content-Type says of which form a body is, so that values can be kept in
// their places.
func Formed(contentType string) bool {
	kind, _ := mediaOf(contentType)
	return kind > mediaOther
}

// beginsJSON reports whether a text begins as JSON does that holds anything.
func beginsJSON(parts []part) bool {
	for _, p := range parts {
		if p.value != nil {
			return false
		}
		if text := strings.TrimSpace(p.text); text != "" {
			return strings.IndexByte(`{["`, text[0]) >= 0
		}
	}
	return false
}

// isJSON reports whether a text has the form of JSON, with placeholders inside strings and in place
// of values.
func isJSON(parts []part) bool {
	p := &jsonPlace{lenient: true}
	for _, part := range parts {
		if part.value == nil {
			if p.plain(part.text) != nil {
				return false
			}
		} else if _, err := p.value(value{open: true}); err != nil {
			return false
		}
	}
	return p.end("") == nil
}

// meansJSON reports whether values could make a text JSON: such as {"n": -${params.n}} and
// {"a": 1, ${params.more}}.
func meansJSON(parts []part) bool {
	for _, bare := range []string{"1", "", `"k":1`, `,"k":1`} {
		var b strings.Builder
		inside, escaped := false, false
		for _, p := range parts {
			if p.value != nil {
				if inside {
					b.WriteByte('x')
				} else {
					b.WriteString(bare)
				}
				continue
			}
			for i := range len(p.text) {
				switch c := p.text[i]; {
				case escaped:
					escaped = false
				case inside && c == '\\':
					escaped = true
				case c == '"':
					inside = !inside
				}
			}
			b.WriteString(p.text)
		}
		if json.Valid([]byte(b.String())) {
			return true
		}
	}
	return false
}

// unnamed is a place of a text whose type nobody named. It is sent as JSON where it is JSON.
type unnamed struct{ free }

func (unnamed) end(result string) error {
	if text := strings.TrimSpace(result); text != "" && strings.IndexByte(`{["`, text[0]) >= 0 &&
		json.Valid([]byte(text)) {
		return wrong("its values make this text JSON, and nothing keeps them in their places there: set the header " +
			"Content-Type to application/json and put each value in quotes or in place of one whole value, or set it to " +
			"text/plain")
	}
	return nil
}
