package rig

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// usage is what this process has used so far.
type usage struct {
	cpu  time.Duration
	wall time.Duration
}

func (b *Bench) usage() usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return usage{wall: b.Clock.Monotonic()}
	}
	cpu := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	return usage{cpu: cpu, wall: b.Clock.Monotonic()}
}

// percentSince is the share of one core used since then. The store's own
// process, if it has one, is not in it.
func (b *Bench) percentSince(then usage) float64 {
	now := b.usage()
	if now.wall <= then.wall {
		return 0
	}
	return 100 * float64(now.cpu-then.cpu) / float64(now.wall-then.wall)
}

// rssMb is the resident memory of a process in MiB; 0 where it cannot be read.
func rssMb(pid int) float64 {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return float64(pages*os.Getpagesize()) / (1 << 20)
}
