//go:build unix

package initproc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// passedOn are the signals that mean the server.
var passedOn = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
}

// Run starts this program again as its only child, passes signals on to it,
// reaps every orphan that becomes its own, and returns the child's exit code,
// or 128 and the number of the signal that ended it. The kernel ends what is
// left when the first process of a container ends.
//
// The server cannot be the first process itself: whoever waits for every child
// takes the ends of those that os/exec waits for.
func Run(args, environ []string) (code int, err error) {
	program, err := self()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	if err := Conceal(); err != nil { // its environment is that of the server
		return 0, err
	}
	// Before the child runs: a signal that comes at once must not be lost.
	signals := make(chan os.Signal, 32)
	signal.Notify(signals, passedOn...)
	defer signal.Stop(signals)
	pid, err := syscall.ForkExec(program, append([]string{os.Args[0]}, args...), &syscall.ProcAttr{
		Env: append(Environ(environ), childMark+"=1"), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", program, err)
	}
	ended := make(chan syscall.WaitStatus)
	go func() { ended <- reapUntil(pid) }()
	for {
		select {
		case s := <-signals:
			if number, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(pid, number) // it may just have ended
			}
		case status := <-ended:
			if status.Signaled() {
				return exitSignal + int(status.Signal()), nil
			}
			return status.ExitStatus(), nil
		}
	}
}

// reapUntil waits for every child until that one has ended.
func reapUntil(pid int) syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // no child is left, which cannot be before that one
			return status
		case got == pid && (status.Exited() || status.Signaled()):
			return status
		}
	}
}
