package validation_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
)

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		most     int
		want     string
	}{
		{"clean", "plain\ttext\nof lines 行", 100, "plain\ttext\nof lines 行"},
		{"NUL", "a\x00b", 100, "a\uFFFDb"},
		{"escape", "\x1b[31mred", 100, "\uFFFD[31mred"},
		{"C1 control", "a\u0085b", 100, "a\uFFFDb"},
		{"broken UTF-8", "a\xff\xfeb", 100, "a\uFFFD\uFFFDb"},
		{"line breaks", "a\r\nb\rc\n", 100, "a\nb\nc\n"},
		{"exactly full", "12345", 5, "12345"},
		{"one too many", "123456", 5, "12…"},
		{"cut between runes", "行行行", 8, "行…"},
		{"cut after a substitute", "\x00\x00\x00", 6, "\uFFFD…"},
		{"no room for the mark", "abc", 2, ""},
		{"no room", "abc", 0, ""},
		{"negative room", "abc", -1, ""},
		{"empty", "", 5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, validation.Text(c.in, c.most))
		})
	}
}

// A line of a log keeps its colours, and nothing else that steers terminals.
func TestLogLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		most     int
		want     string
	}{
		{"colours", "\x1b[1;38;2;255;0;0mred\x1b[0m \x1b[m", 100, "\x1b[1;38;2;255;0;0mred\x1b[0m \x1b[m"},
		{"a cursor", "a\x1b[2Jb", 100, "a\uFFFD[2Jb"},
		{"a title", "\x1b]0;evil\x07x", 100, "\uFFFD]0;evil\uFFFDx"},
		{"a question", "\x1b[6n", 100, "\uFFFD[6n"},
		{"private", "\x1b[?25m", 100, "\uFFFD[?25m"},
		{"cut short", "a\x1b[31", 100, "a\uFFFD[31"},
		{"too long", "\x1b[" + strings.Repeat("1;", 40) + "m", 200, "\uFFFD[" + strings.Repeat("1;", 40) + "m"},
		{"a control within", "\x1b[3\x001m", 100, "\uFFFD[3\uFFFD1m"},
		{"no part of a sequence", "123\x1b[31mred", 7, "123…"},
		{"line breaks", "\x1b[31mred\r\n", 100, "\x1b[31mred\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := validation.LogLine(c.in, c.most)
			require.Equal(t, c.want, got)
			require.Equal(t, got, validation.LogLine(got, c.most), "cleaning twice")
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x00b\r\nc\xff", 5)
	f.Add(strings.Repeat("行", 50), 100)
	f.Add("\r\r\n\n", 3)
	f.Fuzz(func(t *testing.T, in string, most int) {
		out := validation.Text(in, most)
		require.True(t, utf8.ValidString(out))
		require.LessOrEqual(t, len(out), max(most, 0))
		require.False(t, strings.ContainsFunc(out, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t'
		}))
		require.Equal(t, out, validation.Text(out, most), "cleaning twice")
		if len(in)*3 <= most {
			require.False(t, strings.HasSuffix(out, "…") && !strings.HasSuffix(in, "…"), "what fits is not cut")
		}
	})
}
