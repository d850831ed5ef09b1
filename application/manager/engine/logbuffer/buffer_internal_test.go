package logbuffer

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

func bufferOf(attempt, limit int) *Buffer {
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	return New(&entity.Execution{ID: "e", JobID: "j", Attempt: attempt, Checkpoint: "former"}, limit, clock)
}

// lines are the stored lines with their numbers, kinds apart.
func lines(chunks []entity.LogChunk) []string {
	var out []string
	for _, c := range chunks {
		for i, text := range strings.Split(c.Content, "\n") {
			out = append(out, fmt.Sprintf("%d %s %s", c.SeqFrom+int64(i), c.Type, text))
		}
	}
	return out
}

func TestABufferKeepsTheOrderOfWhatWasSaid(t *testing.T) {
	j := bufferOf(1, 1<<20)
	j.Log(entity.LogStdout, "one")
	j.Log(entity.LogStdout, "two\nthree")
	j.Log(entity.LogStderr, "four")
	j.Log(entity.LogStdout, "")
	chunks := j.pending()
	require.Len(t, chunks, 3, "a chunk is of one kind")
	require.Equal(t, []string{"1 STDOUT one", "2 STDOUT two", "3 STDOUT three", "4 STDERR four", "5 STDOUT "},
		lines(chunks))
	for _, c := range chunks {
		require.NotEmpty(t, c.ID)
		require.Equal(t, "e", c.ExecutionID)
		require.Equal(t, c.SeqTo-c.SeqFrom+1, int64(strings.Count(c.Content, "\n")+1))
	}
	j.Log(entity.LogStdout, "six")
	again := j.pending()
	require.Equal(t, chunks, again[:3], "what was offered stays as it was, with its ids")
	require.Equal(t, []string{"6 STDOUT six"}, lines(again[3:]))
	j.stored(chunks)
	require.Equal(t, again[3:], j.pending())
	j.stored(again)
	require.Empty(t, j.pending())
}

// The numbers of a later attempt are above those of all former ones.
func TestLineNumbersGrowOverAttempts(t *testing.T) {
	for attempt, want := range map[int]int64{0: 1, 1: 1, 2: 1_000_001, 3: 2_000_001} {
		j := bufferOf(attempt, 1<<20)
		j.Log(entity.LogSystem, "x")
		require.Equal(t, want, j.pending()[0].SeqFrom, "attempt %d", attempt)
	}
}

func TestAFullJournalSaysThatItWasCut(t *testing.T) {
	j := bufferOf(1, 20)
	j.Log(entity.LogStdout, "0123456789")
	j.Log(entity.LogStdout, "0123456789")
	j.Log(entity.LogStdout, "short")
	chunks := j.pending()
	require.Len(t, chunks, 2)
	require.Equal(t, "0123456789", chunks[0].Content)
	require.True(t, chunks[1].Truncated)
	require.Equal(t, entity.LogSystem, chunks[1].Type)
	j.Log(entity.LogStdout, "never")
	require.Len(t, j.pending(), 2, "one mark is enough")
}

func TestLongOutputIsCutIntoChunksAndLongLinesShort(t *testing.T) {
	j := bufferOf(1, 1<<20)
	for range 10 {
		j.Log(entity.LogStdout, strings.Repeat("x", 20<<10))
	}
	chunks := j.pending()
	require.Greater(t, len(chunks), 2)
	for _, c := range chunks {
		require.LessOrEqual(t, len(c.Content), entity.LogChunkBytes)
		for line := range strings.SplitSeq(c.Content, "\n") {
			require.LessOrEqual(t, len(line), entity.MaxLogLine)
		}
	}
	require.Len(t, lines(chunks), 10)
}

func TestWhatIsSaidCannotHarmATerminal(t *testing.T) {
	j := bufferOf(1, 1<<20)
	j.Log(entity.LogStdout, "a\x1b[2Jb\x00c\xffd")
	content := j.pending()[0].Content
	require.NotContains(t, content, "\x1b")
	require.NotContains(t, content, "\x00")
	require.True(t, strings.HasPrefix(content, "a") && strings.HasSuffix(content, "d"))

	const coloured = "\x1b[31mred\x1b[0m"
	j = bufferOf(1, 1<<20)
	j.Log(entity.LogStdout, coloured)
	require.Equal(t, coloured, j.pending()[0].Content)
}

// The outcome carries what was reported, unless it says something itself.
func TestAnEndCarriesProgressAndCheckpoint(t *testing.T) {
	for name, c := range map[string]struct {
		report     func(j *Buffer)
		outcome    entity.Outcome
		progress   int
		checkpoint string
	}{
		"nothing was reported":         {func(*Buffer) {}, failure(), 0, "former"},
		"a failure keeps its progress": {func(j *Buffer) { j.Progress(40) }, failure(), 40, "former"},
		"a success is complete":        {func(j *Buffer) { j.Progress(40) }, entity.Succeeded(""), 100, "former"},
		"more than all":                {func(j *Buffer) { j.Progress(400) }, failure(), 100, "former"},
		"less than nothing":            {func(j *Buffer) { j.Progress(-4) }, failure(), 0, "former"},
		"the latest checkpoint": {func(j *Buffer) {
			j.Checkpoint("a")
			j.Checkpoint("b")
		}, failure(), 0, "b"},
		"the outcome's own": {func(j *Buffer) {
			j.Checkpoint("a")
		}, entity.Outcome{Status: entity.StatusFailed, Checkpoint: "own"}, 0, "own"},
	} {
		t.Run(name, func(t *testing.T) {
			j := bufferOf(2, 100)
			c.report(j)
			o := c.outcome
			j.End(&o)
			require.Equal(t, c.progress, o.Progress)
			require.Equal(t, c.checkpoint, o.Checkpoint)
			require.True(t, j.ended())
			j.Log(entity.LogStdout, "too late")
			require.Empty(t, j.pending())
		})
	}
	j := bufferOf(1, 100)
	j.Checkpoint(strings.Repeat("x", entity.MaxCheckpoint+10))
	require.LessOrEqual(t, len(j.checkpoint), entity.MaxCheckpoint)
}

func failure() entity.Outcome { return entity.Failed(entity.ReasonError, "it broke") }

// asShown says the lines, and returns what was stored of them, flushed after each where that is asked for.
func asShown(flushed bool, said ...string) []string {
	j := bufferOf(1, 1<<20)
	var chunks []entity.LogChunk
	flush := func() {
		if got := j.pending(); len(got) > 0 {
			chunks = append(chunks, got...)
			j.stored(got)
		}
	}
	for _, text := range said {
		j.Log(entity.LogStdout, text)
		if flushed {
			flush()
		}
	}
	j.End(&entity.Outcome{})
	flush()
	return lines(chunks)
}

func TestALineThatReturnsIsReplacedByTheNextOne(t *testing.T) {
	for _, c := range []struct {
		said []string
		want []string
	}{
		{[]string{"a\rb\rc", "middle", "the end"}, []string{"1 STDOUT c", "2 STDOUT middle", "3 STDOUT the end"}},
		{[]string{"10%\r", "20%\r", "done"}, []string{"1 STDOUT done"}},
		{[]string{"one\r\ntwo\r\n", "three"}, []string{"1 STDOUT one", "2 STDOUT two", "3 STDOUT three"}},
		{[]string{"\r10%", "next"}, []string{"1 STDOUT 10%", "2 STDOUT next"}},
		{[]string{"100%\r", "", "next"}, []string{"1 STDOUT 100%", "2 STDOUT next"}},
		{[]string{"stays\r"}, []string{"1 STDOUT stays\r"}},
	} {
		require.Equal(t, c.want, asShown(false, c.said...), "%q", c.said)
	}
}

// A line that the store took already stays in it, marked, under a number of its own.
func TestAReplacedLineThatWasStoredKeepsItsNumber(t *testing.T) {
	require.Equal(t, []string{"1 STDOUT 10%\r", "2 STDOUT 20%", "3 STDOUT the end"},
		asShown(true, "10%\r", "20%", "the end"))
}

func TestLinesOfTwoStreamsKeepTheirOrder(t *testing.T) {
	j := bufferOf(1, 1<<20)
	j.Log(entity.LogStdout, "10%\r")
	j.Log(entity.LogStderr, "careful")
	j.Log(entity.LogStdout, "20%")
	require.Equal(t, []string{"1 STDOUT 10%\r", "2 STDERR careful", "3 STDOUT 20%"}, lines(j.pending()))
}

// A program may show its progress for a week: what it says at its end is in the log.
func TestProgressForDaysLeavesRoomForTheEnd(t *testing.T) {
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	j := New(&entity.Execution{ID: "e", JobID: "j", Attempt: 1}, entity.LogLimit, clock)
	shown := 0
	for range 7 * 24 * 3600 * 2 {
		j.Log(entity.LogStdout, strings.Repeat("=", 80)+"\r")
		clock.Advance(500 * time.Millisecond)
		if got := j.pending(); len(got) > 0 {
			j.stored(got)
			shown++
		}
	}
	require.Greater(t, shown, 1000)
	require.Less(t, shown, 6000)
	j.Log(entity.LogStdout, "the end")
	last := j.pending()
	require.True(t, strings.HasSuffix(last[len(last)-1].Content, "the end"))
	require.False(t, last[len(last)-1].Truncated)
}

func TestALineThatIsCutHoldsWholeCharactersAndAMark(t *testing.T) {
	for name, text := range map[string]string{
		"ASCII": strings.Repeat("x", 8193), "two bytes": "x" + strings.Repeat("é", 4096), "three": strings.Repeat("界", 3000),
		"four": "x" + strings.Repeat("😀", 3000), "four, moved": "xyz" + strings.Repeat("😀", 3000), "no text": strings.Repeat("\xff", 8193),
	} {
		for _, end := range []string{"", "\r"} {
			j := bufferOf(1, 1<<20)
			j.Log(entity.LogStdout, text+end)
			j.End(&entity.Outcome{})
			got, _ := strings.CutSuffix(j.pending()[0].Content, "\r")
			require.LessOrEqual(t, len(got)+len(end), 8192, name)
			require.Greater(t, len(got), 8192-8, name)
			require.True(t, utf8.ValidString(got) && strings.HasSuffix(got, "…"), name)
		}
	}
	j := bufferOf(1, 1<<20)
	j.Log(entity.LogStdout, strings.Repeat("x", 8192))
	require.Equal(t, strings.Repeat("x", 8192), j.pending()[0].Content, "as long as a line may be")
}

// A worker gives its lines their numbers. None becomes two, and one that was replaced before it was stored is
// not there.
func TestNumberedLinesAreReplacedToo(t *testing.T) {
	for _, c := range []struct {
		said []string
		want []string
	}{
		{[]string{"10%\r20%\r100%", "end"}, []string{"1 STDOUT 100%", "2 STDOUT end"}},
		{[]string{"10%\r", "20%\r", "done"}, []string{"3 STDOUT done"}},
		{[]string{"text\r\n", "a\r\nb"}, []string{"1 STDOUT text", "2 STDOUT a b"}},
		{[]string{"\r", "\r10%", "next"}, []string{"2 STDOUT 10%", "3 STDOUT next"}},
		{[]string{"100%\r", "", "next"}, []string{"2 STDOUT 100%", "3 STDOUT next"}},
		{[]string{"first", "prompt\r"}, []string{"1 STDOUT first", "2 STDOUT prompt\r"}},
	} {
		j := bufferOf(1, 1<<20)
		for i, text := range c.said {
			j.LogAt(int64(i+1), entity.LogStdout, text)
			j.LogAt(int64(i+1), entity.LogStdout, "again")
		}
		j.End(&entity.Outcome{})
		require.Equal(t, c.want, lines(j.pending()), "%q", c.said)
	}
}

// Progress that a worker reports for days leaves room for the end, too. The worker hears that the store has a
// line when that is so, or when the line is left out.
func TestNumberedProgressForDaysLeavesRoomForTheEnd(t *testing.T) {
	clock := clocktest.NewManual(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	j := New(&entity.Execution{ID: "e", JobID: "j", Attempt: 1}, entity.LogLimit, clock)
	number, shown := int64(0), 0
	for range 24 * 3600 * 2 {
		number++
		j.LogAt(number, entity.LogStdout, strings.Repeat("=", 80)+"\r")
		require.Equal(t, number-1, j.Stored())
		clock.Advance(500 * time.Millisecond)
		if got := j.pending(); len(got) > 0 {
			require.Equal(t, number, got[0].SeqFrom)
			require.Equal(t, number-1, j.Stored())
			j.stored(got)
			shown++
		}
		require.Equal(t, number, j.Stored())
	}
	require.Greater(t, shown, 500)
	j.LogAt(number+1, entity.LogStdout, "the end")
	last := j.pending()
	require.Equal(t, "the end", last[len(last)-1].Content)
	require.Equal(t, number+1, last[len(last)-1].SeqTo)
}
