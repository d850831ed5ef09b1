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
		{"utf-8", "\xef\xbb\xbf{}", "{}"},
		{"utf8", "\xff\xfe-N", "中"},
		{"", "\xfe\xffN-", "中"},
		{"", "\xef\xbb", "\xef\xbb"},
		{"", "\xff", "\xff"},
		{"", "", ""},
		{"latin1", "\xfe\xe9", "þé"},
		{"cp936", "\xd6\xd0", "中"}, // RFC 1345 and IANA: an alias of GBK
		{"IBM437", "\x81", "ü"},
		{"hz-gb-2312", "~{VPND~}", "中文"}, // RFC 1843; browsers read it as one U+FFFD
		{"iso-2022-kr", "plain", "plain"},
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
	require.False(t, charset.Known("replacement"))
	require.True(t, charset.Known("cp936"))
}

// A prompt of one character is read before more comes, whatever the encoding.
func TestNothingIsWaitedForBehindAFirstCharacter(t *testing.T) {
	for name, want := range map[string]string{"gbk": ">", "utf-8": ">", "iso-8859-1": ">", "utf-16le": "\u623e"} {
		from, to := io.Pipe()
		go func() { _, _ = to.Write([]byte(">b")) }()
		buf := make([]byte, 8)
		n, err := charset.Reader(from, name).Read(buf)
		require.NoError(t, err)
		require.Equal(t, want, string(buf[:n]), name)
		require.NoError(t, from.Close())
	}
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
