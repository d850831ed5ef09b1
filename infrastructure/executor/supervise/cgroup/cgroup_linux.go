// Package cgroup makes control groups (cgroup v2), one for each run of a command. A process
// cannot leave its group, and the kernel ends a group at one stroke. It needs Linux.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/executor/command"
)

// Groups are the control groups of this life of the node. A nil *Groups stands for a node
// that may not make groups; only Rest takes it.
type Groups struct {
	base string
	// name begins the folders of all lives of this node; own is the folder of this one.
	name, own string
	// MemoryBound and ProcessesBound report which limits the kernel applies to a group.
	MemoryBound, ProcessesBound bool
}

// defaultPids bounds the processes of a run without a limit of its own, so that a fork
// bomb ends in its own group.
const defaultPids = 4096

// Open finds the place where this process may make groups. The error says why there is
// no such place.
func Open(nodeID string, epoch int64) (*Groups, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	base, err := groupFolder(string(mounts), string(own))
	if err != nil {
		return nil, err
	}
	return makeGroups(base, nodeID, epoch)
}

// groupFolder returns the folder of this process's own group. It reads the texts of
// /proc/self/mountinfo and /proc/self/cgroup.
func groupFolder(mounts, own string) (string, error) {
	path := ""
	for line := range strings.Lines(own) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			path = rest
		}
	}
	for line := range strings.Lines(mounts) {
		head, tail, found := strings.Cut(line, " - ")
		fields, kind := strings.Fields(head), strings.Fields(tail)
		if !found || len(fields) < 5 || len(kind) < 1 || kind[0] != "cgroup2" || path == "" {
			continue
		}
		// A container may see only a part of the tree, as if it were the whole.
		inside, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/"))
		if ok && !strings.Contains(inside, "..") {
			return filepath.Join(fields[4], inside), nil
		}
	}
	return "", errors.New("there are no control groups of version 2")
}

// makeGroups makes the group of this life below base.
func makeGroups(base, nodeID string, epoch int64) (*Groups, error) {
	g := &Groups{base: base, name: "platform-scheduler-" + nodeID + "-"}
	g.own = filepath.Join(base, g.name+strconv.FormatInt(epoch, 10))
	if err := os.Mkdir(g.own, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // the kernel's own mode
		return nil, err
	}
	g.enable()
	return g, nil
}

// enable switches on the controllers that bound groups. A group that holds processes cannot
// pass controllers on. So this process first moves into a group of its own, if it is alone
// in its present one: a service manager delegated that group.
func (g *Groups) enable() {
	file := filepath.Join(g.base, "cgroup.subtree_control")
	for _, controller := range []string{"memory", "pids"} {
		err := os.WriteFile(file, []byte("+"+controller), 0) //nolint:gosec // the file exists
		if errors.Is(err, unix.EBUSY) && g.stepInside() == nil {
			err = os.WriteFile(file, []byte("+"+controller), 0) //nolint:gosec // the file exists
		}
		if err == nil {
			_ = os.WriteFile(filepath.Join(g.own, "cgroup.subtree_control"), []byte("+"+controller),
				0) //nolint:gosec // the file exists
		}
	}
	inner := readLine(filepath.Join(g.own, "cgroup.subtree_control"))
	g.MemoryBound, g.ProcessesBound = slices.Contains(strings.Fields(inner), "memory"),
		slices.Contains(strings.Fields(inner), "pids")
}

func (g *Groups) stepInside() error {
	self := strconv.Itoa(os.Getpid())
	if procs := strings.Fields(readLine(filepath.Join(g.base, "cgroup.procs"))); len(procs) != 1 || procs[0] != self {
		return errors.New("the group holds other processes")
	}
	inside := filepath.Join(g.base, "platform-scheduler")
	if err := os.Mkdir(inside, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // the kernel's own mode
		return err
	}
	return os.WriteFile(filepath.Join(inside, "cgroup.procs"), []byte(self), 0) //nolint:gosec // the file exists
}

// Open makes the group of a run, with its limits, and returns the folder of the group.
func (g *Groups) Open(run string, l command.Limits) (string, error) {
	dir := filepath.Join(g.own, run)
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the kernel's own mode
		return "", fmt.Errorf("make the control group of the run: %w", err)
	}
	bounds := map[string]string{}
	if g.MemoryBound && l.MemoryMb > 0 {
		bounds["memory.max"], bounds["memory.oom.group"] = strconv.FormatInt(l.MemoryMb<<20, 10), "1"
	}
	if g.ProcessesBound {
		processes := l.Processes
		if processes == 0 {
			processes = defaultPids
		}
		bounds["pids.max"] = strconv.FormatInt(processes, 10)
	}
	for file, value := range bounds {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(value), 0); err != nil { //nolint:gosec // the file exists
			_ = os.Remove(dir)
			return "", fmt.Errorf("bound the control group of the run: %w", err)
		}
	}
	return dir, nil
}

// Rest returns the limits that a group does not apply, so that a shell must.
func (g *Groups) Rest(l command.Limits) command.Limits {
	if g != nil && g.MemoryBound {
		l.MemoryMb = 0
	}
	if g != nil && g.ProcessesBound {
		l.Processes = 0
	}
	return l
}

// Former returns the folders of the groups of other lives of this node.
func (g *Groups) Former() []string {
	dirs, _ := filepath.Glob(filepath.Join(g.base, g.name+"*"))
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := strconv.ParseInt(strings.TrimPrefix(filepath.Base(dir), g.name), 10, 64)
		return err != nil || dir == g.own
	})
}

// Runs returns the folders of the groups that a helper of this life made and has not
// removed.
func (g *Groups) Runs(helper int) []string {
	dirs, _ := filepath.Glob(filepath.Join(g.own, strconv.Itoa(helper)+"-*"))
	return dirs
}

// Close removes the group of this life when it is empty.
func (g *Groups) Close() { _ = os.Remove(g.own) }

// Members returns the processes in a group and in the groups below it.
func Members(dir string) []int {
	var out []int
	for _, group := range treeOf(dir) {
		data, _ := os.ReadFile(filepath.Join(group, "cgroup.procs")) //nolint:gosec // a path of our own
		for field := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
				out = append(out, pid)
			}
		}
	}
	return out
}

// treeOf lists a group and the groups below it, the deepest last. A command that runs as
// root can make groups of its own.
func treeOf(dir string) []string {
	out := []string{dir}
	for i := 0; i < len(out); i++ {
		entries, _ := os.ReadDir(out[i])
		for _, e := range entries {
			if e.IsDir() {
				out = append(out, filepath.Join(out[i], e.Name()))
			}
		}
	}
	return out
}

// Kill ends all processes in a group and below it: at one stroke where the kernel can
// (5.14), one by one elsewhere.
func Kill(dir string) {
	if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil { //nolint:gosec // the file exists
		return
	}
	for _, pid := range Members(dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
	}
}

// Remove removes an empty group and the groups below it.
func Remove(dir string) {
	for _, group := range slices.Backward(treeOf(dir)) {
		_ = os.Remove(group)
	}
}

// OutOfMemory reports whether the kernel ended a process of a group because the group was
// over its memory limit.
func OutOfMemory(dir string) bool {
	data, _ := os.ReadFile(filepath.Join(dir, "memory.events")) //nolint:gosec // a path of our own
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// PeakMemory returns the most memory that a group used at once, in bytes. It returns 0
// where the kernel does not tell (before 5.19).
func PeakMemory(dir string) int64 {
	n, _ := strconv.ParseInt(readLine(filepath.Join(dir, "memory.peak")), 10, 64)
	return n
}

func readLine(file string) string {
	data, _ := os.ReadFile(file) //nolint:gosec // a path of our own
	return strings.TrimSpace(string(data))
}
