//go:build unix

package initproc

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// passedOn are the signals for the server.
var passedOn = []os.Signal{
	syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH,
	syscall.SIGCONT,
}

// Run starts this program again as its only child, passes signals on to it, and reaps every
// orphan. It returns the child's exit code, or 128 plus the signal that ended the child. When
// the first process of a container ends, the kernel ends the rest.
//
// The server cannot be the first process itself: a process that waits for every child also
// takes the ends that os/exec waits for.
func Run(args, environ []string) (code int, err error) {
	program, err := self()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	if err := Conceal(); err != nil { // its environment is that of the server
		return 0, err
	}
	// This comes before the start of the child, so that no signal is lost.
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

// reapUntil waits for every child, until that one has ended.
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
