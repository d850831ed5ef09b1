//go:build unix && !linux

package workfolder

import (
	"os"

	"golang.org/x/sys/unix"
)

// allow lets this user into a folder that it owns.
func allow(in *os.File, name string) error {
	return unix.Fchmodat(int(in.Fd()), name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}
