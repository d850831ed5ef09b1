package supervise

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetStart gives back memory that the start of the program used and the helper does not need
// again. The helper is the whole binary; the start of its packages touches about 17 MB of it.
// forgetStart drops pages that come from a file and were never written. When they are needed,
// they are read again from the page cache.
func forgetStart() {
	debug.FreeOSMemory()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range droppable(string(maps)) {
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.size, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ start, size uintptr }

// droppable finds, in the text of /proc/self/smaps, the private mappings of files that cannot
// be written and never were. A loader writes into some mappings before it closes them (RELRO),
// and those would lose their content.
func droppable(smaps string) []mapping {
	var out []mapping
	var current mapping
	candidate := false
	for line := range strings.Lines(smaps) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if first, end, ok := addresses(fields[0]); ok {
			current, candidate = mapping{first, end - first}, len(fields) >= 6 && unwritable(fields[1]) &&
				strings.HasPrefix(fields[5], "/")
			continue
		}
		// "Anonymous" counts the pages that are no longer those of the file.
		if candidate && fields[0] == "Anonymous:" {
			if len(fields) > 1 && fields[1] == "0" {
				out = append(out, current)
			}
			candidate = false
		}
	}
	return out
}

// unwritable reports a private mapping that can be read and not written.
func unwritable(permissions string) bool {
	return len(permissions) == 4 && permissions[0] == 'r' && permissions[1] == '-' && permissions[3] == 'p'
}

// addresses reads the range at the head of a mapping, such as 00400000-0049a000.
func addresses(text string) (first, end uintptr, ok bool) {
	from, to, found := strings.Cut(text, "-")
	a, errA := strconv.ParseUint(from, 16, 64)
	b, errB := strconv.ParseUint(to, 16, 64)
	return uintptr(a), uintptr(b), found && errA == nil && errB == nil && b > a
}
