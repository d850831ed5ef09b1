package bench

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// NodeFigures are those of one process of a cluster.
type NodeFigures struct {
	Node string `json:"node"`
	// Restarted: it was another process at the beginning, and its processor's
	// time is not known.
	Restarted  bool    `json:"restarted,omitempty"`
	CPUPercent float64 `json:"cpuPercent"`
	RSSMb      float64 `json:"rssMb"`
	// Starts are handler entries seen there.
	Starts  int     `json:"starts,omitempty"`
	ReadyMs float64 `json:"readyMs,omitempty"`
	// Inversions are those among its starts.
	Inversions       *Inversions        `json:"inversions,omitempty"`
	QueriesPerSecond map[string]float64 `json:"queriesPerSecond,omitempty"`
}

// meter measures what processes use over a span.
type meter struct {
	b       *bench
	rig     rig
	profile func()
	self    usage
	nodes   []process
	cpu     []time.Duration
}

// meter begins the span, and the profile if one was asked for.
func (b *bench) meter(r rig) (*meter, error) {
	done, err := b.profile()
	if err != nil {
		return nil, err
	}
	m := &meter{b: b, rig: r, profile: done, self: b.usage(), nodes: r.processes()}
	for _, p := range m.nodes {
		m.cpu = append(m.cpu, cpuOf(p.pid))
	}
	return m, nil
}

// read ends the span. In a cluster the figures are those of the nodes, summed,
// and this process only watches.
func (m *meter) read(r *Result) {
	defer m.profile()
	own, wall := m.b.percentSince(m.self), m.b.clock.Monotonic()-m.self.wall
	now := m.rig.processes()
	if len(now) == 0 {
		r.CPUPercent, r.RSSMb = own, rssMb(os.Getpid())
		return
	}
	r.ObserverPercent = own
	for i, p := range now {
		f := NodeFigures{Node: p.name, RSSMb: rssMb(p.pid), Restarted: p.pid != m.nodes[i].pid}
		if !f.Restarted {
			f.CPUPercent = 100 * float64(cpuOf(p.pid)-m.cpu[i]) / float64(wall)
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
