package rig

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"github.com/platform-scheduler/platform-scheduler/cmd/bench/report"
)

// Meter measures what processes use over a span.
type Meter struct {
	b       *Bench
	rig     System
	profile func()
	self    usage
	nodes   []Process
	cpu     []time.Duration
}

// StartMeter begins the span, and the profile if one was asked for. Without a rig
// it is this process that is measured.
func (b *Bench) StartMeter(r System) (*Meter, error) {
	done, err := b.startProfile()
	if err != nil {
		return nil, err
	}
	m := &Meter{b: b, rig: r, profile: done, self: b.usage()}
	if r != nil {
		m.nodes = r.Processes()
	}
	for _, p := range m.nodes {
		m.cpu = append(m.cpu, cpuOf(p.PID))
	}
	return m, nil
}

// Read ends the span. In a cluster the figures are those of the nodes, summed,
// and this process only watches.
func (m *Meter) Read(r *report.Result) {
	defer m.profile()
	own, wall := m.b.percentSince(m.self), m.b.Clock.Monotonic()-m.self.wall
	if len(m.nodes) == 0 {
		r.CPUPercent, r.RSSMb = own, rssMb(os.Getpid())
		return
	}
	r.ObserverPercent = own
	for i, p := range m.rig.Processes() {
		f := report.NodeFigures{Node: p.Name, RSSMb: rssMb(p.PID), Restarted: p.PID != m.nodes[i].PID}
		if !f.Restarted {
			f.CPUPercent = 100 * float64(cpuOf(p.PID)-m.cpu[i]) / float64(wall)
		}
		r.CPUPercent += f.CPUPercent
		r.RSSMb += f.RSSMb
		r.PerNode = append(r.PerNode, f)
	}
}

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// cpuOf is the processor time of a process; 0 where it cannot be read.
func cpuOf(pid int) time.Duration {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name, in brackets, may hold anything.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// startProfile writes a CPU profile until the returned function is called.
func (b *Bench) startProfile() (done func(), err error) {
	if b.Profile == "" {
		return func() {}, nil
	}
	f, err := os.Create(b.Profile)
	if err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("write the profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}
