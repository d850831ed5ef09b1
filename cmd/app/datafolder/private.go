package datafolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// othersMay are the rights of everybody but the owner; othersWrite are those to
// write.
const (
	othersMay   = 0o077
	groupWrites = 0o020
	othersWrite = 0o002
)

// storeFiles are the files of a data folder that are the server's alone.
func storeFiles() []string {
	return []string{
		DatabaseFile, DatabaseFile + "-wal", DatabaseFile + "-shm", DatabaseFile + "-journal",
		DatabaseFile + "-migrate", lockFile, KeyFile,
	}
}

// secureFolder sees to it that nobody else can put files into a data folder:
// rights to write are taken away where the folder is this user's own, and the
// folder is refused where that cannot be done. Others may list it.
func secureFolder(path string) (mended string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("look at the data folder: %w", err)
	}
	owner, group := ownerOf(info)
	if owner != os.Geteuid() && owner != 0 {
		return "", fmt.Errorf("the data folder %s belongs to the user with id %d: run as that user, give it to this one "+
			"(chown), or choose another folder with dataDir (PS_DATA_DIR)", path, owner)
	}
	if !othersCanWrite(info.Mode(), group) {
		return "", nil
	}
	const remedy = "make it private (chmod 700), or choose another one with dataDir (PS_DATA_DIR)"
	if owner != os.Geteuid() || info.Mode()&fs.ModeSticky != 0 {
		return "", fmt.Errorf("others can write in the data folder %s: %s", path, remedy)
	}
	if err := os.Chmod(path, info.Mode().Perm()&^(groupWrites|othersWrite)); err != nil {
		return "", fmt.Errorf("others can write in the data folder %s: %w; %s", path, err, remedy)
	}
	// Some file systems take a change of mode without a word, and keep theirs.
	if info, err = os.Stat(path); err != nil || othersCanWrite(info.Mode(), group) {
		return "", fmt.Errorf("others can write in the data folder %s, and its file system does not let that be changed: %s",
			path, remedy)
	}
	return fmt.Sprintf("others could write in the data folder %s: it was made private", path), nil
}

// othersCanWrite leaves out the group that this process itself is in: that of a
// user alone, or the one that a volume of a container is mounted with.
func othersCanWrite(mode fs.FileMode, group int) bool {
	return mode&othersWrite != 0 || mode&groupWrites != 0 && group != os.Getegid()
}

// secureFiles makes the files of the store private, and refuses those of
// others: they were planted.
func secureFiles(folder string) (mended []string, err error) {
	for _, name := range storeFiles() {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", path, err)
		}
		if err := plainAndOwn(path, info); err != nil {
			return nil, err
		}
		// Keys that others could read are no secret any more: who reads them says so.
		if info.Mode().Perm()&othersMay == 0 || name == KeyFile {
			continue
		}
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, fmt.Errorf("others can read %s: %w; make the file private (chmod 600)", path, err)
		}
		if info, err = os.Stat(path); err != nil || info.Mode().Perm()&othersMay != 0 {
			return nil, fmt.Errorf("others can read %s, and its file system does not let that be changed: choose another data "+
				"folder with dataDir (PS_DATA_DIR)", path)
		}
		mended = append(mended, fmt.Sprintf("others could read %s: it was made private", path))
	}
	return mended, nil
}

// plainAndOwn refuses what is no file of this user's.
func plainAndOwn(path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file: remove it", path)
	}
	if owner, _ := ownerOf(info); owner != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user with id %d: give it to the user of the server (chown) if you know it, or "+
			"remove it", path, owner)
	}
	return nil
}

func ownerOf(info fs.FileInfo) (user, group int) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, -1
	}
	return int(stat.Uid), int(stat.Gid)
}

// readPrivate reads a file that must be this user's alone, under one name.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := plainAndOwn(path, info); err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm()&othersMay != 0 || !ok || stat.Nlink != 1 {
		return nil, fmt.Errorf("%s can be read or written by others, or has a second name: it may have been planted, "+
			"remove it", path)
	}
	const most = 4 << 10
	if info.Size() > most {
		return nil, fmt.Errorf("%s holds more than %d bytes: remove it", path, most)
	}
	text := make([]byte, info.Size())
	n, err := f.ReadAt(text, 0)
	return text[:n], err
}
