package supervise

import (
	"fmt"
	"strings"
)

// shell sets the limits of a command on itself and then becomes the command. The helper cannot
// set them: for a process of another user that takes a capability that containers do not give.
// Limits on the helper itself would starve it.
const shell = "/bin/sh"

// limited returns what to execute so that the limits of an order hold from its first
// instruction on. Without limits that is the command itself.
func limited(o order) (path string, argv []string) {
	var set []string
	for _, l := range []struct {
		value  int64
		format string
	}{
		// The first limit ends the process by a signal of its own, which tells this end from
		// others. A process that ignores the signal is killed a second later.
		{o.Limits.CPUSec, "ulimit -S -t %[1]d && ulimit -H -t $((%[1]d + 1))"},
		{o.Limits.OpenFiles, "ulimit -n %d"},
		// By POSIX the unit is a block of 512 bytes, also where a shell has another unit of its
		// own.
		{o.Limits.FileMb << 11, "ulimit -f %d"},
		// Shells do not agree on the letter for the number of processes.
		{o.Limits.Processes, "{ ulimit -u %[1]d 2>/dev/null || ulimit -p %[1]d; }"},
		// This comes last, because what bounds the memory also bounds the shell.
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
