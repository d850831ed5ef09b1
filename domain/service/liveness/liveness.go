// Package liveness decides from the registry which nodes are alive (engine
// rules 25 and 27). It knows rows and the store's time, and nothing of how
// they are read.
package liveness

import (
	"time"

	"github.com/platform-scheduler/platform-scheduler/domain/entity"
)

// Terms are the spans that a node keeps to, and tells the others in its row.
type Terms struct {
	// Beat is the time between two beats of a node.
	Beat time.Duration
	// Lease is how long a beat is good for: others may declare a node DOWN when
	// its beat is older.
	Lease time.Duration
}

// Margin is how much sooner than others may take its work a node stops it.
func (t Terms) Margin() time.Duration { return t.Lease / 6 }

// minLooks is how often the same beat must have been seen at least.
const minLooks = 3

// sighting is what a watch has seen of one beat of a node.
type sighting struct {
	epoch int64
	beat  time.Time
	// last is the store's time of the last look, looks their number.
	last  time.Time
	looks int
	// covered is the store time in which the beat surely stood there.
	covered time.Duration
}

// Watch judges the nodes, look by look, by the evidence of its own looks. It is
// not safe for concurrent use.
type Watch struct {
	terms Terms
	seen  map[string]sighting
	// failed: a look failed since the last good one.
	failed bool
}

// NewWatch returns a watch that has seen nothing; it judges nobody before its
// looks cover a lease.
func NewWatch(terms Terms) *Watch { return &Watch{terms: terms, seen: map[string]sighting{}} }

// Failed tells the watch that a look, or a beat, did not reach the store.
func (w *Watch) Failed() { w.failed = true }

// Verdict is a change of a node's state: it holds only while the row still has
// this epoch and this beat.
type Verdict struct {
	Node   entity.Node
	Status entity.NodeStatus
}

// Judgement is what a look came to.
type Judgement struct {
	Verdicts []Verdict
	// Late are the nodes that miss beats, by id, whatever their rows say: SUSPECT
	// ones, and DRAINING ones that would be.
	Late map[string]bool
}

// Judge looks at the registry. now is the store's time of the look; self is
// left out, because a node that looks is alive. A verdict is repeated until the
// row says so.
func (w *Watch) Judge(now time.Time, nodes []entity.Node, self string) Judgement {
	j := Judgement{Late: map[string]bool{}}
	former := w.seen
	w.seen = make(map[string]sighting, len(nodes))
	for _, n := range nodes {
		if n.ID == self || n.Status == entity.NodeDown {
			continue
		}
		s := w.look(former[n.ID], now, n)
		w.seen[n.ID] = s
		age := now.Sub(n.LastHeartbeat)
		late := age > n.SuspectAfter() && s.covered >= n.SuspectAfter()-w.terms.Beat
		if late || n.Status == entity.NodeSuspect {
			j.Late[n.ID] = true
		}
		switch {
		case age > n.Lease() && s.looks >= minLooks && s.covered >= n.Lease():
			j.Verdicts = append(j.Verdicts, Verdict{Node: n, Status: entity.NodeDown})
		case late && n.Status == entity.NodeUp:
			j.Verdicts = append(j.Verdicts, Verdict{Node: n, Status: entity.NodeSuspect})
		}
	}
	w.failed = false
	return j
}

// look adds a look to what was seen of a node. Between two good looks the beat
// stood there all the time; but a judge that is slow, or was frozen, has half a
// lease of it at most, and after a failed look only a beat: the store may have
// been away for the node as well. A failed stretch that is longer than the lease
// begins anew, because the node may be just back, too.
func (w *Watch) look(s sighting, now time.Time, n entity.Node) sighting {
	gap := now.Sub(s.last)
	if s.looks == 0 || s.epoch != n.Epoch || !s.beat.Equal(n.LastHeartbeat) || w.failed && gap > n.Lease() {
		return sighting{epoch: n.Epoch, beat: n.LastHeartbeat, last: now, looks: 1}
	}
	most := n.Lease() / 2
	if w.failed {
		most = w.terms.Beat
	}
	s.covered += max(min(gap, most), 0)
	s.last = now
	s.looks++
	return s
}

// Schedulers are the nodes that share the partitions: those that plan and are
// not DOWN. A DRAINING one goes on planning, it only runs nothing new; for those
// that are late see partition.Scanned.
func Schedulers(nodes []entity.Node) []string {
	var out []string
	for _, n := range nodes {
		if n.Status != entity.NodeDown && n.Has(entity.RoleScheduler) {
			out = append(out, n.ID)
		}
	}
	return out
}

// Executors are the nodes that take new runs: UP, and not draining.
func Executors(nodes []entity.Node) []entity.Node {
	var out []entity.Node
	for _, n := range nodes {
		if n.Status == entity.NodeUp && n.Has(entity.RoleExecutor) {
			out = append(out, n)
		}
	}
	return out
}
