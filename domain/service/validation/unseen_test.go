package validation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func TestNamesShowAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"right to left": "pay\u202etnem", "isolate": "\u2066a\u2069", "mark of direction": "a\u200e",
		"Arabic mark": "a\u061c", "space of no width": "pay\u200bment",
		"joiner after ASCII": "a\u200db", "joiner at the start": "\u200da", "word joiner": "a\u2060b",
		"byte order mark": "\ufeffa", "soft hyphen": "a\u00adb",
		"line separator": "a\u2028b", "paragraph separator": "a\u2029b", "filler": "\u3164", "half filler": "\uffa0",
		"grapheme joiner": "a\u034fb", "tag": "a\U000e0041",
		"line break": "a\nb", "tab": "a\tb", "NUL": "a\x00b", "escape": "\x1b[31ma", "C1": "a\u0085b",
		"broken UTF-8": "a\xff",
	} {
		require.NotEmpty(t, validation.Line(text, 100), name)
	}
	require.Contains(t, validation.Line("pay\u202etnem", 100), "U+202E")
	require.Contains(t, validation.Line("abcd", 3), "at most 3")
	for _, text := range []string{
		"", "payment", "支払い", "cafe\u0301", "job 🚀", "👩\u200d👩\u200d👧", "می\u200cخواهم",
		"क्\u200dष", "\u0600١٢", "❤\ufe0f", "أحمد", "שלום",
	} {
		require.Empty(t, validation.Line(text, 100), "%+q", text)
	}
}
