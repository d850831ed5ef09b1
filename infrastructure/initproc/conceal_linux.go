package initproc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// privateMask removes all rights of others to new files.
const privateMask = 0o077

// Conceal protects this process from other processes of its user, such as its commands. They
// can neither read its environment, which may hold secrets, nor its memory, nor trace it. Files
// that it makes are for its user alone. It dumps no core. Call it once, at the start of a
// server.
func Conceal() error {
	unix.Umask(privateMask)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the environment and the memory of the server from others: %w", err)
	}
	return nil
}
