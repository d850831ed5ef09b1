package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
)

// paper is a report file and what was made of it.
type paper struct {
	t    *testing.T
	name string
	rep  *executortest.Recorder
	*reportFile
	writes int
}

func newPaper(t *testing.T) *paper {
	t.Helper()
	p := &paper{t: t, name: filepath.Join(t.TempDir(), "report"), rep: &executortest.Recorder{}}
	file, err := os.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	p.reportFile = newReportFile(file, p.rep)
	return p
}

func (p *paper) write(flag int, text string) {
	p.t.Helper()
	file, err := os.OpenFile(p.name, os.O_WRONLY|flag, 0)
	require.NoError(p.t, err)
	_, err = file.WriteString(text)
	require.NoError(p.t, err)
	require.NoError(p.t, file.Close())
	// The clock of a file system may be coarser than the test.
	p.writes++
	at := time.Now().Add(time.Duration(p.writes) * time.Second)
	require.NoError(p.t, os.Chtimes(p.name, at, at))
}

func (p *paper) add(text string) {
	p.t.Helper()
	p.write(os.O_APPEND, text)
}

func (p *paper) said(progress int, checkpoint string) {
	p.t.Helper()
	gotProgress, gotCheckpoint := p.rep.Last()
	require.Equal(p.t, []any{progress, checkpoint}, []any{gotProgress, gotCheckpoint})
}

func TestTheLastReportCounts(t *testing.T) {
	p := newPaper(t)
	p.step(maxReportStep)
	p.said(0, "")
	p.add("progress 10\ncheckpoint row=1\nprogress 20\n")
	p.step(maxReportStep)
	p.said(20, "row=1")
	p.add("checkpoint row=2 and more\r\nresult 1\noutput {\"rows\": 2}\nprog")
	p.step(maxReportStep)
	p.said(20, "row=2 and more")
	p.add("ress 30\n\n  \nprogress 40")
	p.step(maxReportStep)
	p.said(30, "row=2 and more")
	result, given := p.end()
	require.True(t, given)
	require.Equal(t, `{"rows": 2}`, result)
	p.said(40, "row=2 and more")
	require.Empty(t, p.rep.Lines())
}

func TestWithoutAResultNoneIsGiven(t *testing.T) {
	p := newPaper(t)
	p.add("progress 100\n")
	_, given := p.end()
	require.False(t, given)
	p.said(100, "")
}

// A report without meaning changes nothing, and is named once.
func TestAWrongLineIsNamedOnce(t *testing.T) {
	for _, wrong := range []string{
		"progress", "progress 101", "progress -1", "progress 4.5", "progress x", "PROGRESS 5", "hello", " progress 5",
		"result", "result {", `result {"a":1} x`, "result " + strings.Repeat("1", maxReported+1),
		"checkpoint " + strings.Repeat("x", maxReported+1), "checkpoint \xff", strings.Repeat("y", 3*maxReportLine),
	} {
		p := newPaper(t)
		p.add("progress 7\ncheckpoint c\nresult 7\n" + wrong + "\n" + wrong)
		p.step(maxReportStep)
		result, given := p.end()
		require.Equal(t, []any{"7", true}, []any{result, given}, "%.20q", wrong)
		p.said(7, "c")
		require.Len(t, p.rep.Lines(), 1, "%.20q", wrong)
		require.Equal(t, entity.LogSystem, p.rep.Lines()[0].Type)
		require.Contains(t, p.rep.Lines()[0].Text, "none of")
		require.Less(t, len(p.rep.Lines()[0].Text), 600)
	}
}

func TestWhatFitsIsTaken(t *testing.T) {
	p := newPaper(t)
	state, result := strings.Repeat("é", maxReported/2), `"`+strings.Repeat("x", maxReported-2)+`"`
	p.add("checkpoint " + state + "\nresult " + result + "\n")
	got, given := p.end()
	require.True(t, given)
	require.Equal(t, result, got)
	p.said(0, state)
	require.Empty(t, p.rep.Lines())
}

// A command that writes the file anew each time is understood, too.
func TestAFileThatIsWrittenAnewIsReadAnew(t *testing.T) {
	p := newPaper(t)
	for _, text := range []string{"progress 10\n", "progress 20\n", "progress 5\n", "progress 100\ncheckpoint x\n"} {
		p.write(os.O_TRUNC, text)
		p.step(maxReportStep)
	}
	p.said(100, "x")
	p.write(os.O_TRUNC, "progress 55\n")
	p.step(maxReportStep)
	p.said(55, "x")
}

// Whatever somebody puts in the place of the file, the one that this process
// made is read.
func TestAFileInItsPlaceIsNotRead(t *testing.T) {
	p := newPaper(t)
	p.add("progress 10\n")
	require.NoError(t, os.Remove(p.name))
	require.NoError(t, os.WriteFile(p.name, []byte("progress 99\nresult 99\n"), 0o600))
	_, given := p.end()
	require.False(t, given)
	p.said(10, "")
}

// Neither memory nor time is for a command to take: a file is read up to a
// bound, and piece by piece.
func TestAnEndlessFileIsReadUpToABound(t *testing.T) {
	p := newPaper(t)
	p.add(strings.Repeat("progress 1\n", maxReportRead/11-1) + "\n")
	p.step(maxReportStep)
	require.EqualValues(t, maxReportStep, p.offset)
	p.add(strings.Repeat("progress 2\n", 100))
	_, given := p.end()
	require.False(t, given)
	require.Less(t, p.offset, int64(maxReportRead+64<<10))
	require.Len(t, p.rep.Lines(), 1)
	require.Contains(t, p.rep.Lines()[0].Text, "16 MiB")

	sparse := newPaper(t)
	require.NoError(t, os.Truncate(sparse.name, 1<<40))
	sparse.step(maxReportStep)
	sparse.end()
	require.LessOrEqual(t, cap(sparse.line), 4*maxReportLine)
}
