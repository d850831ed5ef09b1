//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// armed is the point of PS_FAILPOINT, read once at the first hit.
var armed = sync.OnceValue(func() *point { return parse(os.Getenv("PS_FAILPOINT")) })

type point struct {
	mu     sync.Mutex
	name   string
	action string
	left   int
}

// parse reads "name=action@N"; anything else arms nothing.
func parse(s string) *point {
	name, rest, ok := strings.Cut(s, "=")
	if !ok {
		return nil
	}
	action, count, ok := strings.Cut(rest, "@")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 {
		return nil
	}
	return &point{name: name, action: action, left: n}
}

// hit counts, and reports whether this is the armed hit.
func (p *point) hit(name string) bool {
	if p == nil || p.name != name {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left--
	return p.left == 0
}

// Hit marks the point "tx.step". It kills the process, or returns
// ErrReplyLost, when this hit is the armed one. Safe for concurrent use.
func Hit(tx, step string) error {
	p := armed()
	if !p.hit(tx + "." + step) {
		return nil
	}
	switch p.action {
	case "kill":
		fmt.Fprintln(os.Stderr, "failpoint: killing the process at", p.name)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "replylost":
		return ErrReplyLost
	}
	return nil
}
