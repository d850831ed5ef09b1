package charset_test

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/charset"
)

// The bytes are those of the indexes of the Encoding Standard (https://encoding.spec.whatwg.org/#indexes); its decode
// algorithm lets a byte order mark win over the label.
func TestTextsAreRead(t *testing.T) {
	for _, c := range []struct{ name, bytes, want string }{
		{"gbk", "\xd6\xd0\xce\xc4", "中文"},
		{"GB2312", "\xd6\xd0\xce\xc4", "中文"},
		{"gb18030", "\x81\x30\x84\x36", "¥"},
		{"latin1", "caf\xe9", "café"},
		{"iso-8859-1", "\x80", "€"}, // a label of windows-1252
		{"iso-8859-15", "\xa4", "€"},
		{"windows-1251", "\xcf\xf0\xe8", "При"},
		{"shift_jis", "\x93\xfa\x96\x7b", "日本"},
		{"euc-kr", "\xc7\xd1", "한"},
		{"big5", "\xa4\xa4", "中"},
		{"utf-16le", "A\x00-N", "A中"},
		{"utf-16", "\x3d\xd8\x80\xde", "🚀"},
		{"utf-16be", "\x00AN-", "A中"},
		{"utf-16be", "\xff\xfeA\x00", "A"},
		{"gbk", "\xef\xbb\xbf\xe4\xb8\xad", "中"},
		{"utf-8", "\xe4\xb8\xad", "中"},
		{"gbk", "\xff", "\ufffd"},
		{"utf-16le", "A\x00\x2d", "A\ufffd"},
		{"no-such", "\xd6", "\xd6"},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.bytes), iotest.OneByteReader(strings.NewReader(c.bytes))} {
			got, err := io.ReadAll(charset.Reader(r, c.name))
			require.NoError(t, err)
			require.Equal(t, c.want, string(got), "%s %q", c.name, c.bytes)
		}
	}
	require.True(t, charset.Known("GBK"))
	require.False(t, charset.Known("no-such"))
	require.False(t, charset.Known(""))
}

// A Content-Type as RFC 9110, 8.3.1 and 8.3.2, has it, and as targets write it.
func TestTheCharsetOfAContentType(t *testing.T) {
	for given, want := range map[string]string{
		"text/html;charset=utf-8":               "utf-8",
		"Text/HTML;Charset=\"utf-8\"":           "utf-8",
		"text/html; charset=\"GBK\"; a=b":       "GBK",
		"text/plain; x=\"a;charset=gbk\"":       "",
		"text/plain; charset=gbk; charset=big5": "gbk",
		"text/plain; charset='gbk'":             "gbk",
		"charset=gbk":                           "",
		"text/plain; charset":                   "",
		"text/plain":                            "",
		"":                                      "",
	} {
		require.Equal(t, want, charset.Of(given), given)
	}
}
