package channelconfig

import (
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/domain/service/sensitive"
)

// Secret is a value of a configuration that nobody reads again. Code that prints or marshals it
// gets a mask; to use it, convert it to string.
type Secret string

// Format implements fmt.Formatter for every verb.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, sensitive.Hidden) }

// String implements fmt.Stringer.
func (Secret) String() string { return sensitive.Hidden }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(sensitive.Hidden) }

// MarshalText implements encoding.TextMarshaler; encoding/json uses it, too.
func (Secret) MarshalText() ([]byte, error) { return []byte(sensitive.Hidden), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = Secret(text)
	return nil
}

// minMasked is the length from which a secret is searched in texts. To mask shorter ones would
// show them by what is missing.
const minMasked = 4

// Mask hides secrets in texts from outside. The zero value hides nothing.
type Mask struct{ values []string }

// NewMask returns a mask of the values, also as they are spelt in URLs and in base64. Of a value that is a URL
// it hides the path and the query, too, and each value of the query.
func NewMask(values []string) Mask {
	var m Mask
	for _, v := range values {
		m.add(v)
		u, err := url.Parse(v)
		if err != nil || u.Host == "" {
			continue
		}
		m.add(u.RequestURI())
		m.add(strings.TrimPrefix(u.Path, "/"))
		for _, parameters := range u.Query() {
			for _, p := range parameters {
				m.add(p)
			}
		}
	}
	m.sort()
	return m
}

// With returns the mask with more secrets, such as what is made of the others.
func (m Mask) With(values ...string) Mask {
	m.values = slices.Clone(m.values)
	for _, v := range values {
		m.add(v)
	}
	m.sort()
	return m
}

// sort puts long ones first: a part of a secret must not break up the whole.
func (m *Mask) sort() { slices.SortFunc(m.values, func(a, b string) int { return len(b) - len(a) }) }

func (m *Mask) add(value string) {
	for _, v := range append(inBase64(value), value, url.QueryEscape(value), url.PathEscape(value)) {
		if len(v) >= minMasked && !slices.Contains(m.values, v) {
			m.values = append(m.values, v)
		}
	}
}

// inBase64 is how a value is spelt in base64, wherever it stands in what is encoded: a mail server
// may repeat how it was signed in to, which is user and password in one. Characters that hold bits
// of what stands beside the value are left out.
func inBase64(value string) (forms []string) {
	for before := range 3 {
		first, end := (before*8+5)/6, (before+len(value))*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, encoding.EncodeToString([]byte(strings.Repeat("x", before) + value))[first:max(first, end)])
		}
	}
	return forms
}

// Text returns the text without the secrets.
func (m Mask) Text(text string) string {
	for _, v := range m.values {
		text = strings.ReplaceAll(text, v, sensitive.Hidden)
	}
	return text
}

// MaskOf returns the mask of all secrets of a configuration, which is a pointer to a struct.
func MaskOf(config any) Mask {
	var values []string
	for _, f := range fieldsOf(config) {
		if f.secret {
			values = append(values, texts(f.value)...)
		}
	}
	return NewMask(values)
}

// texts returns the strings in a secret, in a list or in a map of secrets.
func texts(v reflect.Value) []string {
	switch v.Kind() {
	case reflect.String:
		return []string{v.String()}
	case reflect.Slice:
		var out []string
		for i := range v.Len() {
			out = append(out, texts(v.Index(i))...)
		}
		return out
	case reflect.Map:
		var out []string
		for _, key := range v.MapKeys() {
			out = append(out, texts(v.MapIndex(key))...)
		}
		return out
	default:
		return nil
	}
}
