// Package hostmetrics measures the machine that a node runs on, or the control group that bounds the node.
package hostmetrics

import (
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/platform-scheduler/platform-scheduler/domain/clock"
)

// Usage is one reading. A figure that the system does not tell is 0.
type Usage struct {
	// CPU is the share of the processors in use, 0–1, and Cores how many there are, or that the control group may use.
	CPU, Cores float64
	// Memory is what cannot be freed at once, of MemoryLimit, in bytes.
	Memory, MemoryLimit int64
	// DiskUsed and DiskSize are of the disk of the data folder, in bytes.
	DiskUsed, DiskSize uint64
	// Load1, Load5 and Load15 are the mean numbers of processes that ran or waited, over so many minutes.
	Load1, Load5, Load15 float64
}

// Host measures the machine. Safe for concurrent use.
type Host struct {
	load   *Load
	folder string
}

// NewHost begins to measure. folder is on the disk to measure.
func NewHost(c clock.Clock, root, folder string) *Host {
	return &Host{load: NewLoad(c, root), folder: folder}
}

// Load returns the CPU and the memory in use alone, see Usage.
func (h *Host) Load() (cpu float64, memory int64) { return h.load.Load() }

// Usage reads what is in use.
func (h *Host) Usage() (u Usage) {
	u.CPU, u.Memory = h.load.Load()
	u.Cores, u.MemoryLimit = h.load.Limits()
	if u.MemoryLimit == 0 {
		if m, err := mem.VirtualMemory(); err == nil { // without /proc, as on macOS
			u.MemoryLimit, u.Memory = int64(m.Total), int64(m.Total-m.Available)
		}
	}
	u.DiskUsed, u.DiskSize = h.Disk()
	if l, err := load.Avg(); err == nil {
		u.Load1, u.Load5, u.Load15 = l.Load1, l.Load5, l.Load15
	}
	return u
}

// Disk reads the disk of the data folder, see Usage.
func (h *Host) Disk() (used, size uint64) {
	d, err := disk.Usage(h.folder)
	if err != nil {
		return 0, 0
	}
	return d.Used, d.Used + d.Free // what is reserved for root is of no use to a node
}

// Limits returns how many processors the node may use, and how much memory, in bytes: of its control group (v2), or of
// the machine. Memory is 0 where the system does not tell.
func (l *Load) Limits() (cores float64, memory int64) {
	l.mu.Lock()
	cores = l.before.cores
	l.mu.Unlock()
	if cores == 0 {
		cores = machineCores()
	}
	total, _ := l.field("proc", "meminfo", "MemTotal:")
	memory = int64(total) << 10
	for _, group := range l.groups() {
		limit, err := strconv.ParseInt(strings.TrimSpace(l.read(group, "memory.max")), 10, 64)
		if err == nil && limit > 0 && (memory == 0 || limit < memory) {
			memory = limit
		}
	}
	return cores, memory
}
