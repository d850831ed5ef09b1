package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The marks that every process of a run carries in its environment.
const (
	// helperMark is node/epoch/number of the helper that started it.
	helperMark = "SCHEDULER_HELPER"
	// runMark is the order's id: execution, attempt and token.
	runMark = "SCHEDULER_RUN"
)

// childrenOf returns the processes whose parent is pid: those that it started, and orphans that
// it adopted as the nearest subreaper.
func childrenOf(pid int) []int {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	var out []int
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // the thread ended
		}
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// descendantsOf returns all processes below pid, nearest first.
func descendantsOf(pid int) []int {
	var out []int
	for queue := childrenOf(pid); len(queue) > 0; queue = queue[1:] {
		if slices.Contains(out, queue[0]) {
			continue
		}
		out = append(out, queue[0])
		queue = append(queue, childrenOf(queue[0])...)
	}
	return out
}

// identity tells a process from a later one with the same number. It is the moment of its
// start, in ticks since the start of the machine, or "" when the process is gone.
func identity(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything; the fields behind it have fixed places.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" {
		return ""
	}
	return fields[start]
}

// family holds the processes that were below a process: their numbers and identities.
type family map[int]string

func familyOf(pid int) family {
	f := family{}
	for _, p := range descendantsOf(pid) {
		if id := identity(p); id != "" {
			f[p] = id
		}
	}
	return f
}

// alive returns the members that still live and are the same processes.
func (f family) alive() []int {
	var out []int
	for pid, id := range f {
		if identity(pid) == id {
			out = append(out, pid)
		}
	}
	return out
}

// markOf reads a mark of a process from its environment. Where that cannot be read, as for a
// helper, it reads the arguments. It returns "" for a process without the mark.
func markOf(pid int, name string) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		data, err = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	}
	if err != nil {
		return ""
	}
	prefix := []byte(name + "=")
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if value, ok := bytes.CutPrefix(entry, prefix); ok {
			return string(value)
		}
	}
	return ""
}

// marked returns the processes whose helper's mark is accepted.
func marked(accept func(mark string) bool) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if mark := markOf(pid, helperMark); mark != "" && accept(mark) {
			out = append(out, pid)
		}
	}
	return out
}

// signalAll sends a signal to each process. A process that is gone is no error.
func signalAll(pids []int, signal syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, signal)
	}
}

// killTree kills all processes below pid. The next call finds processes that are born
// meanwhile; callers repeat it until nothing is left.
func killTree(pid int) (found int) {
	pids := descendantsOf(pid)
	signalAll(pids, syscall.SIGKILL)
	return len(pids)
}
