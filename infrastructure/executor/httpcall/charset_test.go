package httpcall_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func packed(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

// The text of an answer is read in the charset of its Content-Type (RFC 9110, 8.3.2; bytes by the indexes of
// https://encoding.spec.whatwg.org), and unpacked where the target packs it unasked. expectedBody is compared with
// that.
func TestAnAnswerIsReadAsTheTextThatItIs(t *testing.T) {
	for name, c := range map[string]struct{ headers, body, want string }{
		"GBK":                  {"Content-Type: text/plain; charset=GBK\n", "\xb3\xc9\xb9\xa6", "成功"},
		"GB2312, quoted":       {"Content-Type: text/html;Charset=\"gb2312\"\n", "\xb3\xc9\xb9\xa6", "成功"},
		"GB18030":              {"Content-Type: text/html; charset=gb18030\n", "\xb3\xc9\xb9\xa6", "成功"},
		"Latin-1":              {"Content-Type: text/plain; charset=ISO-8859-1\n", "r\xe9ussi", "réussi"},
		"UTF-16 with a mark":   {"Content-Type: text/plain; charset=utf-16\n", "\xfe\xff\x62\x10\x52\x9f", "成功"},
		"UTF-16LE":             {"Content-Type: text/plain; charset=utf-16le\n", "\x10\x62\x9f\x52", "成功"},
		"UTF-16BE":             {"Content-Type: text/plain; charset=UTF-16BE\n", "\x62\x10\x52\x9f", "成功"},
		"Shift_JIS":            {"Content-Type: text/plain; charset=Shift_JIS\n", "\x90\xac\x8c\xf7", "成功"},
		"UTF-8":                {"Content-Type: text/plain; charset=utf-8\n", "成功", "成功"},
		"UTF-8 with a mark":    {"Content-Type: application/json; charset=utf-8\n", "\xef\xbb\xbf成功", "成功"},
		"a mark alone":         {"Content-Type: text/xml\n", "\xff\xfe\x10\x62\x9f\x52", "成功"},
		"a mark beats a name":  {"Content-Type: text/plain; charset=utf-8\n", "\xfe\xff\x62\x10\x52\x9f", "成功"},
		"a name of IANA alone": {"Content-Type: text/plain; charset=cp936\n", "\xb3\xc9\xb9\xa6", "成功"},
		"HZ":                   {"Content-Type: text/plain; charset=hz-gb-2312\n", "~{3I9&~}", "成功"},
		"no charset":           {"Content-Type: application/json\n", "成功", "成功"},
		"an unknown charset":   {"Content-Type: text/plain; charset=x-no-such\n", "成功", "成功"},
		"gzip":                 {"Content-Encoding: gzip\n", packed(t, "成功"), "成功"},
		"x-gzip of GBK": {"Content-Encoding: X-Gzip\nContent-Type: text/plain; " +
			"charset=gbk\n", packed(t, "\xb3\xc9\xb9\xa6"), "成功"},
		"gzip that is none":    {"Content-Encoding: gzip\n", "成功", "成功"},
		"packed twice":         {"Content-Encoding: gzip, x-gzip\n", packed(t, packed(t, "成功")), "成功"},
		"packed twice, by two": {"Content-Encoding: gzip\nContent-Encoding: gzip\n", packed(t, packed(t, "成功")), "成功"},
		"identity and gzip":    {"Content-Encoding: identity, gzip , \n", packed(t, "成功"), "成功"},
		"gzip with padding":    {"Content-Encoding: gzip\n", packed(t, "成功") + "\x00\x00\x00\x00", "成功"},
		"gzip of two members":  {"Content-Encoding: gzip\n", packed(t, "成") + packed(t, "功"), "成功"},
	} {
		t.Run(name, func(t *testing.T) {
			target := newRawTarget(t, func(int, string) string { return rawAnswer("200 OK", c.headers, c.body) })
			outcome, log := call(t, data{"url": target.URL, "expectedBody": c.want})
			require.Equal(t, entity.Succeeded(c.want), outcome)
			require.Equal(
				t,
				name == "an unknown charset",
				strings.Contains(log, `the charset "x-no-such" of the answer is not known`),
			)
			outcome, _ = call(t, data{"url": target.URL, "expectedBody": "not " + c.want})
			require.Equal(t, entity.ReasonBodyMismatch, outcome.Reason)
		})
	}
}

// A packed answer is bounded as others are, and one that breaks off has failed.
func TestAPackedAnswerIsBounded(t *testing.T) {
	const bound = 1 << 20
	for name, c := range map[string]struct {
		body   string
		reason entity.Reason
	}{
		"a bomb":         {packed(t, strings.Repeat("a", 64<<20)), ""},
		"cut":            {packed(t, "成功")[:15], entity.ReasonError},
		"a cut member":   {packed(t, "成") + packed(t, "功")[:12], entity.ReasonError},
		"a wrong header": {"\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", entity.ReasonError},
	} {
		t.Run(name, func(t *testing.T) {
			target := newRawTarget(
				t,
				func(int, string) string { return rawAnswer("200 OK", "Content-Encoding: gzip\n", c.body) },
			)
			outcome, log := call(t, data{"url": target.URL})
			require.Equal(t, c.reason, outcome.Reason, outcome.Message)
			require.LessOrEqual(t, len(outcome.Result), bound)
			require.NotContains(t, log, "67108864 bytes")
		})
	}
}
