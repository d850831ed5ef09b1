package datafolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/persistence/sqldb"
	"github.com/platform-scheduler/platform-scheduler/test/prooftest"
)

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// theirs gives a file to another user, where a test may.
func theirs(t *testing.T, path string) bool {
	t.Helper()
	if !prooftest.Root(t) { // nobody else gives files away
		return false
	}
	require.NoError(t, os.Chown(path, 65534, 65534))
	return true
}

func TestADataFolderThatOthersCanWriteIsMended(t *testing.T) {
	for _, mode := range []os.FileMode{0o777, 0o757, 0o707} {
		dir := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chmod(dir, mode))
		d, err := Open(dir)
		require.NoError(t, err)
		require.Equal(t, mode&^0o022, modeOf(t, dir))
		require.Len(t, d.Mended, 1)
		require.Contains(t, d.Mended[0], "others could write in the data folder")
		require.NoError(t, d.Close())
	}
	// A folder of the own group, as a volume of a container is, and one that
	// others may only list, are left as they are.
	for _, mode := range []os.FileMode{0o770, 0o755, 0o700} {
		dir := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chown(dir, -1, os.Getegid()))
		require.NoError(t, os.Chmod(dir, mode))
		d, err := Open(dir)
		require.NoError(t, err)
		require.Equal(t, mode, modeOf(t, dir))
		require.Empty(t, d.Mended)
		require.NoError(t, d.Close())
	}
}

func TestADataFolderOfOthersIsRefused(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(shared, 0o700))
	require.NoError(t, os.Chmod(shared, 0o777|os.ModeSticky))
	_, err := Open(shared)
	require.ErrorContains(t, err, "others can write in the data folder")
	require.ErrorContains(t, err, "dataDir (PS_DATA_DIR)")
	require.Equal(t, os.FileMode(0o777), modeOf(t, shared), "a folder for all is not changed")
	dir := t.TempDir()
	if theirs(t, dir) {
		_, err = Open(dir)
		require.ErrorContains(t, err, "belongs to the user with id 65534")
	}
}

// The files of the store are private, whatever the folder and the mask are, and
// whoever made them so far.
func TestTheFilesOfTheStoreArePrivate(t *testing.T) {
	defer unix.Umask(unix.Umask(0))
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o755))
	look := func() {
		d, err := Open(dir)
		require.NoError(t, err)
		defer func() { require.NoError(t, d.Close()) }()
		store, err := persistence.Open(t.Context(),
			persistence.Config{Config: sqldb.Config{Driver: "sqlite", Path: d.File(DatabaseFile)}, AutoMigrate: true})
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(entries), 4)
		for _, e := range entries {
			require.Equal(t, os.FileMode(0o600), modeOf(t, filepath.Join(dir, e.Name())), e.Name())
		}
	}
	look()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries { // as an older version left them
		require.NoError(t, os.Chmod(filepath.Join(dir, e.Name()), 0o644))
	}
	d, err := Open(dir)
	require.NoError(t, err)
	require.Contains(t, strings.Join(d.Mended, "\n"), "others could read "+filepath.Join(dir, DatabaseFile)+":")
	require.NoError(t, d.Close())
	look()
}

func TestFilesThatWerePlantedAreNotUsed(t *testing.T) {
	for _, name := range []string{DatabaseFile, DatabaseFile + "-wal", KeyFile, lockFile} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		if theirs(t, path) {
			_, err := Open(dir)
			require.ErrorContains(t, err, path+" belongs to the user with id 65534")
		}
	}
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, DatabaseFile), 0o600))
	_, err := Open(dir)
	require.ErrorContains(t, err, "not a plain file")
}

// The first admin's password is the server's own, or none.
func TestAPlantedFirstPasswordIsNotTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), passwordFile)
	password, err := firstPassword(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), modeOf(t, path))
	again, err := firstPassword(path)
	require.NoError(t, err)
	require.Equal(t, password, again, "a start that did not get further")

	require.NoError(t, os.Chmod(path, 0o644))
	_, err = firstPassword(path)
	require.ErrorContains(t, err, "can be read or written by others")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.Link(path, path+"-second"))
	_, err = firstPassword(path)
	require.ErrorContains(t, err, "has a second name")
	require.NoError(t, os.Remove(path+"-second"))
	require.NoError(t, os.Rename(path, path+"-real"))
	require.NoError(t, os.Symlink(path+"-real", path))
	_, err = firstPassword(path)
	require.Error(t, err, "a link")
	require.NoError(t, os.Remove(path))
	require.NoError(t, unix.Mkfifo(path, 0o600))
	_, err = firstPassword(path)
	require.ErrorContains(t, err, "not a plain file", "and nobody waits for it")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path, []byte("planted-password"), 0o600))
	if theirs(t, path) {
		_, err = firstPassword(path)
		require.ErrorContains(t, err, "belongs to the user with id 65534")
	}
}
