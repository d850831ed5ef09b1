package supervise

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// conceal keeps other processes of the same user from the memory and the
// environment of this one, and what it inherited from the processes it starts:
// nobody says what the starter of the server had open.
func conceal() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("keep the memory of the helper from others: %w", err)
	}
	if err := closeOnExec(linkFd + 1); err != nil {
		return fmt.Errorf("keep what the helper inherited from commands: %w", err)
	}
	return nil
}

// closeOnExec marks the descriptors from first on, so that no program that is
// executed has them.
func closeOnExec(first int) error {
	err := unix.CloseRange(uint(first), ^uint(0), unix.CLOSE_RANGE_CLOEXEC)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	// A kernel before 5.11.
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

// restrict takes from the calling thread, and from all that it starts, every
// way to more rights: setuid programs and file capabilities have no effect.
// What this thread may do itself stays as it is.
func restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("keep commands from gaining rights: %w", err)
	}
	// What an administrator gave the server alone is not for its commands.
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) {
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
