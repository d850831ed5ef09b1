package initproc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// privateMask takes all rights to new files from others.
const privateMask = 0o077

// Conceal keeps what this process knows and makes to itself. Other processes of
// the same user, its commands among them, can then neither read its environment,
// which may hold secrets, nor its memory, nor trace it; files it makes are for
// its user alone. No core is dumped. It is called once, at the start of a server.
func Conceal() error {
	unix.Umask(privateMask)
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the environment and the memory of the server from others: %w", err)
	}
	return nil
}
