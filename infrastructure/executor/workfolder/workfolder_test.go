package workfolder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/executortest"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/workfolder"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

// another is the owner of folders beside root, as a server that runs as root
// has one.
func another() workfolder.Owner {
	return workfolder.Owner{Name: "nobody", Change: true, UID: 65534, GID: 65534}
}

func open(t *testing.T, base string, o workfolder.Owner) *workfolder.Area {
	t.Helper()
	a, err := workfolder.Open(base, "area-", o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

func owner(t *testing.T, path string) (uid, gid int, mode os.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	stat := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), int(stat.Gid), info.Mode().Perm()
}

func TestTheHomeAloneIsTheUsers(t *testing.T) {
	if !prooftest.Root(t) {
		return
	}
	// A mask takes nothing away: modes are set by descriptor.
	defer unix.Umask(unix.Umask(0o077))
	a := open(t, executortest.Folder(t), another())
	f, err := a.Make("run-1", "echo x")
	require.NoError(t, err)
	for path, want := range map[string][]any{
		a.Path():               {0, 0, os.FileMode(0o711)},
		filepath.Dir(f.Home()): {0, 65534, os.FileMode(0o710)},
		f.Home():               {65534, 65534, os.FileMode(0o700)},
		f.Script():             {0, 65534, os.FileMode(0o440)},
		f.Report():             {65534, 65534, os.FileMode(0o600)},
	} {
		uid, gid, mode := owner(t, path)
		require.Equal(t, want, []any{uid, gid, mode}, path)
	}
	second, err := a.Make("run-1", "")
	require.NoError(t, err)
	require.NotEqual(t, f.Home(), second.Home(), "no two attempts share a folder")
	require.NoFileExists(t, second.Script())
	require.NoError(t, f.Remove())
	require.NoError(t, second.Remove())
	entries, err := os.ReadDir(a.Path())
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestOnesOwnFoldersArePrivate(t *testing.T) {
	a := open(t, t.TempDir(), workfolder.Owner{})
	f, err := a.Make("run-1", "echo x")
	require.NoError(t, err)
	for path, want := range map[string]os.FileMode{
		a.Path(): 0o700, f.Home(): 0o700, f.Script(): 0o400,
		f.Report(): 0o600,
	} {
		_, _, mode := owner(t, path)
		require.Equal(t, want, mode, path)
	}
	require.NoError(t, f.Remove())
}

// A base in which somebody else could replace the area is none.
func TestABaseThatOthersControlIsRefused(t *testing.T) {
	if !prooftest.Root(t) {
		return
	}
	theirs, shared, closed := executortest.Folder(t), executortest.Folder(t), executortest.Folder(t)
	require.NoError(t, os.Chown(theirs, 65534, 65534))
	require.NoError(t, os.Chmod(shared, 0o777))
	require.NoError(t, os.Chmod(closed, 0o700))
	for dir, message := range map[string]string{
		theirs: "belongs to another user", shared: "others can write in",
		closed: "others may not enter",
	} {
		inner := filepath.Join(dir, "inner")
		require.NoError(t, os.Mkdir(inner, 0o755))
		for _, base := range []string{dir, inner} {
			_, err := workfolder.Open(base, "area-", another())
			require.ErrorContains(t, err, message)
			require.ErrorContains(t, err, "TMPDIR")
		}
	}
	require.NoError(t, os.Chmod(shared, 0o777|os.ModeSticky))
	open(t, shared, another())
	_, err := workfolder.Open(filepath.Join(closed, "none"), "area-", another())
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What is removed is what stands in the folder: never what a link in it leads
// to, whatever is nested how deep, and whatever modes it has.
func TestAFolderIsRemovedAndNothingElse(t *testing.T) {
	for name, o := range map[string]workfolder.Owner{"own": {}, "another": another()} {
		t.Run(name, func(t *testing.T) {
			if o.Change && !prooftest.Root(t) {
				return
			}
			outside := executortest.Folder(t)
			kept := filepath.Join(outside, "kept")
			require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
			require.NoError(t, os.Chmod(outside, 0o750))
			a := open(t, executortest.Folder(t), o)
			f, err := a.Make("run-1", "")
			require.NoError(t, err)
			home := f.Home()
			require.NoError(t, os.Symlink(outside, home+"/link"))
			require.NoError(t, os.Link(kept, home+"/hard"))
			require.NoError(t, unix.Mkfifo(home+"/fifo", 0o600))
			require.NoError(t, os.MkdirAll(home+"/a/b/c", 0o700))
			require.NoError(t, os.Symlink(outside, home+"/a/b/c/link"))
			for i := range 3000 {
				require.NoError(t, os.WriteFile(fmt.Sprintf("%s/a/b/file-%d", home, i), nil, 0o600))
			}
			require.NoError(t, os.Mkdir(home+"/moved-1", 0o700))
			require.NoError(t, os.WriteFile(home+"/moved-2", nil, 0o600))
			for _, dir := range []string{"/a/b/c", "/a/b", "/a", "/moved-1", ""} {
				require.NoError(t, os.Chmod(home+dir, 0))
			}
			require.NoError(t, f.Remove())
			require.NoDirExists(t, filepath.Dir(home))
			data, err := os.ReadFile(kept)
			require.NoError(t, err)
			require.Equal(t, "kept", string(data))
			_, _, mode := owner(t, outside)
			require.Equal(t, os.FileMode(0o750), mode)
		})
	}
}

// Depth costs no descriptors, so that no run can use up the server's.
func TestDepthCostsNoDescriptors(t *testing.T) {
	a := open(t, t.TempDir(), workfolder.Owner{})
	f, err := a.Make("run-1", "")
	require.NoError(t, err)
	at, err := unix.Open(f.Home(), unix.O_DIRECTORY, 0)
	require.NoError(t, err)
	for range 3000 {
		require.NoError(t, unix.Mkdirat(at, "d", 0o700))
		next, err := unix.Openat(at, "d", unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		require.NoError(t, unix.Close(at))
		at = next
	}
	require.NoError(t, unix.Close(at))
	require.True(t, f.Use(1<<40, 1<<20).TooDeep)
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	few := unix.Rlimit{Cur: uint64(descriptors(t)) + 20, Max: limit.Max}
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &few))
	err = f.Remove()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	require.NoError(t, err)
	require.NoDirExists(t, f.Home())
}

// descriptors is the highest one in use.
func descriptors(t *testing.T) (highest int) {
	t.Helper()
	entries, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	for _, e := range entries {
		var fd int
		_, err := fmt.Sscanf(e.Name(), "%d", &fd)
		require.NoError(t, err)
		highest = max(highest, fd)
	}
	return highest
}

func TestUseCountsWhatIsThere(t *testing.T) {
	a := open(t, t.TempDir(), workfolder.Owner{})
	f, err := a.Make("run-1", "")
	require.NoError(t, err)
	empty := f.Use(1<<40, 1000)
	require.Equal(t, workfolder.Use{}, empty)
	big := executortest.Folder(t)
	require.NoError(t, os.WriteFile(big+"/big", make([]byte, 8<<20), 0o600))
	require.NoError(t, os.Symlink(big, f.Home()+"/link"))
	require.NoError(t, os.MkdirAll(f.Home()+"/d/e", 0o700))
	require.NoError(t, os.WriteFile(f.Home()+"/d/e/file", make([]byte, 1<<20), 0o600))
	hole, err := os.Create(f.Home() + "/hole")
	require.NoError(t, err)
	require.NoError(t, hole.Truncate(1<<40))
	require.NoError(t, hole.Close())
	use := f.Use(1<<40, 1000)
	require.Equal(t, 5, use.Files)
	require.GreaterOrEqual(t, use.Bytes, int64(1<<20))
	require.Less(t, use.Bytes, int64(2<<20), "neither what a link leads to nor a hole counts")
	require.Equal(t, 3, f.Use(1<<40, 2).Files, "it looks no further than the limit")
	require.NoError(t, f.Remove())
}

// What former lives left goes; what only looks like it, or is in use, stays.
func TestFormerLivesAreClearedAndNothingElse(t *testing.T) {
	base := executortest.Folder(t)
	require.NoError(t, os.Chmod(base, 0o777|os.ModeSticky))
	former := filepath.Join(base, "area-former")
	require.NoError(t, os.MkdirAll(former+"/exec-1-1.x/home/deep", 0o700))
	outside := executortest.Folder(t)
	require.NoError(t, os.WriteFile(outside+"/kept", nil, 0o600))
	require.NoError(t, os.Symlink(outside, former+"/exec-1-1.x/home/link"))
	require.NoError(t, os.Symlink(outside, filepath.Join(base, "area-link")))
	require.NoError(t, os.WriteFile(filepath.Join(base, "area-file"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(base, "others"), 0o700))
	if prooftest.Root(t) {
		planted := filepath.Join(base, "area-planted")
		require.NoError(t, os.Mkdir(planted, 0o777))
		require.NoError(t, os.Chown(planted, 65534, 65534))
		defer func() { require.DirExists(t, planted) }()
	}
	alive := open(t, base, workfolder.Owner{})
	a := open(t, base, workfolder.Owner{})
	require.NoError(t, a.Clear())
	require.NoDirExists(t, former)
	require.FileExists(t, outside+"/kept")
	for _, path := range []string{
		a.Path(), alive.Path(), filepath.Join(base, "area-link"),
		filepath.Join(base, "area-file"), filepath.Join(base, "others"),
	} {
		_, err := os.Lstat(path)
		require.NoError(t, err, path)
	}
	require.NoError(t, a.Close())
	require.NoDirExists(t, a.Path())
	_, err := a.Make("run-1", "")
	require.ErrorContains(t, err, "stopping")
}

// A cleaner of temporary files may remove an area below a running server, and
// somebody else may make one of that name.
func TestAnAreaThatWasRemovedIsMadeAnew(t *testing.T) {
	base := executortest.Folder(t)
	a := open(t, base, workfolder.Owner{})
	old := a.Path()
	require.NoError(t, os.Remove(old))
	require.NoError(t, os.Mkdir(old, 0o777), "not ours")
	f, err := a.Make("run-1", "echo x")
	require.NoError(t, err)
	require.NotEqual(t, old, a.Path())
	require.True(t, strings.HasPrefix(f.Home(), a.Path()+"/"))
	entries, err := os.ReadDir(old)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, f.Remove())
}
