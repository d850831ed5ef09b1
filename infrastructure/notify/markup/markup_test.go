package markup_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/markup"
)

func TestTextsAreCleaned(t *testing.T) {
	for in, want := range map[string]string{
		"plain":           "plain",
		"a\r\nb\rc\nd\te": "a\nb\nc\nd\te",
		"a\x00\x1bb":      "a\ufffd\ufffdb",
		"a\u202eb\u200bc": "a\ufffdb\ufffdc",
		"a\xffb":          "a\ufffdb",
		"a\u2028b\vc":     "a\nb\nc",
		"长😀":              "长😀",
	} {
		require.Equal(t, want, markup.Clean(in), "%q", in)
	}
	require.Equal(t, "a b c", markup.Line("a\nb\tc"))
}

func TestTextsAreCutAtACharacter(t *testing.T) {
	require.Equal(t, "abc", markup.Cut("abc", 3, markup.Bytes))
	require.Equal(t, "ab…", markup.Cut("abcdef", 5, markup.Bytes))
	require.Equal(t, "长…", markup.Cut("长长长", 8, markup.Bytes))
	require.Equal(t, "长…", markup.Cut("长长长", 2, markup.Runes))
	require.Equal(t, "😀…", markup.Cut("😀😀😀", 4, markup.UTF16))
	require.Empty(t, markup.Cut("abcdef", 2, markup.Bytes))
	require.Empty(t, markup.Cut("abcdef", -5, markup.Runes))
}

// Whatever a text is, it fits, stays whole characters, and is kept where it fits already.
func TestCutKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "most")
		for _, unit := range []markup.Unit{markup.Bytes, markup.Runes, markup.UTF16} {
			cut, size, whole := markup.Cut(s, most, unit), 0, 0
			for _, r := range cut {
				size += unit(r)
			}
			for _, r := range s {
				whole += unit(r)
			}
			require.LessOrEqual(t, size, most)
			require.True(t, utf8.ValidString(cut))
			if whole <= most {
				require.Equal(t, s, cut)
			} else {
				require.True(t, cut == "" || strings.HasSuffix(cut, "…"))
			}
		}
	})
}

func TestLinksLeadToPagesOnly(t *testing.T) {
	const to = "https://h.example/a(b)?x=<y>|@z&q=\""
	require.Equal(t, "[x](https://h.example/a%28b%29?x=%3Cy%3E%7C%40z&q=%22)", markup.FullWidth.Link("x", to))
	require.Equal(t, "<https://h.example/a%28b%29?x=%3Cy%3E%7C%40z&q=%22|x>", markup.Slack.Link("x", to))
	require.Equal(t, `<a href="https://h.example/a%28b%29?x=%3Cy%3E%7C%40z&amp;q=%22">x</a>`, markup.Telegram.Link("x", to))
	for _, nowhere := range []string{"javascript:alert(1)", "tg://user?id=1", "/x", "", "https://", "https://h\n.example"} {
		require.Equal(t, "x", markup.Slack.Link("x", nowhere), nowhere)
	}
}
