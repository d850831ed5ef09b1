// Package initproc serves what started the server: a container, whose first process reaps
// orphans, or systemd, which wants to know the state of a service.
package initproc

import (
	"os"
	"strings"
)

// childMark tells the server that this package started it.
const childMark = "PS_INIT_CHILD"

// Needed reports whether this process must reap orphans. That is so when it has number 1 and is
// not the child that Run started.
func Needed(pid int, environ []string) bool {
	for _, v := range environ {
		if strings.HasPrefix(v, childMark+"=") {
			return false
		}
	}
	return pid == 1
}

// Environ returns the environment without the mark that Run sets for its child.
func Environ(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, v := range environ {
		if !strings.HasPrefix(v, childMark+"=") {
			out = append(out, v)
		}
	}
	return out
}

// exitSignal plus the number of a signal is the exit code of a process that the signal ended.
const exitSignal = 128

// self returns the path of this program.
func self() (string, error) { return os.Executable() }
