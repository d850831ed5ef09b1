// Package initproc makes the server a good citizen of whatever started it: the
// first process of a container, or a service of systemd.
package initproc

import (
	"os"
	"strings"
)

// childMark tells the server that its parent is this package.
const childMark = "PS_INIT_CHILD"

// Needed reports whether this process is the first of its machine or container
// and nobody else reaps orphans: it has number 1 and is not the child that Run
// started.
func Needed(pid int, environ []string) bool {
	for _, v := range environ {
		if strings.HasPrefix(v, childMark+"=") {
			return false
		}
	}
	return pid == 1
}

// Environ is the environment without the mark that Run leaves for its child.
func Environ(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, v := range environ {
		if !strings.HasPrefix(v, childMark+"=") {
			out = append(out, v)
		}
	}
	return out
}

// exitSignal is added to a signal's number for the exit code of what it ended.
const exitSignal = 128

// self is the program to start again.
func self() (string, error) { return os.Executable() }
