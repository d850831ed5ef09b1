package yamljson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/platform-scheduler/platform-scheduler/api/model/yamljson"
)

func TestYAMLBecomesJSON(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"a: 1\nb: [x, 'y', \"z\"]\n":           `{"a":1,"b":["x","y","z"]}`,
		`{"a": {"b": null, "c": true}}`:        `{"a":{"b":null,"c":true}}`,
		"a: 9007199254740993\nb: 1.50":         `{"a":9007199254740993,"b":1.50}`,
		"a: 1e400\nb: -0":                      `{"a":1e400,"b":-0}`,
		"a: 2026-11-20T21:33:00Z\nb: 12:30:00": `{"a":"2026-11-20T21:33:00Z","b":"12:30:00"}`,
		"a: yes\nb: True\nc: ~\nd:":            `{"a":"yes","b":true,"c":null,"d":null}`,
		"a: |\n  one\n  two\nb: >\n  x\n  y":   `{"a":"one\ntwo\n","b":"x y"}`,
		"# only a comment\na: <b>":             `{"a":"<b>"}`,
		"'1': '0x1F'":                          `{"1":"0x1F"}`,
		"\ufeffa: b":                           `{"a":"b"}`,
		"- 1\n-\n  - 2":                        `[1,[2]]`,
	} {
		got, err := yamljson.FromYAML([]byte(yaml))
		require.NoError(t, err, yaml)
		require.Equal(t, want, string(got), yaml)
	}
}

func TestWhatJSONHasNoWordForIsRefused(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n"
	for yaml, says := range map[string]string{
		"":                        "empty",
		"# nothing":               "empty",
		"a: 1\na: 2":              "line 2: the field \"a\" is given twice",
		"a: {b: 1, 'b': 2}":       "given twice",
		bomb:                      "line 1: anchors",
		"a: *b":                   "unknown anchor",
		"a: &x 1":                 "anchors",
		"&x a: 1":                 "name of a field",
		"a: {<<: {b: 1}}":         "name of a field",
		"a: !!str 1":              "tags",
		"a: !go/thing {b: 1}":     "tags",
		"!!map {a: 1}":            "tags",
		"!!str a: 1":              "name of a field",
		"1: a":                    "name of a field",
		"true: a":                 "name of a field",
		"null: a":                 "name of a field",
		"[a]: b":                  "name of a field",
		"? {a: 1}\n: b":           "name of a field",
		"a: 1\n---\nb: 2":         "another document",
		"a: 0x1F":                 "no number as JSON writes it",
		"a: 1_000":                "no number as JSON writes it",
		"a: 010":                  "no number as JSON writes it",
		"a: .inf":                 "no number as JSON writes it",
		"a: +1":                   "no number as JSON writes it",
		"a: [":                    "did not find",
		"a: b: c":                 "not allowed",
		"\ta: 1":                  "cannot start any token",
		"a: \xff":                 "UTF-8",
		"\xff\xfea\x00":           "UTF-8",
		"a: \x01":                 "control characters",
		strings.Repeat("[", 100):  "did not find",
		deep(66):                  "deeper than 64",
		strings.Repeat("{", 2e4):  "depth",
		strings.Repeat("- ", 2e4): "depth",
	} {
		_, err := yamljson.FromYAML([]byte(yaml))
		var refused *yamljson.Error
		require.True(t, errors.As(err, &refused), "%q: %v", yaml, err)
		require.Contains(t, err.Error(), says, yaml)
	}
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func TestAFileMayHoldSeveralDocuments(t *testing.T) {
	t.Parallel()
	got, err := yamljson.AllFromYAML([]byte("a: 1\n---\n- 2\n---\n"))
	require.NoError(t, err)
	require.Equal(t, []json.RawMessage{json.RawMessage(`{"a":1}`), json.RawMessage(`[2]`), json.RawMessage(`null`)}, got)
}

// Any JSON goes through YAML and back unchanged, byte for byte.
func TestAnyJSONSurvivesYAML(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(),
		rapid.StringMatching(`[ \t\n\r#:,\[\]{}&*!|>'"%@~0-9eE.x_+a-f\x{85}\x{a0}\x{2028}\x{feff}\x{7f}-]{0,12}`),
		rapid.SampledFrom([]string{
			"", "yes", "null", "~", "1e400", "0x1", "1:30", "<<", "=", "---", "...", "a\nb\n",
			"a\n\nb\n", " a\n", "a\n b", "a\n\n  b\n\n", "a \nb\n", "2026-01-01", "true",
		}))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaf := []*rapid.Generator[any]{
			text.AsAny(), rapid.Just(any(nil)), rapid.Bool().AsAny(),
			rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?`), func(s string) any {
				return json.Number(s)
			}),
		}
		if depth > 0 {
			leaf = append(leaf, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(text, value(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(leaf...)
	}
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(value(3).Draw(t, "value")))
		want := strings.TrimSuffix(b.String(), "\n")
		yaml, err := yamljson.ToYAML(json.RawMessage(want))
		require.NoError(t, err)
		got, err := yamljson.FromYAML(yaml)
		require.NoError(t, err, "%s", yaml)
		require.Equal(t, want, string(got), "%s", yaml)
	})
}

func TestYAMLReadsWell(t *testing.T) {
	t.Parallel()
	yaml, err := yamljson.ToYAML(
		json.RawMessage(`[{"name":"settle orders","cron":"0 0/5 * * * ?","script":"set -e\nif true; then\n  echo hi\nfi\n","on":"yes","labels":{},"x":1.50}]`))
	require.NoError(t, err)
	require.Equal(t, "- name: settle orders\n  cron: \"0 0/5 * * * ?\"\n  script: |\n    set -e\n    if true; then\n    "+
		"  echo hi\n    fi\n  \"on\": \"yes\"\n  labels: {}\n  x: 1.50\n", string(yaml))
}
