//go:build unix

package command

import (
	"io/fs"
	"os"
	"syscall"
)

// allocated is what a file takes on its disk, in bytes: a file with holes takes
// less than its length.
func allocated(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512 // the unit is fixed, whatever the disk's blocks are
	}
	return info.Size()
}

// owned reports whether a file belongs to the user of this process.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
