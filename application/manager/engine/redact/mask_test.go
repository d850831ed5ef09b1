package redact_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/application/manager/engine/redact"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// asciiJSON writes a text as JSON does that knows ASCII alone, as Python's does.
func asciiJSON(s string, format string) string {
	var b strings.Builder
	for _, unit := range s {
		switch {
		case unit == '"' || unit == '\\':
			b.WriteString(`\` + string(unit))
		case unit > 0xffff:
			unit -= 0x10000
			fmt.Fprintf(&b, format+format, 0xd800+unit>>10, 0xdc00+unit&0x3ff)
		case unit < ' ' || unit > '~':
			fmt.Fprintf(&b, format, unit)
		default:
			b.WriteRune(unit)
		}
	}
	return b.String()
}

func TestSecretsAreHiddenHoweverTheyAreEscaped(t *testing.T) {
	secret := "pa\"ss<w&rd\\x1/ö 🔑%\x01+"
	plainJSON := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\x01", `\u0001`).Replace(secret)
	nested, err := json.Marshal(plainJSON)
	require.NoError(t, err)
	lower := func(escaped string) string {
		var b strings.Builder
		for i := 0; i < len(escaped); i++ {
			if escaped[i] == '%' {
				b.WriteString(strings.ToLower(escaped[i : i+3]))
				i += 2
				continue
			}
			b.WriteByte(escaped[i])
		}
		return b.String()
	}
	var inXML bytes.Buffer
	require.NoError(t, xml.EscapeText(&inXML, []byte(strings.ReplaceAll(secret, "\x01", "&"))))
	require.Equal(t, "<a>***</a>", hidden(strings.ReplaceAll(secret, "\x01", "&"), "<a>"+inXML.String()+"</a>"), "XML")
	section := "<![CDATA[pa]]><![CDATA[>ss]word]]><![CDATA[>]]>"
	require.Equal(t, "<![CDATA[***]]>", hidden("pa>ss]word>", section), "a section")
	for name, form := range map[string]string{
		"HTML":                       html.EscapeString(secret),
		"JSON of JavaScript":         plainJSON,
		"JSON of PHP":                strings.ReplaceAll(asciiJSON(secret, `\u%04x`), "/", `\/`),
		"JSON of Python":             asciiJSON(secret, `\u%04x`),
		"JSON in capitals":           asciiJSON(secret, `\u%04X`),
		"JSON in JSON":               string(nested[1 : len(nested)-1]),
		"hexadecimal":                hex.EncodeToString([]byte(secret)),
		"hexadecimal in capitals":    strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":                      url.QueryEscape(secret),
		"query in small letters":     lower(url.QueryEscape(secret)),
		"path":                       url.PathEscape(secret),
		"path in small letters":      lower(url.PathEscape(secret)),
		"as encodeURIComponent does": strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
	} {
		require.Equal(t, "<***>", hidden(secret, "<"+form+">"), name)
		require.Equal(t, `{"p": "***", "q": 1}`, hidden(secret, `{"p": "`+form+`", "q": 1}`), name)
	}
	require.Equal(t, `a\nb %zz \ %`, hidden(secret, `a\nb %zz \ %`), "what hides nothing stays as it was written")
}

// fold breaks a text into lines.
func fold(text string, width int) []string {
	var lines []string
	for len(text) > width {
		lines = append(lines, text[:width])
		text = text[width:]
	}
	return append(lines, text)
}

func TestSecretsThatAreFoldedOverLinesAreHidden(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := make([]byte, 300)
	for i := range letters {
		letters[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[random.IntN(62)]
	}
	secret := string(letters)
	pem := "-----BEGIN PRIVATE KEY-----\n" + strings.Join(fold(secret, 64), "\n") + "\n-----END PRIVATE KEY-----\n"
	for name, c := range map[string]struct {
		secret string
		lines  []string
	}{
		"base64":                   {secret, fold(base64.StdEncoding.EncodeToString([]byte(secret)), 76)},
		"base64 of openssl":        {secret, fold(base64.StdEncoding.EncodeToString([]byte(secret)), 64)},
		"base64 of a key":          {pem, fold(base64.StdEncoding.EncodeToString([]byte(pem)), 76)},
		"base64 with a name":       {secret, fold(base64.StdEncoding.EncodeToString([]byte("user:"+secret)), 76)},
		"xxd -p":                   {secret, fold(hex.EncodeToString([]byte(secret)), 60)},
		"xxd -p -u":                {secret, fold(strings.ToUpper(hex.EncodeToString([]byte(secret))), 60)},
		"fold -w 40":               {secret, fold(secret, 40)},
		"fold -w 12":               {secret, fold(secret, 12)},
		"fold -w 40 with a prefix": {secret, fold("key="+secret, 40)},
	} {
		t.Run(name, func(t *testing.T) {
			for i, line := range c.lines {
				got := hidden(c.secret, "  "+line+"\r")
				require.Equal(t, "50%\r"+got, hidden(c.secret, "50%\r  "+line+"\r"), "a carriage return ends a line")
				require.Contains(t, got, "***", "line %d: %s", i, line)
				require.LessOrEqual(t, len(strings.TrimSpace(strings.ReplaceAll(got, "***", ""))), 8, "line %d: %s → %s", i, line,
					got)
			}
			_, _, _, outcome := runWith(map[string]string{"S": c.secret}, `{"a":"${secret.S}"}`,
				"out:\n"+strings.Join(c.lines, "\n")+"\nend")
			require.LessOrEqual(t, len(strings.ReplaceAll(outcome.Result, "***", "")), len("out:\n\nend")+len(c.lines)+16,
				outcome.Result)
		})
	}
	require.Equal(t, "a piece: "+secret[20:60], hidden(secret, "a piece: "+secret[20:60]),
		"only whole lines are taken for pieces")
}

func TestSecretsThatOverlapAreHiddenBoth(t *testing.T) {
	mask := func(text string) string {
		_, _, n, _ := runWith(map[string]string{"A": "first-and-common", "B": "common-and-second"},
			`{"a":"${secret.A}${secret.B}"}`, text)
		return n.lines[0]
	}
	require.Equal(t, "<***>", mask("<first-and-common-and-second>"))
	require.Equal(t, "<***> <***>", mask("<first-and-common> <common-and-second>"))
}

// chatter says lines, and nothing else.
type chatter struct{ lines []string }

func (c chatter) Run(_ context.Context, _ entity.Run, rep entity.Reporter) entity.Outcome {
	for _, line := range c.lines {
		rep.Log(entity.LogStdout, line)
	}
	return entity.Succeeded("")
}

// logs are 1 MiB of lines and 50 secrets of a run that says them.
func logs() map[string]struct{ secrets, lines []string } {
	const size, count = 1 << 20, 50
	out := map[string]struct{ secrets, lines []string }{}
	add := func(name string, secret func(i int) string, line func(i int) string) {
		var secrets, lines []string
		for i := range count {
			secrets = append(secrets, secret(i))
		}
		for i, n := 0, 0; n < size; i++ {
			lines = append(lines, line(i))
			n += len(lines[i]) + 1
		}
		out[name] = struct{ secrets, lines []string }{secrets, lines}
	}
	random := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('!' + random.IntN(90))
		}
		return string(b)
	}
	token := func(int) string { return text(40) }
	key := func(int) string { return strings.Join(fold(text(3000), 64), "\n") }
	common := func(i int) string { return strings.Repeat("a", 200) + fmt.Sprint(i) }
	add("tokens, ordinary lines", token, func(i int) string {
		return fmt.Sprintf("2026-11-20 12:00:00 INFO settled order %d of customer %d", i, i*7)
	})
	add("keys, ordinary lines", key, func(i int) string {
		return fmt.Sprintf("2026-11-20 12:00:00 INFO settled order %d of customer %d", i, i*7)
	})
	add("tokens, JSON lines", token, func(i int) string {
		return fmt.Sprintf(`{"level":"info","msg":"a \"quoted\" word\n%d","url":"http://h/%%20%d"}`, i, i)
	})
	add("tokens, long random lines", token, func(int) string { return text(8 << 10) })
	add("keys, short random lines", key, func(int) string { return text(13) })
	add("much in common", common, func(int) string { return strings.Repeat("a", 190) })
	add("much in common, long lines", common, func(int) string { return strings.Repeat("a", 8<<10) })
	add("much in common, almost", common, func(int) string { return strings.Repeat(strings.Repeat("a", 63)+"b", 128) })
	add("huge secrets that fail at their end", func(i int) string {
		return strings.Repeat("a", 60<<10) + fmt.Sprint(i)
	}, func(int) string { return strings.Repeat("a", 8<<10) })
	add("lines that begin as a secret does", func(i int) string {
		return "prefix-of-secrets-" + text(40)
	}, func(i int) string { return fmt.Sprint("prefix-of-secrets-", i) })
	return out
}

func say(secrets, lines []string) {
	values := map[string]string{}
	for i, s := range secrets {
		values[fmt.Sprint("S", i)] = s
	}
	e := redact.New(chatter{lines}, &vault{values: values})
	e.Run(context.Background(), entity.Run{Job: &entity.Job{Data: `{"a":"${secret.S0}"}`}, Execution: &entity.Execution{}},
		&notes{})
}

// BenchmarkMask hides 50 secrets in 1 MiB of log.
func BenchmarkMask(b *testing.B) {
	for name, c := range logs() {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1 << 20)
			for range b.N {
				say(c.secrets, c.lines)
			}
		})
	}
	b.Run("nothing to hide it in", func(b *testing.B) {
		for range b.N {
			say([]string{"a secret of forty characters, more or less"}, nil)
		}
	})
}

// The output of a run cannot make its mask work without end: each of these is a
// fraction of a second.
func TestTheMaskCostsWhatTheTextIsLong(t *testing.T) {
	for name, c := range logs() {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			say(c.secrets, c.lines)
			require.Less(t, time.Since(began), 30*time.Second)
		})
	}
}

// Whatever the secrets and the text around them, no secret is left in it.
func TestNoSecretIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab%\\"u0\n +]{6,80}`)
		secrets := rapid.SliceOfN(word, 1, 4).Draw(t, "secrets")
		text := ""
		for i := range rapid.IntRange(1, 4).Draw(t, "pieces") {
			secret := rapid.SampledFrom(secrets).Draw(t, fmt.Sprint("secret", i))
			quoted, err := json.Marshal(secret)
			require.NoError(t, err)
			text += rapid.StringMatching(`[ab%\\"u0 \n]{0,20}`).Draw(t, fmt.Sprint("before", i)) +
				rapid.SampledFrom([]string{
					secret, secret, string(quoted), url.QueryEscape(secret),
					hex.EncodeToString([]byte(secret)),
				}).Draw(t, fmt.Sprint("form", i))
		}
		values := map[string]string{}
		for i, s := range secrets {
			values[fmt.Sprint("S", i)] = s
		}
		_, _, _, outcome := runWith(values, `{"a":"${secret.S0}"}`, text)
		for _, secret := range secrets {
			require.NotContains(t, outcome.Result, secret)
			require.NotContains(t, outcome.Result, hex.EncodeToString([]byte(secret)))
			unquoted, err := json.Marshal(secret)
			require.NoError(t, err)
			require.NotContains(t, outcome.Result, string(unquoted))
		}
	})
}
