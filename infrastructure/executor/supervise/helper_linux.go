package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise/cgroup"
)

// linkFd is the descriptor of the helper's end of the socket pair.
const linkFd = 3

// leftoverGrace is the time between TERM and KILL for processes that a finished command left
// behind.
const leftoverGrace = 2 * time.Second

// helper is the process that starts commands. It runs on one goroutine bound to one thread,
// because the death signal of a child belongs to the thread that made the child.
type helper struct {
	clock clock.Clock
	link  *link
	lease time.Duration
	runs  map[int]*run // by the number that the node gave
	heard time.Duration
	// until is when the node must not act any more, as it said last; 0 is never.
	until time.Duration
	// restricted means that no process of this thread can gain rights any more.
	restricted bool
	// unbounded means that this system lets nobody stop a process at its beginning.
	unbounded bool
}

// run is one command and the processes that are left of it.
type run struct {
	number int
	pid    int
	mark   string
	// group is the folder of its control group, or empty.
	group string
	exit  *message
	// ended is when the command itself was reaped. The processes that it left are then asked to
	// end.
	ended  time.Duration
	warned bool
}

// Main is the helper. It returns when the node has closed its end, or was not heard for the
// lease, and no process of the commands is left. args holds the lease in milliseconds.
func Main(args []string) error {
	runtime.LockOSThread()
	debug.SetGCPercent(50)
	if len(args) != 2 {
		return fmt.Errorf("the command helper is started by the server, with its lease and its mark")
	}
	ms, err := strconv.Atoi(args[0])
	if err != nil || ms <= 0 {
		return fmt.Errorf("the lease %q is no number of milliseconds", args[0])
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper of what commands leave behind: %w", err)
	}
	peak, _ := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0) // what conceals the process closes it to its own user
	if err := conceal(); err != nil {
		return err
	}
	// The node passes on a terminal's interrupt and a polite kill. The helper catches them and
	// does not ignore them: every command would inherit an ignored signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	syscall.Umask(0o077)
	// No command writes its memory to the disk: children inherit this limit.
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	file := os.NewFile(linkFd, "link")
	l, err := newLink(file)
	if err != nil {
		return err
	}
	_ = file.Close()
	c := clock.NewSystem()
	h := &helper{
		clock: c, link: l, lease: time.Duration(ms) * time.Millisecond, runs: map[int]*run{},
		heard: c.Monotonic(),
	}
	forgetStart()
	// A command inherits the most memory that this process had in use, as the least that its own can be.
	_, _ = peak.WriteString("5")
	_ = peak.Close()
	return h.serve()
}

// packet is what the reading goroutine passes on.
type packet struct {
	message
	files []*os.File
}

// tick is the time between two checks of the leftovers and of the lease.
const tick = 50 * time.Millisecond

func (h *helper) serve() error {
	packets := make(chan packet, 64)
	go func() {
		defer close(packets)
		for {
			m, files, err := h.link.receive()
			if err != nil {
				return
			}
			packets <- packet{m, files}
		}
	}()
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	timer := h.clock.NewTimer(tick)
	defer timer.Stop()
	for h.clock.Monotonic()-h.heard < h.lease && !h.late() {
		select {
		case p, ok := <-packets:
			if !ok {
				h.killAll()
				return nil
			}
			h.heard = h.clock.Monotonic()
			if p.Verb == beat || p.Verb == doStart {
				h.until = 0
				if p.LeftMs > 0 {
					h.until = h.heard + time.Duration(p.LeftMs)*time.Millisecond
				}
			}
			h.obey(p)
		case <-died:
			h.reap()
		case <-timer.C():
			h.reap()
			timer.Reset(tick)
		}
	}
	late := h.late()
	h.killAll()
	if late {
		return errors.New("the time is over for which the server may run commands")
	}
	return fmt.Errorf("the server was not heard for %s", h.lease)
}

// late reports whether commands run for which the node must not act any more.
func (h *helper) late() bool {
	return len(h.runs) > 0 && h.until > 0 && h.clock.Monotonic() >= h.until
}

func (h *helper) obey(p packet) {
	switch p.Verb {
	case beat:
		h.tell(message{Verb: beat})
	case doSignal:
		if r := h.runs[p.Run]; r != nil {
			_ = syscall.Kill(-r.pid, syscall.Signal(p.Signal))
			signalAll(append(append(descendantsOf(r.pid), h.orphansOf(r)...), r.members()...), syscall.Signal(p.Signal))
			if r.group != "" && syscall.Signal(p.Signal) == syscall.SIGKILL {
				cgroup.Kill(r.group)
			}
		}
	case doStart:
		h.start(p)
	}
}

// tell sends a message to the node. When that fails, the node is gone, and the reading side
// finds out.
func (h *helper) tell(m message) { _ = h.link.send(m) }

func (h *helper) start(p packet) {
	defer func() {
		for _, f := range p.files {
			_ = f.Close()
		}
	}()
	if len(p.files) != 3 {
		h.tell(message{Verb: didFail, Run: p.Run, Error: "the order came without its pipes"})
		return
	}
	o, err := unpackOrder(p.files[2])
	if err == nil {
		err = h.fork(p.Run, o, p.files[0], p.files[1])
	}
	if err != nil {
		h.tell(message{Verb: didFail, Run: p.Run, Error: err.Error(), Cause: causeOf(err)})
		return
	}
	h.tell(message{Verb: didStart, Run: p.Run})
}

func (h *helper) fork(number int, o order, stdout, stderr *os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	attr := &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: []uintptr{null.Fd(), stdout.Fd(), stderr.Fd()},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if !h.restricted && !rootly(o.Account) {
		if err := restrict(); err != nil {
			return err
		}
		h.restricted = true
	}
	if o.Account.Change {
		attr.Sys.Credential = &syscall.Credential{Uid: o.Account.UID, Gid: o.Account.GID, Groups: o.Account.Groups}
	}
	if o.Group != "" {
		group, err := os.Open(o.Group)
		if err != nil {
			return fmt.Errorf("open the control group of the run: %w", err)
		}
		defer group.Close()
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(group.Fd())
	}
	pid, path, err := h.launch(o, attr)
	if err != nil {
		return refused(path, attr, err)
	}
	h.runs[number] = &run{number: number, pid: pid, mark: o.Mark, group: o.Group}
	return nil
}

// rootly reports whether commands of an account run as root.
func rootly(a command.Account) bool {
	if a.Change {
		return a.UID == 0
	}
	return os.Geteuid() == 0
}

// refused tells which is wrong, the folder or the program: the kernel has one error for both.
// So it starts a shell in the folder, as the same user. The shell ends at once, and is reaped
// like all leftovers.
func refused(path string, attr *syscall.ProcAttr, err error) error {
	errno, ok := err.(syscall.Errno) //nolint:errorlint // ForkExec returns it as it is
	if !ok || !slices.Contains([]syscall.Errno{
		syscall.ENOENT, syscall.EACCES, syscall.ENOTDIR, syscall.ELOOP,
		syscall.ENOEXEC,
	}, errno) {
		return fmt.Errorf("%s: %w", path, err)
	}
	sys := *attr.Sys
	sys.UseCgroupFD = false
	null := attr.Files[0]
	probe := &syscall.ProcAttr{Dir: attr.Dir, Files: []uintptr{null, null, null}, Sys: &sys}
	if _, err := syscall.ForkExec(shell, []string{"sh", "-c", ":"}, probe); err != nil {
		return &startError{attr.Dir + ": " + err.Error(), command.ErrFolder}
	}
	return &startError{path + ": " + err.Error(), command.ErrProgram}
}
