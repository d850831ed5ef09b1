package supervise

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// life is one helper, from the view of the node.
type life struct {
	launcher *Launcher
	mark     string
	// number tells it from other helpers of this life of the node.
	number int
	link   *link
	cmd    *exec.Cmd
	// gone is closed when the helper has ended and no process of it is left.
	gone chan struct{}

	mu        sync.Mutex
	next      int
	opened    int
	processes map[int]*process
	heard     time.Duration
	lost      bool
	// seen are the processes below the helper at the last beat. They find a process that hid its
	// mark and lost its parent, unless it did both since then.
	seen family
}

// process implements command.Process.
type process struct {
	life   *life
	number int
	begun  chan error
	exit   chan message
}

// over reports that this helper cannot start anything any more.
func (h *life) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

func (h *life) start(ctx context.Context, stdout, stderr, packed *os.File) (command.Process, error) {
	h.mu.Lock()
	if h.lost {
		h.mu.Unlock()
		return nil, command.ErrHelperLost
	}
	h.next++
	p := &process{life: h, number: h.next, begun: make(chan error, 1), exit: make(chan message, 1)}
	h.processes[p.number] = p
	h.mu.Unlock()
	begin := message{Verb: doStart, Run: p.number, LeftMs: h.launcher.left()}
	if err := h.link.send(begin, stdout, stderr, packed); err != nil {
		h.forget(p.number)
		return nil, fmt.Errorf("send an order to the command helper: %w", err)
	}
	select {
	case err := <-p.begun:
		if err != nil {
			h.forget(p.number)
			return nil, err
		}
		return p, nil
	case <-h.gone:
		return nil, command.ErrHelperLost
	case <-ctx.Done():
		// The command may begin at any moment; then it is ended, not abandoned.
		go func() {
			if err := <-p.begun; err == nil {
				_ = p.Stop(syscall.SIGKILL)
				_, _ = p.Wait()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

// group makes the control group of the next run; the name is empty where there are no groups.
func (h *life) group(l command.Limits) (string, error) {
	if h.launcher.groups == nil {
		return "", nil
	}
	h.mu.Lock()
	h.opened++
	name := fmt.Sprintf("%d-%d", h.number, h.opened)
	h.mu.Unlock()
	return h.launcher.groups.Open(name, l)
}

func (h *life) forget(number int) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.processes[number]
	delete(h.processes, number)
	return p
}

// listen takes the helper's messages until the helper is lost, and then clears up.
func (h *life) listen() {
	for {
		m, _, err := h.link.receive()
		if err != nil {
			break
		}
		h.mu.Lock()
		h.heard = h.launcher.clock.Monotonic()
		p := h.processes[m.Run]
		h.mu.Unlock()
		switch {
		case m.Verb == didExit:
			if p = h.forget(m.Run); p != nil {
				p.exit <- m
			}
		case p == nil:
		case m.Verb == didStart:
			p.begun <- nil
		case m.Verb == didFail:
			p.begun <- m.failure()
		}
	}
	h.bury()
}

// bury ends what is left of a helper, and then the waits for its commands: no run may be
// retried while a process of it still works.
func (h *life) bury() {
	l := h.launcher
	h.mu.Lock()
	h.lost = true
	running := len(h.processes)
	h.mu.Unlock()
	_ = h.link.conn.Close()
	timer := l.clock.NewTimer(l.cfg.Lease)
	defer timer.Stop()
	ended := make(chan struct{})
	go func() {
		_ = h.cmd.Wait()
		close(ended)
	}()
	if !l.isClosed() {
		h.look()
		_ = h.cmd.Process.Kill() // dead or frozen: it is of no more use
	}
	select {
	case <-ended:
	case <-timer.C():
		_ = h.cmd.Process.Kill()
		<-ended
	}
	h.mu.Lock()
	seen := h.seen
	if seen == nil {
		seen = family{}
	}
	h.mu.Unlock()
	var inside []string
	if l.groups != nil {
		inside = l.groups.Runs(h.number)
	}
	left := l.clear(seen, inside, func(mark string) bool { return mark == h.mark })
	if !l.isClosed() {
		l.logger.Error("the command helper is gone; what it ran was ended", "helper", h.mark, "commands", running,
			"processes", left)
	}
	h.mu.Lock()
	lost := h.processes
	h.processes = map[int]*process{}
	h.mu.Unlock()
	close(h.gone)
	for _, p := range lost {
		select {
		case p.begun <- command.ErrHelperLost:
		default:
		}
	}
}

// look records what runs below the helper, unless the helper is dead.
func (h *life) look() {
	seen := familyOf(h.cmd.Process.Pid)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(seen) > 0 || len(h.processes) == 0 {
		h.seen = seen
	}
}

func (l *Launcher) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// left is how long this process may act, in whole milliseconds from 1; 0 is without an end.
func (l *Launcher) left() int64 {
	if l.cfg.Left == nil {
		return 0
	}
	return max(l.cfg.Left().Milliseconds(), 1)
}

// beat tells the helper that the node lives, and checks that the helper lives.
func (h *life) beat() {
	l := h.launcher
	timer := l.clock.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-h.gone:
			return
		case <-timer.C():
		}
		h.mu.Lock()
		silent := l.clock.Monotonic() - h.heard
		h.mu.Unlock()
		if silent > l.cfg.Lease {
			l.logger.Error("the command helper does not answer", "helper", h.mark, "silent", silent.String())
			h.look()
			_ = h.cmd.Process.Kill() // the closed socket wakes the listener
			return
		}
		h.look()
		_ = h.link.send(message{Verb: beat, LeftMs: l.left()}) // the listener sees why it failed
		// The next beat comes before the lease ends; otherwise a frozen helper would get one beat
		// more.
		timer.Reset(min(l.cfg.Lease/5, max(l.cfg.Lease-silent, time.Millisecond)))
	}
}

// Stop implements command.Process.
func (p *process) Stop(signal syscall.Signal) error {
	if err := p.life.link.send(message{Verb: doSignal, Run: p.number, Signal: int(signal)}); err != nil {
		return fmt.Errorf("pass a signal on to the command helper: %w", err)
	}
	return nil
}

// Wait implements command.Process.
func (p *process) Wait() (command.Exit, error) {
	select {
	case m := <-p.exit:
		return exitOf(m), nil
	case <-p.life.gone:
	}
	select {
	case m := <-p.exit: // its end came before the helper's
		return exitOf(m), nil
	default:
		return command.Exit{}, command.ErrHelperLost
	}
}

func exitOf(m message) command.Exit {
	return command.Exit{
		Code: m.Code, Signal: syscall.Signal(m.Signal), CPU: time.Duration(m.CPUMs) * time.Millisecond,
		OutOfMemory: m.OOM, Memory: m.Memory,
	}
}
