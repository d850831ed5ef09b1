package output_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/output"
)

func printed(t *testing.T, format string, do func(p *output.Printer)) string {
	t.Helper()
	var out bytes.Buffer
	p := &output.Printer{Out: &out, Format: format}
	do(p)
	require.NoError(t, p.Failed())
	return out.String()
}

// An answer stays what it is: no order, no number and no letter of it changes.
func TestAnswersAreHandedThrough(t *testing.T) {
	const answer = `{"z":1.10,"a":12345678901234567890,"text":"<a> \u00e9 🙂","none":null,"list":[],"yes":"yes"}`
	raw := func(p *output.Printer) { p.Raw(json.RawMessage(answer)) }
	require.Equal(t, answer+"\n", printed(t, output.JSON, raw))
	require.Equal(t, "z: 1.10\na: 12345678901234567890\ntext: \"<a> é \\U0001F642\"\nnone: null\nlist: []\n\"yes\": "+
		"\"yes\"\n",
		strings.ReplaceAll(printed(t, output.YAML, raw), "\nyes:", "\n\"yes\":"))
	for _, format := range []string{output.Table, output.JSON, output.YAML} {
		require.Empty(t, printed(t, format, func(p *output.Printer) { p.Raw(nil) }))
	}
	none := func(p *output.Printer) { output.Items[string](p, nil) }
	require.Equal(t, `{"items":[],"nextCursor":null}`+"\n", printed(t, output.JSON, none))
	require.Equal(t, "items: []\nnextCursor: null\n", printed(t, output.YAML, none))
	require.Equal(t, "---\na: 1\n", printed(t, output.YAML, func(p *output.Printer) {
		p.Event(json.RawMessage(`{"a":1}`))
	}))
	require.Empty(t, printed(t, output.JSON, func(p *output.Printer) { p.Line("for people") }))
}

// full is a disk without space.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// A full disk ends what is printed, and is told once.
func TestNothingIsPrintedAfterAnError(t *testing.T) {
	var out bytes.Buffer
	wrong := errors.New("no space left")
	p := &output.Printer{Out: &out, Format: output.JSON}
	p.Value(1)
	p.Out = full{wrong}
	p.Value(2)
	p.Out = &out
	p.Value(3)
	require.Equal(t, "1\n", out.String())
	require.ErrorIs(t, p.Failed(), wrong)
}

// Whatever stands in a name or a message, a table keeps its lines, and no
// terminal is steered.
func TestTablesKeepTheirLines(t *testing.T) {
	out := printed(t, output.Table, func(p *output.Printer) {
		p.Rows([]string{"NAME", "MESSAGE"}, [][]string{
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
	out = printed(t, output.Table, func(p *output.Printer) {
		p.Fields([]output.Field{{"Name", "x"}, {"Nothing", ""}, {"Script", "one\n\x1btwo\n"}})
	})
	require.Equal(t, "Name:     x\nScript:   one\n           two\n", out)
}
