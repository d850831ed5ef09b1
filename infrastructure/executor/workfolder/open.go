package workfolder

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderFlags open a folder and nothing else, and follow no link.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openFolder opens a folder by its path.
func openFolder(path string) (*os.File, error) {
	fd, err := unix.Open(path, folderFlags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openIn opens a folder in another one.
func openIn(in *os.File, name string) (*os.File, error) {
	fd, err := unix.Openat(int(in.Fd()), name, folderFlags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// makeFolder makes a folder in another one, with access for this user alone, and opens it.
func makeFolder(in *os.File, name string) (*os.File, error) {
	if err := unix.Mkdirat(int(in.Fd()), name, 0o700); err != nil {
		return nil, err
	}
	folder, err := openIn(in, name)
	if err != nil {
		return nil, errors.Join(err, unix.Unlinkat(int(in.Fd()), name, unix.AT_REMOVEDIR))
	}
	return folder, nil
}

// owned reports whether a file belongs to the user of this process.
func owned(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
