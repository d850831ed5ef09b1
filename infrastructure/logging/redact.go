package logging

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/platform-scheduler/platform-scheduler/domain/convert"
)

// redacted replaces what must not be logged.
const redacted = "[REDACTED]"

// Redactor is a slog.Handler that hides secrets and control characters before another handler
// writes the record. It is safe for concurrent use if the other handler is.
type Redactor struct{ inner slog.Handler }

// NewRedactor wraps a handler.
func NewRedactor(inner slog.Handler) *Redactor { return &Redactor{inner: inner} }

// Enabled implements slog.Handler.
func (r *Redactor) Enabled(ctx context.Context, l slog.Level) bool { return r.inner.Enabled(ctx, l) }

// Handle implements slog.Handler.
func (r *Redactor) Handle(ctx context.Context, rec slog.Record) error {
	clean := slog.NewRecord(rec.Time, rec.Level, cleanText(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(cleanAttr(a))
		return true
	})
	return r.inner.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (r *Redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := convert.All(attrs, cleanAttr)
	return &Redactor{inner: r.inner.WithAttrs(clean)}
}

// WithGroup implements slog.Handler.
func (r *Redactor) WithGroup(name string) slog.Handler {
	return &Redactor{inner: r.inner.WithGroup(escape(name))}
}

func cleanAttr(a slog.Attr) slog.Attr {
	a.Key = escape(a.Key)
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64, slog.KindBool, slog.KindDuration, slog.KindTime:
		// A fencing token is a number and no secret.
		return slog.Attr{Key: a.Key, Value: v}
	}
	if secretKey(a.Key) {
		return slog.String(a.Key, redacted)
	}
	switch v.Kind() {
	case slog.KindGroup:
		group := v.Group()
		clean := convert.All(group, cleanAttr)
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(clean...)}
	case slog.KindString:
		return slog.String(a.Key, cleanText(v.String()))
	}
	switch x := v.Any().(type) {
	case []string:
		clean := convert.All(x, cleanText)
		return slog.Any(a.Key, clean)
	case []byte:
		return slog.String(a.Key, cleanText(string(x)))
	case error:
		return slog.String(a.Key, cleanText(x.Error()))
	default:
		// The log gets the text of any other value. The fields of a struct would escape the check
		// of keys, so types that hold secrets must implement slog.LogValuer.
		return slog.String(a.Key, cleanText(fmt.Sprint(x)))
	}
}

// secretKey reports whether the name of a key says that its value is a secret.
func secretKey(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	for _, word := range []string{
		"password", "passwd", "passphrase", "secret", "token", "authorization", "cookie", "apikey", "credential",
		"privatekey", "dsn",
	} {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

var (
	bearer      = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[^\s"',]+`)
	urlPassword = regexp.MustCompile(`(://[^/\s:@]*:)[^/\s]*@`)
	dsnPassword = regexp.MustCompile(`([^\s:/@"]+:)\S*@((?:tcp|unix)\()`)
)

// cleanText hides credentials inside a text, such as the address in a driver's error, and
// escapes control characters.
func cleanText(s string) string {
	if strings.ContainsRune(s, '@') {
		s = urlPassword.ReplaceAllString(s, "${1}"+redacted+"@")
		s = dsnPassword.ReplaceAllString(s, "${1}"+redacted+"@$2")
	}
	if len(s) > 6 && strings.ContainsAny(s, " \t") {
		s = bearer.ReplaceAllString(s, "$1 "+redacted)
	}
	return escape(s)
}

// escape writes visible escapes for control characters, for line and paragraph separators, and
// for marks that reorder text.
func escape(s string) string {
	harmless := utf8.ValidString(s)
	for _, c := range s {
		if harmless = harmless && !harmful(c); !harmless {
			break
		}
	}
	if harmless {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && s[i] != 0xef:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case harmful(c):
			q := strconv.QuoteRuneToASCII(c)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

func harmful(c rune) bool {
	switch {
	case c < 0x20, c >= 0x7f && c <= 0x9f:
		return true
	case c == 0x2028, c == 0x2029, c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069, c == 0x200e, c == 0x200f:
		return true
	default:
		return false
	}
}
