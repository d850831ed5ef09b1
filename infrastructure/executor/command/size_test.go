package command_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// looks is a clock that is moved, and counts the looks at the size of a folder that
// are over: the timer of the looks is set again behind each.
type looks struct {
	*clocktest.Manual
	over atomic.Int64
}

const lookEvery = 2 * time.Second

// NewTimer implements clock.Clock.
func (l *looks) NewTimer(d time.Duration) clock.Timer {
	timer := l.Manual.NewTimer(d)
	if d != lookEvery {
		return timer
	}
	return &lookTimer{timer, &l.over}
}

type lookTimer struct {
	clock.Timer
	over *atomic.Int64
}

// Reset implements clock.Timer.
func (l *lookTimer) Reset(d time.Duration) {
	l.Timer.Reset(d)
	l.over.Add(1)
}

// look lets time pass until the next look is over.
func (l *looks) look(t *testing.T) {
	t.Helper()
	before := l.over.Load()
	l.Advance(lookEvery)
	require.Eventually(t, func() bool { return l.over.Load() > before }, 20*time.Second, time.Millisecond, "it looks")
}

// sized is a bench whose folders hold at most one MiB, on a clock that is moved.
func sized(t *testing.T) (*bench, *looks) {
	t.Helper()
	b := newBench(t)
	own, err := user.Current()
	require.NoError(t, err)
	now := &looks{Manual: clocktest.NewManual(time.Unix(1_800_000_000, 0))}
	b.Executor = command.New(now, b.starter, command.Settings{
		Interpreters: []string{"sh"}, Account: command.Account{Name: own.Username}, Folders: b.folders, FolderMb: 1,
		Grace: time.Hour,
	})
	return b, now
}

// said waits for a line of the run.
func (b *bench) said(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, line := range b.rep.Lines() {
			if line.Text == text {
				return true
			}
		}
		return false
	}, 20*time.Second, time.Millisecond, text)
}

func TestARunWhoseFolderGrowsTooLargeIsEnded(t *testing.T) {
	b, now := sized(t)
	ended := make(chan entity.Outcome, 1)
	script := `{"script":"head -c 1000000 /dev/zero >a; echo full; read x <fifo","interpreter":"sh"}`
	script = strings.Replace(script, "head", "mkfifo fifo; head", 1)
	go func() { ended <- b.run(t.Context(), script) }()
	b.said(t, "full")
	folder := b.home(t)
	now.look(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b"), make([]byte, 64<<10), 0o600))
	now.look(t)
	o := <-ended
	require.Equal(t, entity.StatusFailed, o.Status)
	require.Equal(t, "its working folder grew over 1 MiB; write elsewhere, or raise executor.command.folderMb", o.Message)
	require.NoDirExists(t, folder)
}

// A run that takes less than its bound goes on, and a file with holes counts what it takes.
func TestAFolderWithinItsBoundIsNoReasonToEnd(t *testing.T) {
	b, now := sized(t)
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- b.run(t.Context(),
			`{"script":"mkfifo fifo; truncate -s 1G hole; head -c 1000000 /dev/zero >full; ln -s /usr away; mkdir -p d/e; chmod 0 d; echo made; read x <fifo","interpreter":"sh"}`)
	}()
	b.said(t, "made")
	now.look(t)
	now.look(t)
	fifo, err := os.OpenFile(filepath.Join(b.home(t), "fifo"), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = fifo.WriteString("go on\n")
	require.NoError(t, err)
	require.NoError(t, fifo.Close())
	require.Equal(t, entity.StatusSuccess, (<-ended).Status)
	entries, err := os.ReadDir(b.folder)
	require.NoError(t, err)
	require.Empty(t, entries, "also what its owner may not enter is removed")
}

func TestAFolderThatCannotBeMadeFailsTheRun(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.folders.Close())
	o := b.run(t.Context(), `{"command":["true"]}`)
	require.Equal(t, entity.StatusFailed, o.Status)
	require.Contains(t, o.Message, "the working folder")
	require.Empty(t, b.starter.orders)
}
