package supervise

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// Without the controller pids the kernel bounds the processes and threads of a user alone, whatever started them. A
// command without a limit of its own gets so many, and spareProcesses beside what its user had before.
const (
	leastProcesses = 4096
	spareProcesses = 1024
)

// processBounds knows the bound of each user. It is computed when the first command of the user starts.
type processBounds struct {
	least int64
	mu    sync.Mutex
	byUID map[uint32]int64
}

// of is how many processes the user of an account may have while its commands run; 0: nothing is to be set. Root has
// no bound, and where the system's own bound is lower, that one holds.
func (b *processBounds) of(a command.Account) int64 {
	if rootly(a) {
		return 0
	}
	uid := uint32(os.Geteuid()) //nolint:gosec // the kernel's own width
	if a.Change {
		uid = a.UID
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.byUID[uid]; ok {
		return known
	}
	if b.byUID == nil {
		b.byUID = map[uint32]int64{}
	}
	bound := max(b.least, threadsOf(uid)+spareProcesses)
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &own); err == nil && own.Max < uint64(bound) {
		bound = 0
	}
	b.byUID[uid] = bound
	return bound
}

// threadsOf counts the threads of a user, as far as this process may see them.
func threadsOf(uid uint32) (n int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, file := range files {
		data, err := os.ReadFile(file) //nolint:gosec // a path of the kernel
		if err != nil {
			continue // it has ended
		}
		own, threads := false, int64(0)
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(line, ":")
			fields := strings.Fields(value)
			switch {
			case len(fields) == 0:
			case name == "Uid":
				own = fields[0] == strconv.FormatUint(uint64(uid), 10)
			case name == "Threads":
				threads, _ = strconv.ParseInt(fields[0], 10, 64)
			}
		}
		if own {
			n += threads
		}
	}
	return n
}

// errNoStop means that the system lets nobody stop a process at its beginning, errNoBound that it lets nobody bound a
// process of another user, as in most containers. Then the program is known to be one, and has not begun.
var (
	errNoStop  = errors.New("the system forbids to stop a process at its beginning")
	errNoBound = errors.New("the system forbids to bound a process of another user")
)

// begin starts a process that has the bound from its first instruction on. The kernel stops it after it has become the
// program; then the bound is set from outside, so that nothing else about the start changes.
func begin(path string, argv []string, attr *syscall.ProcAttr, bound int64) (pid int, err error) {
	sys := *attr.Sys
	sys.Ptrace = true
	stopped := *attr
	stopped.Sys = &sys
	pid, err = syscall.ForkExec(path, argv, &stopped)
	if err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
			return 0, errNoStop
		}
		return 0, err
	}
	var status syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil || !status.Stopped() {
		return 0, errNoStop // it was ended before its first instruction
	}
	limit := unix.Rlimit{Cur: uint64(bound), Max: uint64(bound)} //nolint:gosec // it is above 4,095
	if err = unix.Prlimit(pid, unix.RLIMIT_NPROC, &limit, nil); err == nil {
		if err = syscall.PtraceDetach(pid); err == nil {
			return pid, nil
		}
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	_, _ = syscall.Wait4(pid, &status, 0, nil)
	return 0, fmt.Errorf("%w: %w", errNoBound, err)
}

// launch starts the program of an order with its limits. A shell sets those that the order has, and the default bound
// where this system does not let the helper do so.
func (h *helper) launch(o order, attr *syscall.ProcAttr) (pid int, path string, err error) {
	if o.Limits == (command.Limits{}) && o.Bound > 0 && !h.unbounded {
		pid, err = begin(o.Path, o.Argv, attr, o.Bound)
		if h.unbounded = errors.Is(err, errNoStop); !h.unbounded && !errors.Is(err, errNoBound) {
			return pid, o.Path, err
		}
	}
	if o.Limits.Processes == 0 {
		o.Limits.Processes = o.Bound
	}
	path, argv := limited(o)
	pid, err = syscall.ForkExec(path, argv, attr)
	return pid, path, err
}
