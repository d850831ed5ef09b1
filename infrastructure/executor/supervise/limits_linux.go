package supervise

import (
	"fmt"
	"strings"
)

// shell sets the limits of a command on itself and becomes it. The helper
// cannot: setting limits on a process of another user takes a capability that
// containers do not give, and setting its own would starve the helper.
const shell = "/bin/sh"

// limited is what to execute so that the limits of an order hold from its first
// instruction on. Without limits that is the command itself.
func limited(o order) (path string, argv []string) {
	var set []string
	for _, l := range []struct {
		value  int64
		format string
	}{
		// The first limit ends it by a signal of its own, which tells it from other
		// ends; one that is deaf to that signal is killed a second later.
		{o.Limits.CPUSec, "ulimit -S -t %[1]d && ulimit -H -t $((%[1]d + 1))"},
		{o.Limits.OpenFiles, "ulimit -n %d"},
		// POSIX: in blocks of 512 bytes, also where a shell has another unit of its own.
		{o.Limits.FileMb << 11, "ulimit -f %d"},
		// The number of processes has no letter that all shells agree on.
		{o.Limits.Processes, "{ ulimit -u %[1]d 2>/dev/null || ulimit -p %[1]d; }"},
		// Last: what bounds the memory bounds the shell too.
		{o.Limits.MemoryMb << 10, "ulimit -v %d"},
	} {
		if l.value > 0 {
			set = append(set, fmt.Sprintf(l.format, l.value))
		}
	}
	if len(set) == 0 {
		return o.Path, o.Argv
	}
	script := strings.Join(set, " && ") + ` || { echo "the limits of this command cannot be set" >&2; exit 126; }
[ -f "$0" ] && [ -x "$0" ] || { echo "the program $0 is not installed on this node, or is not executable" >&2; exit 127; }
exec "$0" "$@"`
	return shell, append([]string{"sh", "-c", script, o.Path}, o.Argv[1:]...)
}
