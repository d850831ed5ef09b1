package secrecy

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Hidden stands where a secret was.
const Hidden = "***"

// The bounds of what is looked for, in bytes.
const (
	// shortest is the shortest text that is hidden: of a secret, of a line of
	// one, and of a piece of one at the edge of a text that was cut.
	shortest = 6
	// longestEdge bounds the pieces that are looked for at the edges.
	longestEdge = 256
)

// mask replaces the values of secrets, as they are and as programs commonly
// write them: in URLs, in JSON, in base64 and in hexadecimal. A program that
// changes a value in another way before it prints it is not found out.
type mask struct {
	forms *strings.Replacer
	// values are looked for in pieces at the edges of texts.
	values []string
}

func newMask(secrets map[string]string) *mask {
	m := &mask{}
	var forms []string
	for _, value := range secrets {
		forms = append(forms, formsOf(value)...)
		m.values = append(m.values, value)
	}
	// A form may hold another one; the longer is replaced first.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, Hidden)
	}
	m.forms = strings.NewReplacer(pairs...)
	return m
}

// formsOf are the texts that give a value away.
func formsOf(value string) []string {
	forms := []string{value, strings.TrimSpace(value), url.QueryEscape(value), url.PathEscape(value), hex.EncodeToString([]byte(value))}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encodings(encoding, value)...)
	}
	// Logs are made of lines.
	if strings.ContainsAny(value, "\r\n") {
		for line := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '\r' || r == '\n' }) {
			forms = append(forms, line, strings.TrimSpace(line))
		}
	}
	return slices.DeleteFunc(forms, func(form string) bool { return len(form) < shortest })
}

// encodings are what of the base64 of a longer text surely comes from a value
// inside it, for each of the three places in a group where it may begin.
func encodings(encoding *base64.Encoding, value string) []string {
	var out []string
	for before := range 3 {
		whole := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("\x00", before) + value))
		bits := 8 * (before + len(value))
		// The characters that hold bits of the value alone.
		first, last := (8*before+5)/6, bits/6
		if last > first {
			out = append(out, whole[first:last])
		}
	}
	return out
}

// hide replaces the secrets in a text.
func (m *mask) hide(text string) string {
	if text == "" {
		return text
	}
	text = m.forms.Replace(text)
	for _, value := range m.values {
		text = hideEdges(text, value)
	}
	return text
}

// hideEdges hides the beginning of a value at the end of a text, and the end of
// one at its beginning: what is cut to a bound may be cut inside a secret.
func hideEdges(text, value string) string {
	for n := min(len(value)-1, len(text), longestEdge); n >= shortest; n-- {
		if strings.HasSuffix(text, value[:n]) {
			text = text[:len(text)-n] + Hidden
			break
		}
	}
	for n := min(len(value)-1, len(text), longestEdge); n >= shortest; n-- {
		if strings.HasPrefix(text, value[len(value)-n:]) {
			return Hidden + text[n:]
		}
	}
	return text
}
