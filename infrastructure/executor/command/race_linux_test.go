package command_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// asRacer makes this test binary the attacker.
const asRacer = "COMMAND_TEST_RACER"

func TestMain(m *testing.M) {
	if target := os.Getenv(asRacer); target != "" {
		if err := race(target); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// race plays another run of the same user. For each folder that it reads of, it
// spins on putting links to a file of root's in the place of what stands there,
// and on writing into the script. It prints how often it could.
func race(target string) error {
	own, err := os.MkdirTemp("", "racer")
	if err != nil {
		return err
	}
	defer os.RemoveAll(own)
	link := filepath.Join(own, "link")
	if err := os.Symlink(target, link); err != nil {
		return err
	}
	var folders [2]atomic.Pointer[string]
	var over atomic.Bool
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for n := 0; lines.Scan(); n++ {
			line := lines.Text()
			folders[n%2].Store(&line)
		}
		over.Store(true)
	}()
	wins, tries := 0, 0
	for !over.Load() {
		for i := range folders {
			folder := folders[i].Load()
			if folder == nil {
				continue
			}
			for _, name := range []string{"script", "home", "report"} {
				tries++
				if unix.Rename(link, *folder+"/"+name) == nil {
					wins++
					if err := os.Symlink(target, link); err != nil {
						return err
					}
				}
			}
			if fd, err := unix.Open(*folder+"/script", unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
				wins++
				_, _ = unix.Write(fd, []byte("echo 'theirs'"))
				_ = unix.Close(fd)
			}
		}
	}
	fmt.Printf("%d %d\n", wins, tries)
	return nil
}

// racing is a racer that runs as an account, and what it is told.
type racing struct {
	tell *os.File
	cmd  *exec.Cmd
	out  bytes.Buffer
}

func startRacer(t *testing.T, player, target string, a command.Account) *racing {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	r := &racing{tell: write, cmd: exec.Command(player)}
	r.cmd.Env, r.cmd.Dir = []string{asRacer + "=" + target}, "/"
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = read, &r.out, os.Stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: a.UID, Gid: a.GID},
		Pdeathsig:  syscall.SIGKILL,
	}
	require.NoError(t, r.cmd.Start())
	require.NoError(t, read.Close())
	return r
}

// end returns how often the racer won, and tried.
func (r *racing) end(t *testing.T) (wins, tries int) {
	t.Helper()
	require.NoError(t, r.tell.Close())
	require.NoError(t, r.cmd.Wait())
	fields := strings.Fields(r.out.String())
	require.Len(t, fields, 2)
	wins, err := strconv.Atoi(fields[0])
	require.NoError(t, err)
	tries, err = strconv.Atoi(fields[1])
	require.NoError(t, err)
	return wins, tries
}

// betray tells the racer of each folder that is made, which root alone can see:
// no name is hidden well enough to be the protection.
func betray(t *testing.T, folder string, tell *os.File) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	require.NoError(t, err)
	_, err = unix.InotifyAddWatch(fd, folder, unix.IN_CREATE)
	require.NoError(t, err)
	events := os.NewFile(uintptr(fd), "inotify")
	t.Cleanup(func() { _ = events.Close() })
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := events.Read(buf)
			if err != nil {
				return
			}
			for at := 0; at+unix.SizeofInotifyEvent <= n; {
				length := int(uint32(buf[at+12]) | uint32(buf[at+13])<<8 | uint32(buf[at+14])<<16 | uint32(buf[at+15])<<24)
				name := strings.TrimRight(string(buf[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+length]), "\x00")
				_, _ = tell.WriteString(filepath.Join(folder, name) + "\n")
				at += unix.SizeofInotifyEvent + length
			}
		}
	}()
}

// copyOfSelf is this program, where every user may run it.
func copyOfSelf(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	file := filepath.Join(executortest.Folder(t), "racer")
	require.NoError(t, os.WriteFile(file, data, 0o755))
	require.NoError(t, os.Chmod(file, 0o755))
	return file
}

// raceTries is how often the attacker gets its window.
const raceTries = 250

// A run of the same user that replaces what root makes for another run neither
// becomes root, nor puts its own script into that run.
func TestARaceForTheFolderOfARunIsNotWon(t *testing.T) {
	if !prooftest.Root(t) { // no other server has another user for its commands
		return
	}
	nobody, err := command.FindAccount("nobody", "server")
	require.NoError(t, err)
	target := filepath.Join(executortest.Folder(t), "target")
	require.NoError(t, os.WriteFile(target, []byte("root's own"), 0o600))
	b := newBenchAs(t, executortest.Folder(t), nobody)
	r := startRacer(t, copyOfSelf(t), target, nobody)
	betray(t, b.folder, r.tell)
	for i := range raceTries {
		id := fmt.Sprintf("exec-%d", i)
		_, err := r.tell.WriteString(filepath.Join(b.folder, id+"-2") + "\n")
		require.NoError(t, err)
		got := b.runAs(t.Context(), id, `{"script":"echo mine","interpreter":"sh"}`)
		require.Equal(t, []any{entity.StatusSuccess, "mine"}, []any{got.Status, got.Result}, "%s: %s", id, got.Message)
	}
	wins, tries := r.end(t)
	require.Zero(t, wins, "of %d tries", tries)
	require.Greater(t, tries, raceTries)
	info, err := os.Stat(target)
	require.NoError(t, err)
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "root's own", string(data))
	require.Zero(t, info.Sys().(*syscall.Stat_t).Uid)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	t.Logf("%d runs, %d tries of the racer, %d won", raceTries, tries, wins)
}
