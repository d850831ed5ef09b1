package supervise

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

// groups are control groups (cgroup v2) of this node, one for each run. A
// process cannot leave its group, whatever it does to its session, its parent
// and its environment, and the kernel kills a group at one stroke. They are
// used where this process may make them; nil where it may not.
type groups struct {
	base string
	// name begins the folders of all lives of this node; own is that of this one.
	name, own string
	// memory and pids say which controllers bound a group.
	memory, pids bool
}

// defaultPids bounds the processes of a run that names no bound, so that a fork
// bomb ends in its own group.
const defaultPids = 4096

// openGroups finds the place where this process may make groups. The error says
// why there is none.
func openGroups(nodeID string, epoch int64) (*groups, error) {
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

// groupFolder is the folder of this process's own group, from the texts of
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
		// A container may see a part of the tree only, as if it were the whole.
		inside, ok := strings.CutPrefix(path, strings.TrimSuffix(fields[3], "/"))
		if ok && !strings.Contains(inside, "..") {
			return filepath.Join(fields[4], inside), nil
		}
	}
	return "", errors.New("there are no control groups of version 2")
}

// makeGroups makes the group of this life below base.
func makeGroups(base, nodeID string, epoch int64) (*groups, error) {
	g := &groups{base: base, name: "platform-scheduler-" + nodeID + "-"}
	g.own = filepath.Join(base, g.name+strconv.FormatInt(epoch, 10))
	if err := os.Mkdir(g.own, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // the kernel's own mode
		return nil, err
	}
	g.enable()
	return g, nil
}

// enable switches on what bounds groups. A group that holds processes cannot
// pass controllers on, so that this process steps into a group of its own
// first, where it is alone: a service whose manager delegated its group.
func (g *groups) enable() {
	file := filepath.Join(g.base, "cgroup.subtree_control")
	for _, controller := range []string{"memory", "pids"} {
		err := os.WriteFile(file, []byte("+"+controller), 0) //nolint:gosec // the file exists
		if errors.Is(err, unix.EBUSY) && g.stepInside() == nil {
			err = os.WriteFile(file, []byte("+"+controller), 0) //nolint:gosec // the file exists
		}
		if err == nil {
			_ = os.WriteFile(filepath.Join(g.own, "cgroup.subtree_control"), []byte("+"+controller), 0) //nolint:gosec // the file exists
		}
	}
	inner := readLine(filepath.Join(g.own, "cgroup.subtree_control"))
	g.memory, g.pids = slices.Contains(strings.Fields(inner), "memory"), slices.Contains(strings.Fields(inner), "pids")
}

func (g *groups) stepInside() error {
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

// open makes the group of a run and returns its folder.
func (g *groups) open(run string, l command.Limits) (string, error) {
	dir := filepath.Join(g.own, run)
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the kernel's own mode
		return "", fmt.Errorf("make the control group of the run: %w", err)
	}
	bounds := map[string]string{}
	if g.memory && l.MemoryMb > 0 {
		bounds["memory.max"], bounds["memory.oom.group"] = strconv.FormatInt(l.MemoryMb<<20, 10), "1"
	}
	if g.pids {
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

// rest is what of the limits a group does not hold, and a shell must.
func (g *groups) rest(l command.Limits) command.Limits {
	if g != nil && g.memory {
		l.MemoryMb = 0
	}
	if g != nil && g.pids {
		l.Processes = 0
	}
	return l
}

// former are the groups of other lives of this node.
func (g *groups) former() []string {
	dirs, _ := filepath.Glob(filepath.Join(g.base, g.name+"*"))
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := strconv.ParseInt(strings.TrimPrefix(filepath.Base(dir), g.name), 10, 64)
		return err != nil || dir == g.own
	})
}

// runs are the groups that a helper of this life has made and not removed.
func (g *groups) runs(helper int) []string {
	dirs, _ := filepath.Glob(filepath.Join(g.own, strconv.Itoa(helper)+"-*"))
	return dirs
}

// close removes the group of this life, when nothing is left in it.
func (g *groups) close() { _ = os.Remove(g.own) }

// membersOf are the processes in a group and in those below it.
func membersOf(dir string) []int {
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

// treeOf lists a group and those below it, the deepest last. A command that
// runs as root can make groups of its own.
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

// killGroup kills everything in a group and below it at one stroke, where the
// kernel can (5.14), and one by one elsewhere.
func killGroup(dir string) {
	if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) != nil { //nolint:gosec // the file exists
		signalAll(membersOf(dir), syscall.SIGKILL)
	}
}

// removeGroup removes an empty group and those below it.
func removeGroup(dir string) {
	for _, group := range slices.Backward(treeOf(dir)) {
		_ = os.Remove(group)
	}
}

// outOfMemory reports whether the kernel ended something in a group because it
// was over its bound.
func outOfMemory(dir string) bool {
	data, _ := os.ReadFile(filepath.Join(dir, "memory.events")) //nolint:gosec // a path of our own
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
			return n != "0"
		}
	}
	return false
}

// peakMemory is the most that a group had in use at once, in bytes; 0 where the
// kernel does not tell (before 5.19).
func peakMemory(dir string) int64 {
	n, _ := strconv.ParseInt(readLine(filepath.Join(dir, "memory.peak")), 10, 64)
	return n
}

func readLine(file string) string {
	data, _ := os.ReadFile(file) //nolint:gosec // a path of our own
	return strings.TrimSpace(string(data))
}
