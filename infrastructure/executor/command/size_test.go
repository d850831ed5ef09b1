package command_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/platform-scheduler/platform-scheduler/domain/clock/clocktest"
	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// sized is a bench whose folders hold at most one MiB, on a clock that is moved.
func sized(t *testing.T) (*bench, *clocktest.Manual) {
	t.Helper()
	b := newBench(t)
	own, err := user.Current()
	require.NoError(t, err)
	now := clocktest.NewManual(time.Unix(1_800_000_000, 0))
	b.Executor = command.New(now, b.starter, command.Settings{
		Interpreters: []string{"sh"}, Account: command.Account{Name: own.Username}, Folders: b.folders, FolderMb: 1, Grace: time.Hour,
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
	now.Advance(2 * time.Second)
	select {
	case o := <-ended:
		require.Fail(t, "a folder within its bound is no reason to end", o.Message)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "b"), make([]byte, 64<<10), 0o600))
	now.Advance(2 * time.Second)
	o := <-ended
	require.Equal(t, entity.StatusFailed, o.Status)
	require.Equal(t, "its working folder grew over 1 MiB; write elsewhere, or raise executor.command.folderMb", o.Message)
	require.NoDirExists(t, folder)
}

func TestAFileWithHolesCountsWhatItTakes(t *testing.T) {
	b, now := sized(t)
	ended := make(chan entity.Outcome, 1)
	go func() {
		ended <- b.run(t.Context(), `{"script":"mkfifo fifo; truncate -s 1G hole; ln -s /usr away; mkdir -p d/e; chmod 0 d; echo made; read x <fifo","interpreter":"sh"}`)
	}()
	b.said(t, "made")
	now.Advance(2 * time.Second)
	now.Advance(2 * time.Second)
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
