//go:build unix

package connlimit

import "syscall"

// OpenFiles returns how many files this process may open; ok is false where the system does not
// tell.
func OpenFiles() (n uint64, ok bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true //nolint:unconvert // signed on some systems
}
