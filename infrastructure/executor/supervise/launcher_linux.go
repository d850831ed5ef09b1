package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/supervise/cgroup"
)

// Config says how helpers are started.
type Config struct {
	// Argv starts a process that calls Main. The launcher appends the arguments of Main.
	Argv []string
	// Env is added to the helper's environment, which is otherwise empty.
	Env []string
	// NodeID and Epoch mark the processes of this life of the node.
	NodeID string
	Epoch  int64
	// Lease is how long node and helper go on without a beat of the other. The default is 10 s.
	Lease time.Duration
	// Left is how long this process may act, unless it is told that it may longer: at the end of that its commands are
	// over, also where it is frozen. nil is without an end.
	Left func() time.Duration
	// Alone means that this program starts processes only through this launcher. Then a lost
	// helper left any other child of it, and the launcher ends that child, even when it hid its
	// mark and its origin.
	Alone bool
	// Groups means that control groups are used where this process may make them.
	Groups bool
	// UserProcesses is how many processes and threads the user of commands may have at least, where no control group
	// bounds those of a run. The default is 4,096.
	UserProcesses int64
}

// Launcher starts commands through a helper, and replaces a helper that dies or freezes. It
// implements command.Starter. Safe for concurrent use.
type Launcher struct {
	clock  clock.Clock
	logger *slog.Logger
	cfg    Config
	// groups is nil where this process may not make groups.
	groups *cgroup.Groups
	bounds processBounds

	mu     sync.Mutex
	closed bool
	number int
	life   *life
}

// New returns a launcher. The first command starts its first helper. Processes that its helpers
// lose become children of this process, so that it finds and ends them.
func New(c clock.Clock, logger *slog.Logger, cfg Config) (*Launcher, error) {
	if cfg.Lease <= 0 {
		cfg.Lease = 10 * time.Second
	}
	if cfg.UserProcesses <= 0 {
		cfg.UserProcesses = leastProcesses
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the reaper of what lost helpers leave behind: %w", err)
	}
	l := &Launcher{clock: c, logger: logger, cfg: cfg, bounds: processBounds{least: cfg.UserProcesses}}
	if cfg.Groups {
		var err error
		if l.groups, err = cgroup.Open(cfg.NodeID, cfg.Epoch); err != nil {
			logger.Debug("commands get no control groups of their own", "reason", err)
		}
	}
	return l, nil
}

// bound is how many processes the user of an account gets by default; 0 where a control group bounds each run.
func (l *Launcher) bound(a command.Account) int64 {
	if l.groups != nil && l.groups.ProcessesBound {
		return 0
	}
	return l.bounds.of(a)
}

// Holds names what ends the processes of a run of an account, and what bounds their memory and their number. Each is
// "cgroup", for a run as a whole, or "process tree" and "rlimit". Nothing but a control group bounds the number of
// processes of root: without one it is "none".
func (l *Launcher) Holds(a command.Account) (ending, memory, processes string) {
	ending, memory, processes = "process tree", "rlimit", "rlimit"
	if rootly(a) {
		processes = "none"
	}
	if l.groups == nil {
		return ending, memory, processes
	}
	if l.groups.MemoryBound {
		memory = "cgroup"
	}
	if l.groups.ProcessesBound {
		processes = "cgroup"
	}
	return "cgroup", memory, processes
}

// Sweep kills what other lives of this node left running, and returns the number of those
// processes. Call it before the first command, and before the runs of a former epoch are
// retried.
func (l *Launcher) Sweep() int {
	own := fmt.Sprintf("%s/%d/", l.cfg.NodeID, l.cfg.Epoch)
	var former []string
	if l.groups != nil {
		former = l.groups.Former()
	}
	return l.clear(nil, former, func(mark string) bool {
		return strings.HasPrefix(mark, l.cfg.NodeID+"/") && !strings.HasPrefix(mark, own)
	})
}

// clear kills processes until none is left: those of a family that still live, those in control
// groups, and those with an accepted mark. It then removes the groups.
func (l *Launcher) clear(known family, inside []string, accept func(mark string) bool) (killed int) {
	strangers := func() []int { return nil }
	if l.cfg.Alone && known != nil {
		strangers = l.strangers
	}
	seen := map[int]bool{}
	timer := l.clock.NewTimer(time.Millisecond)
	defer timer.Stop()
	for {
		left := 0
		members := append(append(known.alive(), marked(accept)...), strangers()...)
		for _, group := range inside {
			cgroup.Kill(group)
			members = append(members, cgroup.Members(group)...)
		}
		for _, pid := range members {
			seen[pid] = true
			left++
			signalAll(append(descendantsOf(pid), pid), syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // it may be ours by now
		}
		if left == 0 {
			for _, group := range inside {
				cgroup.Remove(group)
			}
			return len(seen)
		}
		<-timer.C()
		timer.Reset(time.Millisecond)
	}
}

// strangers returns the living children of this process that are no helper.
func (l *Launcher) strangers() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(childrenOf(os.Getpid()), func(pid int) bool {
		return identity(pid) == "" || l.life != nil && pid == l.life.cmd.Process.Pid && !l.life.over()
	})
}

// Start implements command.Starter. It returns when the process runs.
func (l *Launcher) Start(ctx context.Context, o command.Order) (command.Process, error) {
	defer o.Stdout.Close()
	defer o.Stderr.Close()
	h, err := l.current()
	if err != nil {
		return nil, err
	}
	env := append(append(make([]string, 0, len(o.Env)+2), o.Env...), helperMark+"="+h.mark, runMark+"="+o.ID)
	group, err := h.group(o.Limits)
	if err != nil {
		return nil, err
	}
	packed, err := packOrder(order{
		Mark: o.ID, Path: o.Path, Argv: o.Argv, Env: env, Dir: o.Dir, Account: o.Account, Limits: l.groups.Rest(o.Limits),
		Bound: l.bound(o.Account), Group: group,
	})
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	process, err := h.start(ctx, o.Stdout, o.Stderr, packed)
	if err != nil && group != "" {
		cgroup.Remove(group) // unless it has members, which the helper ends and removes
	}
	return process, err
}

// current returns the living helper, or a new one.
func (l *Launcher) current() (*life, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the server is stopping")
	}
	if l.life != nil && !l.life.over() {
		return l.life, nil
	}
	l.number++
	h, err := l.born(fmt.Sprintf("%s/%d/%d", l.cfg.NodeID, l.cfg.Epoch, l.number))
	if err != nil {
		return nil, err
	}
	l.life = h
	return h, nil
}

// born starts a helper.
func (l *Launcher) born(mark string) (*life, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the socket of the command helper: %w", err)
	}
	mine, theirs := os.NewFile(uintptr(fds[0]), "node"), os.NewFile(uintptr(fds[1]), "helper")
	defer mine.Close()
	defer theirs.Close()
	end, err := newLink(mine)
	if err != nil {
		return nil, err
	}
	// The mark stands among the arguments too. Another life of this node that is not root may
	// read those, but not the environment of a concealed process.
	argv := append(slices.Clone(l.cfg.Argv), strconv.FormatInt(l.cfg.Lease.Milliseconds(), 10), helperMark+"="+mark)
	cmd := &exec.Cmd{
		Path: argv[0], Args: argv, Env: append([]string{"GOMAXPROCS=2", helperMark + "=" + mark}, l.cfg.Env...),
		ExtraFiles: []*os.File{theirs}, Stderr: os.Stderr, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if err := cmd.Start(); err != nil {
		_ = end.conn.Close()
		return nil, fmt.Errorf("start the command helper: %w", err)
	}
	h := &life{
		launcher: l, mark: mark, number: l.number, link: end, cmd: cmd, processes: map[int]*process{},
		gone: make(chan struct{}), heard: l.clock.Monotonic(),
	}
	go h.listen()
	go h.beat()
	return h, nil
}

// Close ends the helper and all that it runs.
func (l *Launcher) Close() error {
	l.mu.Lock()
	l.closed = true
	h := l.life
	l.mu.Unlock()
	if h == nil {
		if l.groups != nil {
			l.groups.Close()
		}
		return nil
	}
	_ = h.link.conn.Close() // the helper ends everything and itself
	<-h.gone
	if l.groups != nil {
		l.groups.Close()
	}
	return nil
}
