// Package liveness decides from the registry which nodes are alive (engine
// rules 25 and 27). It takes rows and the store's time, and reads nothing itself.
package liveness

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Timing holds the two periods of a node. The node publishes its lease in its row.
type Timing struct {
	// Beat is the time between two beats of a node.
	Beat time.Duration
	// Lease is how long a beat counts. Other nodes may declare a node DOWN when its
	// last beat is older.
	Lease time.Duration
}

// Margin is how long before the end of its lease a node stops its work.
func (t Timing) Margin() time.Duration { return t.Lease / 6 }

// LongestGap is the longest time between two moments at which a node reached the store that counts as none: between two
// beats, or two looks of the leader for workers that are gone.
const LongestGap = 3 * time.Second

// minLooks is how often a detector sees the same beat before it may declare DOWN.
const minLooks = 3

// observation is what a detector has seen of one beat of a node.
type observation struct {
	epoch int64
	beat  time.Time
	// last is the store's time of the last look, looked when that began by the detector's own clock; looks counts the
	// looks.
	last   time.Time
	looked time.Duration
	looks  int
	// covered is the time for which the beat is known to be unchanged.
	covered time.Duration
}

// FailureDetector decides which nodes are late or dead. It counts only what its
// own looks at the registry have shown. It is not safe for concurrent use.
type FailureDetector struct {
	timing Timing
	seen   map[string]observation
	// failed is true after a look or a beat that failed, until the next good look.
	failed bool
}

// NewFailureDetector returns a detector without observations. It declares no node
// DOWN before its looks cover a lease.
func NewFailureDetector(timing Timing) *FailureDetector {
	return &FailureDetector{timing: timing, seen: map[string]observation{}}
}

// Failed records that a look or a beat did not reach the store.
func (d *FailureDetector) Failed() { d.failed = true }

// Transition is a change of a node's status. It is valid only while the row still
// has this epoch and this beat.
type Transition struct {
	Node   entity.Node
	Status entity.NodeStatus
}

// Evaluation is the result of one look.
type Evaluation struct {
	Transitions []Transition
	// Late holds the ids of nodes that miss beats: those in SUSPECT, and those in
	// DRAINING that would be SUSPECT.
	Late map[string]bool
}

// Evaluate compares the registry with the former looks. now is the store's time of
// the look, looked when that began by the monotonic clock of the node that looks. It ignores self, because that node is
// alive. It repeats a transition until the row shows the new status.
func (d *FailureDetector) Evaluate(now time.Time, looked time.Duration, nodes []entity.Node, self string) Evaluation {
	j := Evaluation{Late: map[string]bool{}}
	former := d.seen
	d.seen = make(map[string]observation, len(nodes))
	for _, n := range nodes {
		if n.ID == self || n.Status == entity.NodeDown {
			continue
		}
		s := d.observe(former[n.ID], now, looked, n)
		d.seen[n.ID] = s
		age := now.Sub(n.LastHeartbeat)
		late := age > n.SuspectAfter() && s.covered >= n.SuspectAfter()-d.timing.Beat
		if late || n.Status == entity.NodeSuspect {
			j.Late[n.ID] = true
		}
		switch {
		case age > n.Lease() && s.looks >= minLooks && s.covered >= n.Lease():
			j.Transitions = append(j.Transitions, Transition{Node: n, Status: entity.NodeDown})
		case late && n.Status == entity.NodeUp:
			j.Transitions = append(j.Transitions, Transition{Node: n, Status: entity.NodeSuspect})
		}
	}
	d.failed = false
	return j
}

// observe adds a look to the observation of a node. Between two good looks the beat did
// not change, so the gap counts. At most half a lease counts, because this node may have
// been slow or frozen. After a failed look a beat at most counts, because the store may
// have been away for the other node, too. After a failure longer than the lease the
// observation starts again, because the other node may be just back. The store's clock may be set ahead between two
// looks: no more counts than has passed by the own clock.
func (d *FailureDetector) observe(s observation, now time.Time, looked time.Duration, n entity.Node) observation {
	gap := min(now.Sub(s.last), looked-s.looked)
	if s.looks == 0 || s.epoch != n.Epoch || !s.beat.Equal(n.LastHeartbeat) || d.failed && gap > n.Lease() {
		return observation{epoch: n.Epoch, beat: n.LastHeartbeat, last: now, looked: looked, looks: 1}
	}
	most := n.Lease() / 2
	if d.failed {
		most = d.timing.Beat
	}
	s.covered += max(min(gap, most), 0)
	s.last, s.looked = now, looked
	s.looks++
	return s
}

// Schedulers returns the ids of the nodes that share the partitions: those that
// plan and are not DOWN. A DRAINING node plans on and only starts no runs. For late
// nodes see partition.Scanned.
func Schedulers(nodes []entity.Node) []string {
	var out []string
	for _, n := range nodes {
		if n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) {
			out = append(out, n.ID)
		}
	}
	return out
}
