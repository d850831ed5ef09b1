package command

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/domain/service/validation"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// read returns the lines of output that comes in parts.
func read(t testing.TB, parts ...string) (out []string) {
	rep := &executortest.Recorder{}
	s := &stream{kind: entity.LogStdout, rep: rep}
	for _, part := range parts {
		require.True(t, s.take([]byte(part), 0))
	}
	s.finish()
	for _, l := range rep.Lines() {
		out = append(out, l.Text)
	}
	return out
}

func TestOutputIsCutIntoLinesHoweverItComes(t *testing.T) {
	for _, c := range []struct {
		output string
		want   []string
	}{
		{"", nil},
		{"one\ntwo\n", []string{"one", "two"}},
		{"one\r\ntwo\r\n", []string{"one", "two"}},
		{"one\r\n\r\nthree", []string{"one", "", "three"}},
		{"a\rb\rc\nmiddle\nthe end\n", []string{"c", "middle", "the end"}},
		{"10%\r20%\r", []string{"20%"}},
		{"\r10%\r20%\n", []string{"20%"}},
		{"text\r\r\nnext\n", []string{"text", "next"}},
		{"one\n\n\ntwo", []string{"one", "", "", "two"}},
		{
			"Receiving:  50%\rReceiving: 100%, done.\nResolving:  10%\rResolving: 100%, done.\n",
			[]string{"Receiving: 100%, done.", "Resolving: 100%, done."},
		},
	} {
		require.Equal(t, c.want, read(t, c.output), "%q", c.output)
		for at := range len(c.output) {
			require.Equal(t, c.want, read(t, c.output[:at], c.output[at:]), "%q cut at %d", c.output, at)
		}
		require.Equal(t, c.want, read(t, strings.Split(c.output, "")...), "%q byte by byte", c.output)
	}
}

// A long line is cut between characters, with the mark of every text that is cut.
func TestALongLineEndsInAMark(t *testing.T) {
	for name, text := range map[string]string{
		"ASCII": strings.Repeat("x", maxLine+1), "two bytes": "x" + strings.Repeat("é", maxLine), "three": strings.Repeat("界", maxLine),
		"four": strings.Repeat("😀", maxLine), "four, moved": "xyz" + strings.Repeat("😀", maxLine),
	} {
		for _, end := range []string{"\n", "\r\n", ""} {
			got := read(t, text+end+"after")
			if end == "" {
				got = read(t, text, "\n", "after")
			}
			require.Len(t, got, 2, name)
			require.Equal(t, "after", got[1])
			require.LessOrEqual(t, len(got[0]), maxLine, name)
			require.Greater(t, len(got[0]), maxLine-utf8.UTFMax, name)
			require.True(t, utf8.ValidString(got[0]) && strings.HasSuffix(got[0], "…"), name)
			require.Equal(t, got[0], validation.LogLine(got[0], entity.MaxLogLine), "the log keeps it as it is")
		}
	}
	whole := strings.Repeat("界", maxLine/3)
	require.Equal(t, []string{whole}, read(t, whole))
}

// The result is the end of the output, from a whole character on.
func TestAResultBeginsWithAWholeCharacter(t *testing.T) {
	for before := range utf8.UTFMax {
		for _, sign := range []string{"é", "界", "😀"} {
			s := &stream{rep: &executortest.Recorder{}}
			s.take([]byte(strings.Repeat(sign, maxTail)+strings.Repeat("x", before)+"\n"), 0)
			s.finish()
			tail, _ := s.end()
			require.True(t, utf8.ValidString(tail), "%s and %d bytes", sign, before)
			require.Greater(t, len(tail), maxTail-2*utf8.UTFMax)
		}
	}
	s := &stream{rep: &executortest.Recorder{}}
	s.take([]byte("\x80"), 0)
	tail, _ := s.end()
	require.Equal(t, "\x80", tail, "nothing was cut")
}

// FuzzLines: lines do not depend on how the output is cut into reads, and none holds an end of a line.
func FuzzLines(f *testing.F) {
	f.Add("a\rb\r\nc\n\rd", 2)
	f.Add(strings.Repeat("é\r", 20)+"\n\n\r\r\n", 41)
	f.Add(strings.Repeat("x", maxLine+7)+"\r\n", maxLine)
	f.Fuzz(func(t *testing.T, output string, at int) {
		at = min(max(at, 0), len(output))
		whole := read(t, output)
		require.Equal(t, whole, read(t, output[:at], output[at:]))
		for _, line := range whole {
			require.NotContains(t, line, "\n")
			require.NotContains(t, line, "\r")
			require.LessOrEqual(t, len(line), maxLine)
		}
	})
}

func TestAPromptIsShownAfterASilence(t *testing.T) {
	report := newPaper(t).reportFile
	synctest.Test(t, func(t *testing.T) {
		from, to := io.Pipe()
		c, over := clock.NewSystem(), make(chan struct{})
		rep := &executortest.Recorder{}
		s := &stream{kind: entity.LogStdout, rep: rep}
		read := make(chan error, 1)
		go func() { read <- s.readLines(c, from) }()
		go watch(c, over, report, s)
		say := func(text string) {
			_, err := to.Write([]byte(text))
			require.NoError(t, err)
		}
		shows := func(want ...string) {
			t.Helper()
			synctest.Wait()
			var got []string
			for _, l := range rep.Lines() {
				got = append(got, l.Text)
			}
			require.Equal(t, want, got)
		}
		say("Password: ")
		time.Sleep(1900 * time.Millisecond)
		require.Empty(t, rep.Lines())
		time.Sleep(700 * time.Millisecond)
		shows("Password: \r")
		time.Sleep(time.Hour)
		shows("Password: \r")
		say("thanks\n")
		shows("Password: \r", "Password: thanks")
		say("10%\r") // the end of a line is no silence
		time.Sleep(600 * time.Millisecond)
		shows("Password: \r", "Password: thanks", "10%\r")
		say("\n")
		shows("Password: \r", "Password: thanks", "10%\r", "10%")
		require.NoError(t, to.Close())
		require.ErrorIs(t, <-read, io.EOF)
		close(over)
	})
}
