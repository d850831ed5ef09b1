package runs

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/cmd/remote"
)

func TestColoursOfALineEndWithIt(t *testing.T) {
	t.Parallel()
	const line = "\x1b[1;31mred\x1b[m \x1b[32mgreen"
	require.Equal(t, line+"\x1b[0m", coloured(line, true))
	require.Equal(t, "red green", coloured(line, false))
	require.Equal(t, "plain", coloured("plain", true))
}

func TestALineThatWasReplacedIsNotPrinted(t *testing.T) {
	t.Parallel()
	out := func(line string, unfinished bool) logLine {
		return logLine{Stream: "STDOUT", Attempt: 1, Line: line, Unfinished: unfinished}
	}
	warning := logLine{Stream: "STDERR", Attempt: 1, Line: "careful"}
	again := logLine{Stream: "STDOUT", Attempt: 2, Line: "again"}
	require.Equal(t, []logLine{out("begin", false), warning, out("100%", false), out("prompt", true), again},
		shown([]logLine{out("begin", false), out("10%", true), warning, out("100%", false), out("prompt", true), again}))
}

func TestAFollowerPrintsAnUnfinishedLineOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := &lineWriter{Session: remote.New(&out, &out, nil, nil)}
	for _, l := range []logLine{
		{Line: "10%", Unfinished: true},
		{Line: "20%", Unfinished: true},
		{Line: "100%"},
		{Line: "prompt: ", Unfinished: true},
	} {
		w.print(l)
	}
	w.endOpen(nil)
	require.Equal(t, "100%\nprompt: \n", out.String())
}
