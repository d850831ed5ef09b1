package hostmetrics

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Load measures the load of the machine, with everything that runs on it. Where a control group
// (v2) bounds the process, as in a container, it measures the group against its bound. Safe for
// concurrent use.
type Load struct {
	clock clock.Clock
	root  string

	mu     sync.Mutex
	at     time.Duration
	before processors
	cpu    float64
	memory int64
}

// processors holds a reading of the processor time used so far.
type processors struct {
	// group bounds the process; empty means the whole machine.
	group string
	// used grows by up to full or, in a group, by up to cores in a second.
	used, full, cores float64
	known             bool
}

// NewLoad begins to measure. root is the folder in which proc and sys are.
func NewLoad(c clock.Clock, root string) *Load {
	l := &Load{clock: c, root: root, at: c.Monotonic()}
	l.before, l.memory = l.processors(), l.memoryUsed()
	return l
}

// minLoadSpan is the least time between two readings.
const minLoadSpan = time.Second

// Load returns the share of the processors in use since the last reading, 0–1. It also returns
// the memory in use that cannot be freed at once, in bytes. A figure that the system does not tell is
// 0, as outside of Linux. A reading is up to a second old.
func (l *Load) Load() (cpu float64, memory int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Monotonic()
	span := now - l.at
	if span < minLoadSpan {
		return l.cpu, l.memory
	}
	after := l.processors()
	most := after.full - l.before.full
	if after.group != "" {
		most = after.cores * span.Seconds()
	}
	l.cpu = 0
	if after.known && l.before.known && after.group == l.before.group && most > 0 {
		l.cpu = min(max((after.used-l.before.used)/most, 0), 1)
	}
	l.at, l.before, l.memory = now, after, l.memoryUsed()
	return l.cpu, l.memory
}

func (l *Load) processors() processors {
	for _, group := range l.groups() {
		limit := strings.Fields(l.read(group, "cpu.max"))
		if len(limit) != 2 || limit[0] == "max" {
			continue
		}
		quota, period := number(limit[0]), number(limit[1])
		used, ok := l.field(group, "cpu.stat", "usage_usec")
		if quota > 0 && period > 0 && ok {
			return processors{group: group, used: used / 1e6, cores: min(quota/period, machineCores()), known: true}
		}
	}
	line, _, _ := strings.Cut(l.read("proc", "stat"), "\n")
	columns := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal, and guest, which user holds
	if len(columns) < 9 || columns[0] != "cpu" {
		return processors{}
	}
	p := processors{known: true}
	for i, column := range columns[1:9] {
		n := number(column)
		p.full += n
		if i != 3 && i != 4 { // idle and iowait
			p.used += n
		}
	}
	return p
}

func (l *Load) memoryUsed() int64 {
	for _, group := range l.groups() {
		if limit := strings.TrimSpace(l.read(group, "memory.max")); limit == "" || limit == "max" {
			continue
		}
		cache, ok := l.field(group, "memory.stat", "inactive_file")
		if used := number(l.read(group, "memory.current")); ok && used > 0 {
			return int64(max(used-cache, 0))
		}
	}
	total, _ := l.field("proc", "meminfo", "MemTotal:")
	free, ok := l.field("proc", "meminfo", "MemAvailable:")
	if !ok {
		return 0
	}
	return int64(max(total-free, 0)) << 10
}

// groups returns the control groups that bound the process, its own first.
func (l *Load) groups() (folders []string) {
	const mount = "sys/fs/cgroup"
	own := ""
	for line := range strings.Lines(l.read("proc/self", "cgroup")) {
		if name, unified := strings.CutPrefix(strings.TrimSpace(line), "0::"); unified {
			own = path.Clean("/" + name)
		}
	}
	for own != "" {
		folders = append(folders, path.Join(mount, own))
		if own == "/" {
			break
		}
		own = path.Dir(own)
	}
	return folders
}

// read returns the text of a file of the system, or "" when it does not exist.
func (l *Load) read(folder, name string) string {
	text, err := os.ReadFile(filepath.Join(l.root, folder, name))
	if err != nil {
		return "" // which the callers tell from a text
	}
	return string(text)
}

// field returns the number behind a name in a file of such lines.
func (l *Load) field(folder, file, name string) (float64, bool) {
	for line := range strings.Lines(l.read(folder, file)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == name {
			return number(words[1]), true
		}
	}
	return 0, false
}

func number(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0
	}
	return n
}

// machineCores is the number of processors that the process may run on.
func machineCores() float64 { return float64(runtime.NumCPU()) }
