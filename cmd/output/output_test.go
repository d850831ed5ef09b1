package output_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
)

func printed(t *testing.T, format string, do func(p *output.Printer) error) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, do(&output.Printer{Out: &out, Format: format}))
	return out.String()
}

// An answer stays what it is: no order, no number and no letter of it changes.
func TestAnswersAreHandedThrough(t *testing.T) {
	const answer = `{"z":1.10,"a":12345678901234567890,"text":"<a> \u00e9 🙂","none":null,"list":[],"yes":"yes"}`
	raw := func(p *output.Printer) error { return p.Raw(json.RawMessage(answer)) }
	require.Equal(t, answer+"\n", printed(t, output.JSON, raw))
	require.Equal(t, "z: 1.10\na: 12345678901234567890\ntext: \"<a> é \\U0001F642\"\nnone: null\nlist: []\n\"yes\": "+
		"\"yes\"\n",
		strings.ReplaceAll(printed(t, output.YAML, raw), "\nyes:", "\n\"yes\":"))
	require.Equal(t, "{\n  \"z\": 1.10,\n", printed(t, output.Table, raw)[:15])
	for _, format := range []string{output.Table, output.JSON, output.YAML} {
		require.Empty(t, printed(t, format, func(p *output.Printer) error { return p.Raw(nil) }))
	}
	none := func(p *output.Printer) error { return output.Items[string](p, nil) }
	require.Equal(t, `{"items":[],"nextCursor":null}`+"\n", printed(t, output.JSON, none))
	require.Equal(t, "items: []\nnextCursor: null\n", printed(t, output.YAML, none))
	require.Equal(t, "---\na: 1\n", printed(t, output.YAML, func(p *output.Printer) error {
		return p.Event(json.RawMessage(`{"a":1}`))
	}))
	require.Empty(t, printed(t, output.JSON, func(p *output.Printer) error { return p.Line("for people") }))
}

// Whatever stands in a name or a message, a table keeps its lines, and no
// terminal is steered.
func TestTablesKeepTheirLines(t *testing.T) {
	out := printed(t, output.Table, func(p *output.Printer) error {
		return p.Rows([]string{"NAME", "MESSAGE"}, [][]string{
			{"a\tb", "one\ntwo"},
			{"\x1b[2Jx", "a\u202eb"},
			{"", strings.Repeat("é", 500)},
			{strings.Repeat("n", 150), "\n"},
		})
	})
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	require.Len(t, lines, 5)
	require.Regexp(t, `^a b +one…$`, lines[1])
	require.Regexp(t, `^ ?\[2Jx +a b$`, lines[2])
	require.Regexp(t, `^– +é{299}…$`, lines[3])
	require.Regexp(t, `^n{99}… +–$`, lines[4])
	out = printed(t, output.Table, func(p *output.Printer) error {
		return p.Fields([]output.Field{{"Name", "x"}, {"Nothing", ""}, {"Script", "one\n\x1btwo\n"}})
	})
	require.Equal(t, "Name:     x\nScript:   one\n           two\n", out)
}
