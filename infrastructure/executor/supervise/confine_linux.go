package supervise

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// conceal keeps the memory and the environment of this process from other processes of its
// user. It also keeps inherited descriptors from the processes that it starts: the starter of
// the server may have had anything open.
func conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the memory of the helper from others: %w", err)
	}
	if err := closeOnExec(linkFd + 1); err != nil {
		return fmt.Errorf("keep what the helper inherited from commands: %w", err)
	}
	return nil
}

// closeOnExec marks the descriptors from first on, so that no executed program has them.
func closeOnExec(first int) error {
	err := unix.CloseRange(uint(first), ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	// This kernel is older than 5.11.
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// restrict keeps the calling thread, and all that it starts, from more rights: setuid programs
// and file capabilities have no effect. The thread's own rights stay as they are.
func restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep commands from gaining rights: %w", err)
	}
	// An administrator gave these capabilities to the server, not to its commands.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil &&
		!errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("keep commands from the server's capabilities: %w", err)
	}
	for capability := uintptr(0); ; capability++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL):
			return nil // there are no more
		case errors.Is(err, unix.EPERM):
			return nil // this thread has none to give either
		case err != nil:
			return fmt.Errorf("keep commands from capabilities: %w", err)
		}
	}
}
