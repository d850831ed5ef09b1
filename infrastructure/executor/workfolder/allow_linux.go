package workfolder

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// allow lets this user into a folder that it owns. The descriptor of the folder needs no right
// to the folder, and is no link.
func allow(in *os.File, name string) error {
	fd, err := unix.Openat(int(in.Fd()), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700) //nolint:gosec // a folder must be entered to be emptied
}
