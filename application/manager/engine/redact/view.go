package redact

import (
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text without the escapes of one notation.
type view struct {
	text string
	// from is where each byte stands in the text itself, and where that ends; nil
	// where both are the same.
	from []int
}

// views are the text as it is, and without the escapes that it may hold: of
// JSON, also of JSON in JSON, of URLs and of XML.
func (m *mask) views(text string) []view {
	out := []view{{text: text}}
	if inner, escaped := unescapeJSON(out[0]); escaped {
		out = append(out, inner)
		if inner, escaped = unescapeJSON(inner); escaped {
			out = append(out, inner)
		}
	}
	if plain, escaped := unescapeURL(out[0], false); escaped {
		out = append(out, plain)
	}
	if plain, escaped := unescapeXML(out[0]); escaped {
		out = append(out, plain)
	}
	if m.spaced && strings.Contains(text, "+") {
		query, _ := unescapeURL(out[0], true)
		out = append(out, query)
	}
	return out
}

// origin is where a byte of the view stands in the text itself.
func (v view) origin(i int) int {
	if v.from == nil {
		return i
	}
	return v.from[i]
}

// found notes what is found in a view.
func (v view) found(in *ranges) func(from, to int) {
	return func(from, to int) {
		if from < to {
			*in = append(*in, [2]int{v.origin(from), v.origin(to)})
		}
	}
}

// rewrite makes a view of a view: replace says what stands at i for how many
// bytes, 0 for none.
func rewrite(v view, marks string, replace func(i int) (by string, n int)) (_ view, changed bool) {
	if !strings.ContainsAny(v.text, marks) {
		return v, false
	}
	out := view{from: make([]int, 0, len(v.text)+1)}
	text := make([]byte, 0, len(v.text))
	for i := 0; i < len(v.text); {
		by, n := "", 0
		if strings.IndexByte(marks, v.text[i]) >= 0 {
			by, n = replace(i)
		}
		if n == 0 {
			by, n = v.text[i:i+1], 1
		} else {
			changed = true
		}
		for range len(by) {
			out.from = append(out.from, v.origin(i))
		}
		text = append(text, by...)
		i += n
	}
	out.text, out.from = string(text), append(out.from, v.origin(len(v.text)))
	return out, changed
}

// short are the escapes of JSON that stand for one character each.
var short = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`, `\b`, "\b", `\f`, "\f", `\n`, "\n", `\r`, "\r", `\t`,
	"\t")

// unescapeJSON takes the escapes of JSON away, whichever a program chose.
func unescapeJSON(v view) (_ view, changed bool) {
	s := v.text
	return rewrite(v, `\`, func(i int) (string, int) {
		unit, ok := unicodeEscape(s, i)
		if !ok {
			if i+1 < len(s) && strings.IndexByte(`"\/bfnrt`, s[i+1]) >= 0 {
				return short.Replace(s[i : i+2]), 2
			}
			return "", 0
		}
		if low, ok := unicodeEscape(s, i+6); ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
			return string(utf16.DecodeRune(unit, low)), 12
		}
		return string(unit), 6
	})
}

// unicodeEscape reads \uXXXX at i.
func unicodeEscape(s string, i int) (rune, bool) {
	if i+6 > len(s) || s[i] != '\\' || s[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
	return rune(n), err == nil
}

// unescapeURL takes the escapes of URLs away; plus says that a plus is a space.
func unescapeURL(v view, plus bool) (_ view, changed bool) {
	s, marks := v.text, "%"
	if plus {
		marks = "%+"
	}
	return rewrite(v, marks, func(i int) (string, int) {
		if s[i] == '+' {
			return " ", 1
		}
		if i+3 > len(s) {
			return "", 0
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", 0
		}
		return string([]byte{byte(n)}), 3
	})
}

// longestEntity bounds an escape of XML, such as &#x10ffff;.
const longestEntity = 12

// unescapeXML takes the escapes of XML and of HTML away, and the ends of sections that nothing
// stands between.
func unescapeXML(v view) (_ view, changed bool) {
	const anew = "]]><![CDATA["
	s := v.text
	return rewrite(v, "&]", func(i int) (string, int) {
		if s[i] == ']' {
			if strings.HasPrefix(s[i:], anew) {
				return "", len(anew)
			}
			return "", 0
		}
		end := strings.IndexByte(s[i:min(i+longestEntity, len(s))], ';')
		if end < 0 {
			return "", 0
		}
		entity := s[i : i+end+1]
		plain := html.UnescapeString(entity)
		if plain == entity {
			return "", 0
		}
		return plain, len(entity)
	})
}

// ranges are the places of a text that are hidden.
type ranges [][2]int

// replace puts Hidden in the place of each; those that touch are one.
func (r ranges) replace(text string) string {
	if len(r) == 0 {
		return text
	}
	slices.SortFunc(r, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	end := 0
	for _, place := range r {
		if b.Len() == 0 || place[0] > end {
			b.WriteString(text[end:place[0]])
			b.WriteString(Hidden)
		}
		end = max(end, place[1])
	}
	b.WriteString(text[end:])
	return b.String()
}
