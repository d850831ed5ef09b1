package placeholder_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/placeholder"
)

// one is a text that is one placeholder: it stays raw.
var one = regexp.MustCompile(`^\$\{[^}]*\}$`)

// shape tells what a text of JSON values consists of: objects with their names in order, lists and
// kinds of values. The number 0, which neutral values make, is any value, and a name that holds 0 is
// any name.
type shape struct {
	kind  string
	names []string
	parts []shape
}

func shapesOf(t *testing.T, text string) (shapes []shape) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(text, "\x1e", " ")))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shapes
		}
		require.NoError(t, err, text)
		shapes = append(shapes, shapeOf(t, d, token))
	}
}

func shapeOf(t *testing.T, d *json.Decoder, token json.Token) (s shape) {
	t.Helper()
	next := func() json.Token {
		token, err := d.Token()
		require.NoError(t, err)
		return token
	}
	switch v := token.(type) {
	case json.Delim:
		s.kind = v.String()
		for d.More() {
			if v == '{' {
				s.names = append(s.names, next().(string))
			}
			s.parts = append(s.parts, shapeOf(t, d, next()))
		}
		next()
	case json.Number:
		s.kind = "number " + v.String()
	case string:
		s.kind = "string"
	default:
		s.kind = "word"
	}
	return s
}

func sameShapes(t *testing.T, neutral, got []shape) {
	t.Helper()
	require.Len(t, got, len(neutral))
	for i, want := range neutral {
		if want.kind == "number 0" {
			continue
		}
		require.Equal(t, want.kind, got[i].kind)
		require.Len(t, got[i].names, len(want.names))
		for n, name := range want.names {
			if !strings.Contains(name, "0") {
				require.Equal(t, name, got[i].names[n])
			}
		}
		sameShapes(t, want.parts, got[i].parts)
	}
}

func fuzzed(t *testing.T, a, b string) *placeholder.Values {
	t.Helper()
	values := map[string]any{"a": a, "b": b}
	if json.Valid([]byte(b)) {
		values["b"] = json.RawMessage(b)
	}
	return params(t, values)
}

// FuzzJSONBody: the body that a template and values make has the fields of the template, whatever
// the values are, or there is none.
func FuzzJSONBody(f *testing.F) {
	for _, template := range []string{
		`{"n": ${params.b}, "s": "${params.a}"}`, `[${params.b}, {"${params.a}": "x"}]`, `{"a": -${params.b}}`,
		`{"a": "\${params.a}"}`, "{\"a\":\"${params.a}\"}\n{\"b\":${params.b}}\n", `{"role":1,"${params.a}":2}`,
		`{"a": 1, ${params.b}}`, `"${params.a}${params.b}"`, `{"a": "${params.a}\"", "b": "${params.b}"}`, "\x1e[${params.b}]",
	} {
		f.Add(template, evil, "1,2")
		f.Add(template, "role", `{"c":[1,"}"]}`)
		f.Add(template, `\`, "5")
		f.Add(template, `","x":"`, "\"\u2028\n\"")
	}
	f.Fuzz(func(t *testing.T, template, a, b string) {
		if one.MatchString(strings.TrimSpace(template)) {
			return
		}
		zeros := params(t, map[string]any{"a": 0, "b": 0})
		kinds := []string{"application/json", "application/x-ndjson", ""}
		_, err := placeholder.Expand(template, zeros, placeholder.Body(kinds[0], template))
		if begin := strings.TrimSpace(template); err == nil && strings.Contains(`{["`, begin[:min(len(begin), 1)]) {
			kinds = append(kinds, "application/x-www-form-urlencoded", "text/xml") // it is JSON all the same
		}
		for _, media := range kinds {
			got, err := placeholder.Expand(template, fuzzed(t, a, b), placeholder.Body(media, template))
			if err != nil || !placeholder.Holds(template) {
				continue
			}
			if begin := strings.TrimSpace(got); media == "" && (!json.Valid([]byte(got)) || !strings.Contains(`{["`, begin[:1])) {
				continue // it is not sent as JSON, or is one number
			}
			neutral, err := placeholder.Expand(template, zeros, placeholder.Body(media, template))
			if err != nil {
				continue // two names are the same with these values
			}
			sameShapes(t, shapesOf(t, neutral), shapesOf(t, got))
		}
	})
}

// FuzzFormAndXML: a form has the fields of its template with the values in them, and XML the elements,
// attributes and texts.
func FuzzFormAndXML(f *testing.F) {
	f.Add(evil, "]]>")
	f.Add("a]]", "--><x>")
	f.Add("'\"<>&", "\r\n\t")
	f.Add("", "%26=+")
	f.Fuzz(func(t *testing.T, a, b string) {
		values := params(t, map[string]any{"a": a, "b": b})
		a, b = string([]rune(a)), string([]rune(b)) // parameters are JSON, which is UTF-8
		form := "x=1&a=${params.a}&b=<${params.b}${params.a}>"
		got, err := placeholder.Expand(form, values, placeholder.Body("application/x-www-form-urlencoded", form))
		require.NoError(t, err)
		fields, err := url.ParseQuery(got)
		require.NoError(t, err)
		require.Equal(t, url.Values{"x": {"1"}, "a": {a}, "b": {"<" + b + a + ">"}}, fields)

		text := `<r a="${params.a}" b='${params.b}'>${params.a}${params.b}<![CDATA[]${params.a}>]${params.b}]]]><c/></r>`
		got, err = placeholder.Expand(text, values, placeholder.Body("application/xml", text))
		if err != nil {
			require.ErrorContains(t, err, "a character that XML cannot carry")
			return
		}
		d := xml.NewDecoder(bytes.NewReader([]byte(got)))
		var tokens, texts []string
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, "%q", got)
			switch token := token.(type) {
			case xml.StartElement:
				tokens = append(tokens, token.Name.Local)
				for _, attribute := range token.Attr {
					tokens = append(tokens, attribute.Value)
				}
			case xml.CharData:
				texts = append(texts, string(token))
			default:
				_, end := token.(xml.EndElement)
				require.True(t, end, "%T", token)
			}
		}
		require.Equal(t, []string{"r", a, b, "c"}, tokens)
		lines := strings.NewReplacer("\r\n", "\n", "\r", "\n") // as readers of XML end lines in a section
		all := strings.Join(texts, "")
		require.True(t, strings.HasPrefix(all, a+b), "%q", got)
		require.Equal(t, lines.Replace("]"+a)+lines.Replace(">]"+b)+"]", strings.TrimPrefix(all, a+b), "%q", got)
	})
}
