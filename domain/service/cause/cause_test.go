package cause_test

import (
	_ "embed"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/service/cause"
)

//go:embed testdata/golden.tsv
var golden string

type example struct{ group, reason, message string }

func examples(t testing.TB) (out []example) {
	for line := range strings.Lines(golden) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		require.Len(t, fields, 3, line)
		message := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(fields[2])
		if fields[0] == "net-path" {
			message = fields[2] // its directories have such names
		}
		out = append(out, example{fields[0], fields[1], message})
	}
	return out
}

func TestMessagesOfOneCauseAreOneGroupAndNoOthers(t *testing.T) {
	all := examples(t)
	require.GreaterOrEqual(t, len(all), 100)
	of, first := map[cause.ID]string{}, map[string]example{}
	for _, e := range all {
		id := cause.Of(e.reason, e.message)
		if group, known := of[id]; known {
			require.Equal(t, group, e.group, "%q is %q", e.message, cause.Normal(e.message))
		} else {
			former, twice := first[e.group]
			require.False(t, twice, "the group %s falls apart: %q and %q", e.group, cause.Normal(former.message),
				cause.Normal(e.message))
		}
		of[id], first[e.group] = e.group, e
	}
}

// A cause must stay the same from release to release: stored counts go by it. A change of the rules
// changes the version.
func TestACauseStaysTheSame(t *testing.T) {
	for want, e := range map[string]example{
		"01a945c559a6867a": {"", "EXIT_CODE", "ended with exit code 1: KeyError: 'customer_4711'"},
		"0148e3950399db31": {"", "HTTP_STATUS", "status 500 of POST https://pay.example/v1/orders/4711?day=2026-11-22"},
		"01f70eb819acdeda": {"", "ERROR", ""},
		"01120195403cc2f9": {"", "ERROR", "对账失败：第 17 批，数据库连接失败"},
	} {
		require.Equal(t, want, cause.Of(e.reason, e.message).String(), e.message)
	}
}

func TestNormalTakesOutWhatDiffers(t *testing.T) {
	for message, want := range map[string]string{
		"a  b\tc": "a b c",
		"at 2026-11-23T02:00:00.123+08:00 and 17": "at # and #",
		"GET https://h/a/17/b?x=1&y=2 failed":     "GET https://h/a/#/b? failed",
		"open /var/lib/x/y.txt: denied":           "open y.txt: denied",
		"see /proc/4711 and ./a/b":                "see proc/# and b",
		"why? because":                            "why? because",
		"and/or 1/2":                              "and/or #",
		"deadbeef deadbee 0x1F":                   "# deadbee #",
		"from 10.0.0.1:80 to fe80::1, [::1]:443":  "from # to #",
		"12 34":                                   "#",
		"bell\x07 and \x1b[31mred":                "bell and [#mred",
		"a / b":                                   "a / b",
		strings.Repeat("字", 400):                  strings.Repeat("字", 300),
	} {
		require.Equal(t, want, cause.Normal(message), message)
	}
}

func FuzzOf(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.reason, e.message)
	}
	f.Add("", "Traceback (most recent call last):\n  File \"a\"\nE: \xff")
	f.Add("x", "thread 'main' panicked at a:1:1:\n")
	f.Add("x", "/")
	f.Add("x", "?=")
	f.Fuzz(func(t *testing.T, reason, message string) {
		line := cause.Normal(message)
		require.LessOrEqual(t, utf8.RuneCountInString(line), 300)
		require.True(t, utf8.ValidString(line))
		require.False(t, strings.ContainsAny(line, "0123456789\n"), line)
		require.Equal(t, cause.Of(reason, message), cause.Of(reason, message))
		require.NotZero(t, cause.Of(reason, message))
	})
}
